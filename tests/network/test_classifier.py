"""Which lane a URL takes, and which URLs take none."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import pytest

from appliance.errors import LaneRefusedError
from appliance.network.authority import LONGEST_URL
from appliance.network.classifier import Classifier
from appliance.network.lane import Destination, Lane

HERE = Path(__file__).parent


def rows(file: str) -> list[list[str]]:
    """The rows of a table beside this file; the first column is a JSON string, missing columns are empty."""
    lines = (HERE / file).read_text(encoding="utf-8").splitlines()
    cells = [(line + "\t\t\t").split("\t") for line in lines if not line.startswith("#")]
    return [[json.loads(first), *rest] for first, *rest in cells]


URLS = rows("urls.tsv")
HOSTS = rows("hosts.tsv")


@pytest.fixture(autouse=True)
def resolver(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A resolver that fails the test when it is asked."""
    asked: list[object] = []

    def refuse(*question: object, **_more: object) -> None:
        asked.append(question)
        raise OSError("nobody is to be asked")

    for name in ("getaddrinfo", "gethostbyname", "gethostbyname_ex", "gethostbyaddr", "getnameinfo"):
        monkeypatch.setattr(socket, name, refuse)
    yield
    assert asked == []


def answer(url: str, classifier: Classifier | None = None) -> tuple[str, str]:
    """The lane and the host; "refused" and "" for what takes no lane."""
    try:
        found = (classifier or Classifier()).classify(url)
    except LaneRefusedError:
        return "refused", ""
    return found.lane.value, found.host


@pytest.mark.contract("S-072", "S-073")
@pytest.mark.parametrize(("url", "lane", "host"), [row[:3] for row in URLS], ids=[ascii(row[0]) for row in URLS])
def test_a_url_takes_its_lane_or_none(url: str, lane: str, host: str) -> None:
    assert answer(url) == (lane, host)


@pytest.mark.contract("S-073", "S-074", "S-075", "S-076", "S-077", "S-079", "S-166")
@pytest.mark.parametrize(("host", "lane"), [row[:2] for row in HOSTS], ids=[ascii(row[0]) for row in HOSTS])
def test_a_host_by_itself_is_where_the_contract_has_it(host: str, lane: str) -> None:
    assert Classifier().classify_host(host).value == lane


@pytest.mark.parametrize("no_host", [None, b"nas", 5, ["nas"]])
def test_what_is_no_host_at_all_is_outside(no_host: object) -> None:
    assert Classifier().classify_host(no_host) is Lane.WAN


def test_a_destination_tells_all_that_a_connection_needs() -> None:
    assert Classifier().classify("HTTPS://User:pw@NAS.Local./x?y#z") == Destination(
        Lane.LAN, "https", "nas.local", 443, "a name that ends in .local"
    )
    assert Classifier().classify("http://[FD00:0::1]:8123/").port == 8123


@pytest.mark.parametrize(
    ("url", "why", "instead"),
    [
        ("http://example.com\\@10.0.0.1/", "backslash", "/"),
        ("http://a@b@nas/", "more than one @", "%40"),
        ("http://nas /", "white space", "without"),
        ("http://nas/\t", "control character", "without"),
        ("http://n%61s/", "percent escape", "the letter itself"),
        ("http://2130706433/", "different addresses", "four plain numbers"),
        ("http://010.0.0.1/", "different addresses", "four plain numbers"),
        ("http://１０.0.0.1/", "letter or digit", "plain letters and digits"),
        ("http://[fe80::1%25eth0]/", "zone", "another address"),
        ("http://[2002:7f00:1::]/", "6to4", "the address it stands for"),
        ("http://nas:99999/", "port", "1 to 65535"),
        ("http://::1/", "more than one colon", "[fd00::1]"),
        ("ftp://nas/", "not ftp", "http://"),
        ("nas/index", "how to connect", "https://"),
        ("http:///nas/", "no host", "two slashes"),
        ("http://nas/" + "x" * LONGEST_URL, "longer than 8,000", "POST"),
    ],
)
def test_a_refusal_says_why_and_what_to_write_instead(url: str, why: str, instead: str) -> None:
    with pytest.raises(LaneRefusedError) as refused:
        Classifier().classify(url)
    reason, _, advice = str(refused.value).rpartition(" write ")
    assert why in reason
    assert instead in advice


@pytest.mark.parametrize("row", [row for row in URLS if row[1] == "refused"], ids=lambda row: ascii(row[0]))
def test_no_refusal_repeats_a_password(row: list[str]) -> None:
    url = str(row[0]).replace("://", "://owner:hunter2@", 1)
    with pytest.raises(LaneRefusedError) as refused:
        Classifier().classify(url)
    assert "hunter2" not in str(refused.value)


@pytest.mark.parametrize("url", ["http://me:hunter2/x@nas/", "http://me:hunter2#x@nas/", "http://me:hunter2?@nas/"])
def test_a_password_that_is_taken_for_a_port_is_not_repeated(url: str) -> None:
    with pytest.raises(LaneRefusedError, match="no port") as refused:
        Classifier().classify(url)
    assert "hunter2" not in str(refused.value)


@pytest.mark.parametrize("url", [None, b"http://nas/", 5])
def test_what_is_no_text_is_refused(url: object) -> None:
    with pytest.raises(LaneRefusedError, match="must be text"):
        Classifier().classify(url)  # type: ignore[arg-type]


