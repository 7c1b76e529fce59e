"""What a decision that is a no tells the model and the person; an expired request is never told as a no."""

from __future__ import annotations

import logging
from collections.abc import Mapping

from appliance.catalogue import Catalogue
from appliance.tools.tool import ApprovalRequest, Decision, Verdict

_LOG = logging.getLogger(__name__)

#: Filled with the tool's name. A model must not take one ending for another, nor look for a way around.
MODEL_TEXTS: Mapping[Verdict, str] = {
    Verdict.DECLINED: (
        "The person was asked about {tool} and said NO. It did not happen. Do not ask again and do not try another way."
    ),
    Verdict.UNANSWERED: (
        "The request for {tool} timed out on screen: nobody answered, which is not a no. It was not run. Say so; the "
        "person may ask again when they are at the button. Do not try another way."
    ),
    Verdict.UNREACHABLE: (
        "{tool} needs a person's hand on the button, and this box could not ask: nobody can press one here. Nothing "
        "ran. The person has been told. Do not call it again and do not try another way."
    ),
    Verdict.DISMISSED: (
        "The request for {tool} was taken back before anybody decided. Nothing ran. Do not try another way."
    ),
    Verdict.INVALIDATED: (
        "{tool} was approved, but a file or program that it depends on was changed before it ran, so it is not what "
        "the person agreed to. It was not run. Say so; it has to be asked for again by the person."
    ),
}

#: Keys of the catalogue.
PERSON_KEYS: Mapping[Verdict, str] = {
    Verdict.DECLINED: "approve.declined",
    Verdict.UNANSWERED: "approve.unanswered",
    Verdict.UNREACHABLE: "approve.unreachable",
    Verdict.DISMISSED: "approve.dismissed",
    Verdict.INVALIDATED: "approve.invalidated",
}

#: When we ourselves fail, nothing runs either.
FAULT_MODEL_TEXT = (
    "{tool} was not run: the box could not ask for permission because of a fault of its own. Nothing ran. "
    "Do not call it again and do not try another way."
)
FAULT_PERSON_KEY = "approve.fault"

#: When nothing can be written down.
UNRECORDED_MODEL_TEXT = (
    "{tool} was not run: the box could not ask for it, because its storage takes no record, and it does nothing of "
    "this kind without one. Nothing ran. Say that its storage has a problem; do not try another way."
)
UNRECORDED_PERSON_KEY = "approve.unrecorded"


class Refusals:
    """Decisions that are a no, in words for the model and in the person's language."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue

    def of(self, request: ApprovalRequest, verdict: Verdict, approver: str, took_seconds: float = 0.0) -> Decision:
        """A no that somebody said, or that nobody could say."""
        model_text = MODEL_TEXTS[verdict].format(tool=request.call.name)
        person_text = self._sentence(PERSON_KEYS[verdict])
        return Decision(request, verdict, approver, model_text, person_text, took_seconds)

    def fault(self, request: ApprovalRequest) -> Decision:
        """A no because we failed."""
        return self._ours(request, FAULT_MODEL_TEXT, FAULT_PERSON_KEY)

    def unrecorded(self, request: ApprovalRequest) -> Decision:
        """A no because nothing can be written down."""
        return self._ours(request, UNRECORDED_MODEL_TEXT, UNRECORDED_PERSON_KEY)

    def _ours(self, request: ApprovalRequest, model_text: str, key: str) -> Decision:
        text = model_text.format(tool=request.call.name)
        return Decision(request, Verdict.UNREACHABLE, "default", text, self._sentence(key))

    def _sentence(self, key: str) -> str:
        """A language may lack a sentence; the answer is no all the same."""
        try:
            return self._catalogue.say(key)
        except (KeyError, IndexError):
            _LOG.exception("there is no sentence %s", key)
            return ""
