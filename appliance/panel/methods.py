"""What the page may ask of the box: a list, so that a new method of the box is not on the page by accident.

Nothing that speaks, listens or approves is on it, and no tool but the one that looks at the network (``house.py``):
whoever sits at the browser is not in the room.
"""

from __future__ import annotations

LOOKS = frozenset(
    {
        "approval.list",
        "approval.pending",
        "audit.list",
        "audit.verify",
        "chat.has_passphrase",
        "chat.images",
        "chat.list",
        "chat.show",
        "doctor",
        "house.gear",
        "house.known",
        "net.seen",
        "plugin.info",
        "plugin.list",
        "status",
        "tool.list",
        "tool.problems",
        "tool.why",
        "toolset.list",
        "toolset.show",
        "turns.last",
        "turns.show",
    }
)
CHANGES = frozenset(
    {
        "chat.clear",
        "chat.delete",
        "chat.lock",
        "chat.new",
        "chat.passphrase",
        "chat.private",
        "chat.rename",
        "chat.unlock",
        "chat.use",
        "plugin.safe_mode",
        "plugin.set",
        "plugin.switch",
        "toolset.delete",
        "toolset.save",
        "toolset.use",
    }
)
ON_THE_PAGE = LOOKS | CHANGES
