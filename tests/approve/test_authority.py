"""Who may say yes from a shell."""

from __future__ import annotations

import pytest

from appliance.approve.authority import Authority
from appliance.errors import RefusedError
from tests.approve.rig import caller


@pytest.mark.parametrize(
    ("device_uid", "is_service", "is_allowed_in_trial", "uid", "is_local", "may"),
    [
        # The service: root and the admin group, whom the socket lets in; never its own user.
        (990, True, False, 0, False, True),
        (990, True, False, 1000, False, True),
        (990, True, False, 990, False, False),
        (990, True, True, 990, False, False),
        (990, True, False, 990, True, False),
        # Run as root, root is the user that plugins run as.
        (0, True, False, 0, False, False),
        (0, False, False, 0, False, False),
        # A trial home: the person's own command, in a process of its own; through the socket only by their setting.
        (1000, False, False, 1000, True, True),
        (1000, False, False, 1000, False, False),
        (1000, False, True, 1000, False, True),
        (1000, False, False, 0, False, True),
    ],
)
def test_who_may_say_yes(
    device_uid: int, is_service: bool, is_allowed_in_trial: bool, uid: int, is_local: bool, may: bool
) -> None:
    authority = Authority(is_service, is_allowed_in_trial, own_uid=device_uid)
    if may:
        assert authority.check(caller(uid, is_local=is_local)) == f"owner:{uid}"
    else:
        with pytest.raises(RefusedError, match="cannot allow itself"):
            authority.check(caller(uid, is_local=is_local))
