"""What is in the house although its name does not look it."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterator

import pytest

from appliance.clock import FakeClock
from appliance.network.classifier import Classifier
from appliance.network.direct_hosts import DirectHosts
from appliance.network.lane import Lane

#: No test waits this long; it only ends one that would hang.
PATIENCE_SECONDS = 10.0


class Told:
    """Hears what is told about registrations that fail."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, str]] = []

    def __call__(self, whose: str, problem: str) -> None:
        self.lines.append((whose, problem))


class Counting:
    """A provider that counts how often it is asked."""

    def __init__(self, answer: object = ("ha.example.net",)) -> None:
        self.answer = answer
        self.count = 0

    def __call__(self) -> object:
        self.count += 1
        if isinstance(self.answer, BaseException):
            raise self.answer
        return self.answer


class Stuck:
    """A provider that answers when it is let go."""

    def __init__(self) -> None:
        self.is_asked = threading.Event()
        self._may_end = threading.Event()
        self._thread: threading.Thread | None = None

    def __call__(self) -> list[str]:
        self._thread = threading.current_thread()
        self.is_asked.set()
        assert self._may_end.wait(PATIENCE_SECONDS)
        return ["slow.example.net"]

    def let_go(self) -> None:
        """Let it answer, and wait until it has."""
        self._may_end.set()
        if self._thread is not None:
            self._thread.join(PATIENCE_SECONDS)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def told() -> Told:
    return Told()


@pytest.fixture
def direct(clock: FakeClock, told: Told) -> DirectHosts:
    return DirectHosts(clock, tell=told, patience_seconds=PATIENCE_SECONDS)


@pytest.fixture
def hasty(clock: FakeClock, told: Told) -> DirectHosts:
    return DirectHosts(clock, tell=told, patience_seconds=0.0)


@pytest.fixture
def stuck() -> Iterator[Stuck]:
    provider = Stuck()
    yield provider
    provider.let_go()


def test_the_owners_hosts_are_there_without_any_plugin(clock: FakeClock) -> None:
    direct = DirectHosts(clock, ["HA.Example.net.", " 100.64.3.1/10 ", "[FD00:0::7]", "bücher.example"])
    assert direct.hosts() == {"ha.example.net", "100.64.0.0/10", "fd00::7", "xn--bcher-kva.example"}
    assert direct.known_hosts() == direct.hosts()


def test_an_entry_of_the_owner_that_is_no_host_is_told_and_left_out(clock: FakeClock, told: Told) -> None:
    direct = DirectHosts(clock, ["http://ha.example.net", "10.0.0.0/99", "nas.example"], tell=told)
    assert direct.hosts() == {"nas.example"}
    assert [whose for whose, _ in told.lines] == ["network.direct_hosts"] * 2
    assert "http://ha.example.net" in told.lines[0][1]


@pytest.mark.contract("S-090")
def test_a_plugin_is_asked_only_when_its_hosts_are_needed(direct: DirectHosts) -> None:
    provider = Counting()
    direct.register(provider, "ha")
    assert provider.count == 0
    assert direct.hosts() == {"ha.example.net"}
    assert provider.count == 1


async def test_what_a_plugin_said_holds_for_five_seconds(direct: DirectHosts, clock: FakeClock) -> None:
    provider = Counting()
    direct.register(provider, "ha")
    before = direct.hosts()
    await clock.advance(4.9)
    assert direct.hosts() is before
    assert provider.count == 1
    provider.answer = ["moved.example.net"]
    await clock.advance(0.1)
    assert direct.hosts() == {"moved.example.net"}
    assert provider.count == 2


@pytest.mark.contract("S-092")
def test_the_hosts_of_all_are_united(direct: DirectHosts) -> None:
    direct.register(lambda: ["a.example.net"], "a")
    direct.register(lambda: ("b.example.net",), "b")
    assert direct.hosts() == {"a.example.net", "b.example.net"}


@pytest.mark.contract("S-091")
def test_registering_again_replaces_and_counts_at_once(direct: DirectHosts) -> None:
    direct.register(lambda: ["old.example.net"], "ha")
    direct.register(lambda: ["other.example.net"], "other")
    assert "old.example.net" in direct.hosts()
    direct.register(lambda: ["new.example.net"], "ha")
    assert direct.hosts() == {"new.example.net", "other.example.net"}


def test_a_plugin_that_is_gone_takes_its_hosts_with_it(direct: DirectHosts) -> None:
    classifier = Classifier(direct.hosts)
    direct.register(lambda: ["ha.example.net"], "ha")
    assert classifier.classify("http://ha.example.net/").lane is Lane.LAN
    direct.unregister("ha")
    direct.unregister("nobody")
    assert classifier.classify("http://ha.example.net/").lane is Lane.WAN


@pytest.mark.parametrize(
    ("answer", "hosts"),
    [
        ("ha.example.net", {"ha.example.net"}),
        ([" HA.Example.NET. ", "ha.example.net"], {"ha.example.net"}),
        ([None, 5, b"bytes.example.net", "ha.example.net", ""], {"ha.example.net"}),
        ({"ha.example.net": 1}, {"ha.example.net"}),
        (b"ha.example.net", set()),
        ([], set()),
        (["100.100.1.2", "0.0.0.0/0", "10.0.0.0/8"], {"100.100.1.2"}),
        (["http://ha.example.net:8123/", "a b", "*"], set()),
        (itertools.repeat("ha.example.net"), {"ha.example.net"}),
    ],
    ids=ascii,
)
def test_whatever_a_plugin_names_only_hosts_count(direct: DirectHosts, answer: object, hosts: set[str]) -> None:
    direct.register(lambda: answer, "ha")
    assert direct.hosts() == hosts


