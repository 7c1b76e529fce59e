"""Names and where they lead, with a real resolver and a real name server, in a world of one machine."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

_ROOT = Path(__file__).resolve().parent.parent.parent
_UNSHARE = ["unshare", "--map-root-user", "--net", "--mount", "--fork"]
_PATIENCE_SECONDS = 60


@pytest.fixture(scope="module")
def stories() -> Any:
    """What happened in the small world."""
    missing = [tool for tool in ("ip", "unshare", "mount") if shutil.which(tool) is None]
    reason = f"needs {' and '.join(missing)}" if missing else ""
    if not reason and subprocess.run([*_UNSHARE, "true"], capture_output=True, check=False).returncode != 0:
        reason = "needs the right to make namespaces"
    if reason:
        (pytest.fail if os.environ.get("CI") else pytest.skip)(f"a small world {reason}")
    command = [*_UNSHARE, sys.executable, "-m", "tests.network.small_world"]
    ran = subprocess.run(command, cwd=_ROOT, capture_output=True, text=True, check=False, timeout=_PATIENCE_SECONDS)
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


@pytest.mark.contract("S-086")
def test_each_name_leads_where_it_should(stories: Any) -> None:
    assert stories["plain"]["got"] == ["outside", "inside"]


@pytest.mark.contract("S-079")
@pytest.mark.parametrize(
    ("story", "advice"),
    [("nip", "direct_hosts"), ("nip", "rebinding_allowed"), ("stray", "rebinding_allowed")],
)
def test_a_name_that_leads_into_the_other_lane_gets_no_byte_and_says_what_to_do(
    stories: Any, story: str, advice: str
) -> None:
    told = stories[story]
    assert told["got"][0].startswith("LaneRefusedError") and advice in told["got"][0]
    assert (told["inside"], told["outside"]) == (0, 0)


def test_a_name_that_changes_its_mind_is_refused_then(stories: Any) -> None:
    told = stories["rebinding"]
    assert told["got"][0] == "outside" and told["got"][1].startswith("LaneRefusedError")
    assert told["inside"] == 0
    assert len(told["lookups"]) == 2


def test_what_the_owner_allows_goes_through(stories: Any) -> None:
    assert stories["direct"]["got"] == ["outside"]
    assert stories["allowed"]["got"] == ["inside"]


def test_with_a_proxy_no_name_outside_is_looked_up_and_no_direct_connection_made(stories: Any) -> None:
    """The two connections that the servers saw came from the proxy."""
    told = stories["proxied"]
    assert told["got"][:2] == ["outside", "outside"]
    assert told["got"][2].startswith("NetworkProxyError")
    assert told["lookups"] == []
    assert told["connections"] == 2
    assert stories["socks"] == ["public.example", "rebinding.example", "unknown.example"]


def test_with_a_proxy_the_house_is_reached_directly(stories: Any) -> None:
    assert stories["proxied_at_home"]["got"] == ["inside"]
