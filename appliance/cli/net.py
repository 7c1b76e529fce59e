"""``appliance net``: which way requests go, whether it works, and what went."""

from __future__ import annotations

import argparse
import re
from dataclasses import asdict
from typing import Any

from appliance.cli import net_gear, net_seen, net_test
from appliance.cli.shared import complain, config_of, print_json, print_table
from appliance.clock import SystemClock
from appliance.errors import LaneRefusedError, RefusedError
from appliance.network.classifier import Classifier
from appliance.network.config import NetworkConfig
from appliance.network.direct_hosts import DirectHosts

#: In place of a lane.
_REFUSED = "refused"

#: What stands before the host, and what follows a question mark, may be secret.
_BEFORE_HOST = re.compile(r"//[^/?#]*@")
_QUERY = re.compile(r"[?#].+", re.DOTALL)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    classify = actions.add_parser("classify", help="the lane of each URL, and why; asks no name server")
    classify.add_argument("urls", nargs="+", metavar="URL")
    net_test.add_arguments(actions.add_parser("test", help="try each lane and say what works"))
    net_gear.add_arguments(actions.add_parser("gear", help="what is on the network: printers, cameras, speakers …"))
    net_seen.add_arguments(actions.add_parser("seen", help="which hosts were asked, by whom, how many bytes"))


def run(arguments: argparse.Namespace) -> int:
    """Do the action; ``classify`` ends with exit code 3 when a URL is refused."""
    actions = {"classify": _classify, "test": net_test.run, "gear": net_gear.run, "seen": net_seen.run}
    return actions[arguments.action](arguments)


def _classify(arguments: argparse.Namespace) -> int:
    direct_hosts = DirectHosts(
        SystemClock(),
        config_of(arguments).of(NetworkConfig).direct_hosts,
        tell=lambda whose, problem: complain(f"{whose}: {problem}"),
    )
    classifier = Classifier(direct_hosts.known_hosts)
    verdicts = [_verdict(classifier, url) for url in arguments.urls]
    if arguments.json:
        print_json(verdicts)
    else:
        print_table([_row(verdict) for verdict in verdicts])
    refused = sum(verdict["lane"] == _REFUSED for verdict in verdicts)
    if refused:
        complain(f"{refused} of {len(verdicts)} would not be requested; the reasons say what to write instead")
    return RefusedError.exit_code if refused else 0


def _verdict(classifier: Classifier, url: str) -> dict[str, Any]:
    shown = _without_secrets(url)
    try:
        found = classifier.classify(url)
    except LaneRefusedError as refused:
        return {"url": shown, "lane": _REFUSED, "scheme": None, "host": None, "port": None, "reason": str(refused)}
    return {"url": shown, **asdict(found), "lane": found.lane.value}


def _row(verdict: dict[str, Any]) -> tuple[str, ...]:
    where = verdict["url"] if verdict["lane"] == _REFUSED else f"{_bracketed(verdict['host'])}:{verdict['port']}"
    return (verdict["lane"], where, verdict["reason"])


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _without_secrets(url: str) -> str:
    return _QUERY.sub("", _BEFORE_HOST.sub("//…@", url))