def test_the_longest_url_that_is_allowed_passes() -> None:
    start = "http://nas/"
    assert answer(start + "x" * (LONGEST_URL - len(start))) == ("lan", "nas")
    assert answer(start + "x" * (LONGEST_URL - len(start) + 1)) == ("refused", "")


def test_what_the_owner_lists_is_in_the_house() -> None:
    listed = [
        "100.64.0.0/10",
        "ha.My-House.example.net.",
        "bücher.example",
        "203.0.114.7",
        "[2606:4700::7]",
        "fec0::/10",
    ]
    classifier = Classifier(lambda: listed)
    assert answer("http://100.100.1.2/", classifier) == ("lan", "100.100.1.2")
    assert answer("http://[::ffff:100.100.1.2]/", classifier) == ("lan", "::ffff:100.100.1.2")
    assert answer("https://HA.my-house.example.net:8123/api", classifier) == ("lan", "ha.my-house.example.net")
    assert answer("https://bücher.example/", classifier) == ("lan", "xn--bcher-kva.example")
    assert answer("http://203.0.114.7/", classifier) == ("lan", "203.0.114.7")
    assert answer("http://[2606:4700:0::7]/", classifier) == ("lan", "2606:4700::7")
    assert answer("http://[fec0::9]/", classifier) == ("lan", "fec0::9")
    assert classifier.classify("http://100.64.0.1/").reason == "one of the direct hosts"
    assert classifier.classify_host("HA.my-house.example.net.") is Lane.LAN
    assert answer("https://other.my-house.example.net/", classifier)[0] == "wan"
    assert answer("http://100.128.0.1/", classifier)[0] == "wan"


def test_listing_an_address_makes_none_of_its_odd_spellings_plain() -> None:
    classifier = Classifier(lambda: ["8.8.8.8", "134744072", "0.0.0.0/0"])
    assert answer("http://8.8.8.8/", classifier)[0] == "lan"
    assert answer("http://134744072/", classifier)[0] == "refused"
    assert answer("http://010.8.8.8/", classifier)[0] == "refused"


def test_a_tunnel_that_the_owner_lists_is_used() -> None:
    assert answer("http://[64:ff9b:1::a00:1]/", Classifier(lambda: ["64:ff9b:1::/48"]))[0] == "lan"


@pytest.mark.parametrize("entry", ["", "http://nas.example/", "10.0.0.0/99", "*.example.com", "a b", "１.example"])
def test_an_entry_that_is_no_host_lets_nothing_in(entry: str) -> None:
    classifier = Classifier(lambda: [entry])
    assert answer("http://nas.example/", classifier)[0] == "wan"
    assert answer("http://www.example.com/", classifier)[0] == "wan"


def test_a_direct_host_counts_from_the_next_url_on_and_no_longer_than_it_is_listed() -> None:
    listed: list[frozenset[str]] = [frozenset()]
    classifier = Classifier(lambda: listed[-1])
    assert answer("http://ha.example.net/", classifier)[0] == "wan"
    listed.append(frozenset({"ha.example.net"}))
    assert answer("http://ha.example.net/", classifier)[0] == "lan"
    listed.append(frozenset())
    assert answer("http://ha.example.net/", classifier)[0] == "wan"


def test_every_python_of_this_machine_gives_the_same_answers() -> None:
    program = (
        "import json, sys\n"
        "from appliance.errors import LaneRefusedError\n"
        "from appliance.network.classifier import Classifier\n"
        "def answer(url):\n"
        "    try:\n"
        "        found = Classifier().classify(url)\n"
        "    except LaneRefusedError as refused:\n"
        "        return 'refused', str(refused)\n"
        "    return found.lane.value, found.host, found.port, found.reason\n"
        "urls, hosts = json.load(sys.stdin)\n"
        "lanes = [Classifier().classify_host(host).value for host in hosts]\n"
        "json.dump([[answer(url) for url in urls], lanes], sys.stdout)\n"
    )
    questions = json.dumps([[row[0] for row in URLS], [row[0] for row in HOSTS]])
    answers = {python: _asked(python, program, questions) for python in [Path(sys.executable), *_other_pythons()]}
    ours = answers[Path(sys.executable)]
    assert [str(python) for python, theirs in answers.items() if theirs != ours] == []


def _asked(python: Path, program: str, question: str) -> str:
    root = HERE.parent.parent
    libraries = sysconfig.get_path("purelib")
    # Everything that this needs of our libraries is plain Python.
    environment = {"PYTHONPATH": os.pathsep.join((str(root), libraries)), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [str(python), "-c", program]
    ran = subprocess.run(command, input=question, env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, f"{python}: {ran.stderr}"
    return ran.stdout


def _other_pythons() -> Iterator[Path]:
    """One of each supported version that is installed, on the path or by pyenv, and starts."""
    for version in ("3.11", "3.12", "3.13"):
        if sys.version.startswith(f"{version}."):
            continue
        by_pyenv = (Path.home() / ".pyenv" / "versions").glob(f"{version}.*/bin/python{version}")
        on_the_path = shutil.which(f"python{version}")
        found = next(filter(_starts, [*by_pyenv, *([Path(on_the_path)] if on_the_path else [])]), None)
        if found:
            yield found


def _starts(python: Path) -> bool:
    return subprocess.run([python, "-c", ""], capture_output=True, check=False).returncode == 0
