"""What an install or an update would do; shown to the owner before the yes."""

from __future__ import annotations

from dataclasses import dataclass

from appliance.install.signature import SignatureReport
from appliance.install.stage import Inspection, Staged
from appliance.install.standing import Standing, State
from appliance.install.versions import is_older


@dataclass(frozen=True)
class Plan:
    """A plugin on its stage, what was found out about it, and what it would replace (``standing``, or None).

    ``shadows`` says that it takes the place of a plugin that comes with the box.
    """

    source: str
    staged: Staged
    inspection: Inspection
    signature: SignatureReport
    standing: Standing | None = None
    shadows: bool = False

    @property
    def name(self) -> str:
        """Of the plugin."""
        return self.staged.name

    @property
    def version_before(self) -> str:
        """Of the plugin that is here; "" when none is, or nobody knows."""
        return self.standing.pin.version if self.standing is not None and self.standing.pin is not None else ""

    @property
    def is_downgrade(self) -> bool:
        """Whether what is here is newer."""
        return is_older(self.staged.version, self.version_before)

    @property
    def is_here(self) -> bool:
        """Whether exactly this is installed and as it was, for this Python."""
        here = self.standing
        return (
            here is not None
            and here.state is State.PINNED
            and here.entry is not None
            and here.entry.source_digest == self.staged.digest
            and not here.is_for_other_python
        )

    @property
    def was_rolled_back(self) -> bool:
        """Whether the owner, or the box, went back from exactly this."""
        here = self.standing
        return here is not None and here.entry is not None and self.staged.digest in here.entry.rolled_back

    @property
    def lost_signer(self) -> str:
        """Who signed what is here, when the same has not signed this; "" otherwise."""
        pin = self.standing.pin if self.standing is not None else None
        return pin.signer if pin is not None and pin.signer != self.signature.signer else ""

    def remarks(self) -> list[str]:
        """What the owner should know before the yes, beside what it will be able to do."""
        said = [*self.staged.remarks, *self.inspection.warnings]
        here = self.standing
        if here is not None and here.state is State.UNPINNED:
            said.append(f"plugins/{here.place}, which was put there by hand, is kept as the version before")
        if here is not None and here.state is State.CHANGED:
            said.append(f"plugins/{here.place} was changed by hand since; it is kept as the version before")
        if self.lost_signer:
            said.append(f"what is here was signed by {self.lost_signer}, and this is not")
        if self.shadows:
            said.append(f"it takes the place of the plugin {self.name} that comes with the box")
        if self.inspection.requirements:
            said.append(f"it needs packages, which go into its own folder: {', '.join(self.inspection.requirements)}")
        return said
