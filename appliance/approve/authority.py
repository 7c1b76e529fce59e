"""Who may say yes from a shell.

What a plugin can do, a model can make it do. So whoever runs as the user that the device, and thus every plugin, runs
as cannot allow itself anything, whatever it says it is: a command that reaches the device through its socket is told
apart only by its user. Root and the members of the admin group are somebody else (the socket lets in nobody further).
Where the device runs as root, root is that user.

Without a device the command is the person's own, in their own process and with the home locked against any other; in
a trial home (no service) that is enough.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field

from appliance.control import Caller
from appliance.errors import RefusedError


@dataclass(frozen=True)
class Authority:
    """The rule, for this process. ``owner_may_approve_in_trial`` is the owner's setting of that name."""

    is_service: bool
    owner_may_approve_in_trial: bool = False
    own_uid: int = field(default_factory=os.geteuid)

    def check(self, caller: Caller) -> str:
        """Who the caller is, for the audit trail. Raises ``RefusedError`` when they may not say yes."""
        uid = caller.peer.uid
        is_trusted = not self.is_service and (caller.is_local or self.owner_may_approve_in_trial)
        if uid == self.own_uid and not is_trusted:
            raise RefusedError(
                "this user is the one the appliance itself runs as, and what runs as it cannot allow itself anything; "
                "run the command as root or as another user"
                + ("" if self.is_service else ", or set approval.owner_may_approve_in_trial")
            )
        return f"owner:{uid}"
