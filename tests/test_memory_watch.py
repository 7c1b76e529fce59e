"""A plugin that eats the memory is found out before the machine swaps; what the box itself needs is its own affair."""

from __future__ import annotations

from appliance.memory_watch import MEGABYTE, Eaten, MemoryWatch
from appliance.store.running_notes import Doing, RunningNotes


class Notes(RunningNotes):
    """Who has used the processor is what the test says."""

    def __init__(self) -> None:
        super().__init__()
        self.used: dict[str, float] = {}

    def processor_seconds(self) -> dict[str, float]:
        used, self.used = self.used, {}
        return used


class Machine:
    """What the process holds, as the test says."""

    def __init__(self, *, growth_mb: int = 0, machine_mb: int = 8000) -> None:
        self.held_mb = 300
        self.used = 0.0
        self.notes = Notes()
        self.watch = MemoryWatch(
            self.notes,
            growth_mb=growth_mb,
            held_bytes=lambda: self.held_mb * MEGABYTE,
            processor_seconds=lambda: self.used,
            machine_bytes=machine_mb * MEGABYTE,
        )

    def second(self, grown_mb: int, *plugins: str, each: float = 0.4, box: float = 0.2) -> Eaten | None:
        """One second in which so much was added while each of these, and the box itself, used the processor."""
        self.held_mb += grown_mb
        self.notes.used = dict.fromkeys(plugins, each)
        self.used += box + each * len(plugins)
        return self.watch.look()

    @property
    def limit_mb(self) -> int:
        return self.watch.limit_bytes // MEGABYTE


def test_a_plugin_that_eats_two_gigabytes_is_found_out() -> None:
    machine = Machine()
    machine.watch.ready()
    assert machine.second(600, "sea") is None
    assert machine.second(1400, "sea") == Eaten("sea", held_mb=2300, grown_mb=2000)


def test_it_is_found_out_in_small_bites_and_while_it_is_being_loaded() -> None:
    machine = Machine(growth_mb=100)
    found = [machine.second(3, "sea") or machine.second(0) for _ in range(40)]
    assert found[-1] is not None and found[-1].plugin == "sea"


def test_weights_that_the_box_loads_late_are_no_reason() -> None:
    machine = Machine(growth_mb=100)
    machine.watch.ready()
    assert machine.second(500, "idle_daemon", each=0.001, box=1.0) is None
    assert machine.second(10, "sea") is None


def test_what_was_there_when_the_box_was_ready_counts_as_its_own() -> None:
    machine = Machine(growth_mb=100)
    machine.second(400, "sea")
    machine.watch.ready()
    assert machine.limit_mb == 800
    assert machine.second(90, "sea") is None


def test_several_that_eat_together_leave_nobody_to_blame() -> None:
    machine = Machine(growth_mb=100)
    machine.watch.ready()
    assert machine.second(150, "sea", "land", "sky") == Eaten("", held_mb=450, grown_mb=150)


def test_of_several_on_one_thread_the_one_that_is_still_at_it_is_to_blame() -> None:
    machine = Machine(growth_mb=100)
    machine.watch.ready()
    machine.notes.enter("sea", Doing.CALL)
    found = machine.second(150, "sea", "land", "sky")
    assert found is not None and found.plugin == "sea"


def test_memory_that_is_given_back_is_forgotten() -> None:
    machine = Machine(growth_mb=300)
    machine.watch.ready()
    machine.second(290, "sea")
    machine.second(-290)
    assert machine.second(400, "land") == Eaten("land", held_mb=700, grown_mb=400)


def test_the_limit_fits_the_machine() -> None:
    assert Machine(machine_mb=8000).limit_mb == 300 + 1024
    assert Machine(machine_mb=1000).limit_mb == 700, "a small board does not swap"
    assert Machine(machine_mb=500).limit_mb == 300 + 256, "and does not end at once for its own weights"
    assert Machine(growth_mb=50, machine_mb=500).limit_mb == 350
