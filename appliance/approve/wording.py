"""What a decision that is a no tells the model and the person; an expired request is never told as a no."""

from __future__ import annotations

from collections.abc import Mapping

from appliance.tools.tool import Verdict

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
}

#: Keys of the catalogue.
PERSON_KEYS: Mapping[Verdict, str] = {
    Verdict.DECLINED: "approve.declined",
    Verdict.UNANSWERED: "approve.unanswered",
    Verdict.UNREACHABLE: "approve.unreachable",
    Verdict.DISMISSED: "approve.dismissed",
}

#: When we ourselves fail, nothing runs either.
FAULT_MODEL_TEXT = (
    "{tool} was not run: the box could not ask for permission because of a fault of its own. Nothing ran. "
    "Do not call it again and do not try another way."
)
FAULT_PERSON_KEY = "approve.fault"
