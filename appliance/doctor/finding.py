"""What a check has found: fine, wrong or cannot tell; and for each wrong one the one thing to do."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass

from appliance.ports import Json

#: Names of checks, the worst first: a box that hears nothing is worse than one whose journal is lost at a power cut.
GRAVEST_FIRST = (
    *("storage.database", "machine.disk", "machine.files", "machine.writing", "settings.values", "speech.weights"),
    *("sound.devices", "sound.frames", "sound.level", "sound.owner", "sound.server", "board.groups"),
    *("service.running", "service.safe_mode", "speech.wake", "speech.hearing", "speech.activity", "model.answers"),
    *("network.lanes", "machine.power", "machine.temperature", "machine.memory", "sound.channels", "sound.clipping"),
    *(
        "sound.dropouts",
        "sound.echo",
        "speech.turns",
        "service.crash",
        "plugin.problems",
        "plugin.paused",
        "plugin.changed",
    ),
    *("plugin.keys", "board.button", "board.gpio", "board.serial", "storage.notes", "storage.copies", "machine.clock"),
    *("machine.bits", "machine.swap", "machine.memory_controller", "machine.journal", "board.sandbox"),
    "service.installed",
)


class Verdict(enum.StrEnum):
    """How a check ended."""

    FINE = "fine"
    WRONG = "wrong"
    CANNOT_TELL = "cannot_tell"


@dataclass(frozen=True)
class Finding:
    """What one check found. ``advice`` is the one thing to do; whatever is wrong has one.

    ``check`` is its name, "group.concept"; "" until the doctor has put it in.
    """

    verdict: Verdict
    sentence: str
    advice: str = ""
    check: str = ""

    def __post_init__(self) -> None:
        if self.verdict is Verdict.WRONG and not self.advice:
            raise ValueError(f"{self.sentence!r} is wrong, and nothing is said of what to do")

    def to_json(self) -> Json:
        """As one JSON object."""
        return {**asdict(self), "verdict": self.verdict.value}

    @classmethod
    def from_json(cls, given: Mapping[str, Json]) -> Finding:
        """What ``to_json`` made."""
        return cls(Verdict(given["verdict"]), given["sentence"], given["advice"], given["check"])


def fine(sentence: str) -> Finding:
    """Nothing is to be done."""
    return Finding(Verdict.FINE, sentence)


def wrong(sentence: str, advice: str) -> Finding:
    """Something is wrong, and this is the one thing to do about it."""
    return Finding(Verdict.WRONG, sentence, advice)


def cannot_tell(sentence: str, advice: str = "") -> Finding:
    """It could not be found out; ``advice`` is how it could be, where there is a way."""
    return Finding(Verdict.CANNOT_TELL, sentence, advice)


def failed(error: Exception) -> Finding:
    """What an error of ours says: what happened, and behind the last semicolon what to do."""
    sentence, _, advice = str(error).rpartition("; ")
    if not sentence:
        return wrong(as_sentence(str(error)), "See what the log says: appliance logs.")
    is_command = advice.startswith("appliance ")
    return wrong(as_sentence(sentence), advice if is_command else as_sentence(advice))


def as_sentence(text: str) -> str:
    """Half a sentence as a whole one: a capital letter in front, a full stop behind."""
    text = " ".join(text.split())
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "?", "!")) else ".")


def some_of(words: Sequence[str], most: int = 3) -> str:
    """The first words of a list, and how many more there are."""
    named = ", ".join(words[:most])
    return f"{named} and {len(words) - most} more" if len(words) > most else named


def worst_first(findings: Iterable[Finding]) -> list[Finding]:
    """Those that are wrong, the worst first."""
    return sorted((one for one in findings if one.verdict is Verdict.WRONG), key=_gravity)


def summary(findings: Sequence[Finding]) -> str:
    """The last line: how many are wrong, and the worst of them."""
    bad, count = worst_first(findings), len(findings)
    unknown = sum(one.verdict is Verdict.CANNOT_TELL for one in findings)
    rest = f"; {unknown} could not tell" if unknown else ""
    if not bad:
        return f"{count} checks, and nothing is wrong{rest}."
    return f"{count} checks, {len(bad)} found something wrong{rest}. The worst: {bad[0].sentence} {bad[0].advice}"


def _gravity(finding: Finding) -> int:
    known = finding.check in GRAVEST_FIRST
    return GRAVEST_FIRST.index(finding.check) if known else len(GRAVEST_FIRST)