@pytest.mark.parametrize(
    "failure", [RuntimeError("token=hunter2"), SystemExit(1), KeyboardInterrupt(), 5, None], ids=ascii
)
async def test_a_plugin_that_fails_is_told_once_and_left_out(
    direct: DirectHosts, clock: FakeClock, told: Told, failure: object
) -> None:
    provider = Counting(failure)
    direct.register(provider, "broken")
    direct.register(lambda: ["ha.example.net"], "ha")
    for _ in range(3):
        assert direct.hosts() == {"ha.example.net"}
        await clock.advance(5.0)
    assert provider.count == 3
    assert [whose for whose, _ in told.lines] == ["broken"]
    assert "hunter2" not in told.lines[0][1]


async def test_a_plugin_that_fails_later_loses_its_hosts(direct: DirectHosts, clock: FakeClock) -> None:
    provider = Counting()
    direct.register(provider, "ha")
    assert direct.hosts() == {"ha.example.net"}
    provider.answer = ValueError("no settings")
    await clock.advance(5.0)
    assert direct.hosts() == set()


def test_a_registration_that_fails_anew_is_told_anew(direct: DirectHosts, told: Told) -> None:
    for _ in range(2):
        direct.register(Counting(OSError()), "broken")
        direct.hosts()
    assert len(told.lines) == 2


def test_a_plugin_that_never_answers_holds_up_a_caller_once_and_no_other_plugin(
    clock: FakeClock, told: Told, stuck: Stuck
) -> None:
    direct = DirectHosts(clock, tell=told, patience_seconds=0.2)
    direct.register(stuck, "stuck")
    direct.register(lambda: ["ha.example.net"], "ha")
    assert direct.hosts() == {"ha.example.net"}
    assert told.lines == [("stuck", "what it registered to name its direct hosts did not answer within 0.2 s")]
    direct._patience_seconds = 10 * PATIENCE_SECONDS  # whoever waits again does not come back in time
    again: list[frozenset[str]] = []
    _run([threading.Thread(target=lambda: again.append(direct.hosts()), daemon=True)])
    assert again == [{"ha.example.net"}]
    assert len(told.lines) == 1


def test_an_answer_that_comes_late_counts_when_it_comes(hasty: DirectHosts, stuck: Stuck) -> None:
    hasty.register(stuck, "slow")
    assert hasty.hosts() == set()
    assert stuck.is_asked.wait(PATIENCE_SECONDS)
    stuck.let_go()
    assert hasty.hosts() == {"slow.example.net"}


def test_an_answer_that_comes_after_the_plugin_is_gone_is_dropped(hasty: DirectHosts, stuck: Stuck) -> None:
    hasty.register(stuck, "slow")
    hasty.known_hosts()
    assert stuck.is_asked.wait(PATIENCE_SECONDS)
    hasty.unregister("slow")
    stuck.let_go()
    assert hasty.known_hosts() == set()


def test_an_event_loop_gets_what_is_known_without_waiting(direct: DirectHosts, stuck: Stuck) -> None:
    direct.register(stuck, "slow")
    assert direct.known_hosts() == set()
    assert stuck.is_asked.wait(PATIENCE_SECONDS)
    stuck.let_go()
    assert direct.known_hosts() == {"slow.example.net"}


def test_a_plugin_that_sends_a_request_to_find_its_hosts_does_not_wait_for_itself(
    direct: DirectHosts, told: Told
) -> None:
    direct.register(lambda: ["first.example.net"], "first")
    direct.hosts()
    seen: list[Lane] = []

    def provider() -> list[str]:
        seen.append(Classifier(direct.hosts).classify("http://first.example.net/").lane)
        return ["second.example.net"]

    direct.register(provider, "second")
    assert direct.hosts() == {"first.example.net", "second.example.net"}
    assert seen == [Lane.LAN]
    assert told.lines == []


def test_many_threads_ask_a_plugin_once(direct: DirectHosts) -> None:
    provider = Counting()
    direct.register(provider, "ha")
    answers: list[frozenset[str]] = []
    threads = [threading.Thread(target=lambda: answers.append(direct.hosts())) for _ in range(32)]
    _run(threads)
    assert answers == [{"ha.example.net"}] * 32
    assert provider.count == 1


def test_plugins_come_and_go_while_others_ask(direct: DirectHosts) -> None:
    direct.register(lambda: ["steady.example.net"], "steady")

    def come_and_go(owner: str) -> Callable[[], None]:
        def work() -> None:
            for number in range(50):
                direct.register(lambda: [f"{owner}{number}.example.net"], owner)  # noqa: B023
                missing.append("steady.example.net" not in direct.hosts())
                direct.unregister(owner)

        return work

    missing: list[bool] = []
    _run([threading.Thread(target=come_and_go(f"owner{number}")) for number in range(8)])
    assert len(missing) == 400 and not any(missing)
    assert direct.hosts() == {"steady.example.net"}


def _run(threads: list[threading.Thread]) -> None:
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE_SECONDS)
    assert not any(thread.is_alive() for thread in threads)
