"""What the doctor says of a machine, whose faults a test describes."""

from __future__ import annotations

import errno
from collections.abc import Callable
from dataclasses import replace

import pytest

from appliance.adapters.fakes.machine import FakeMachine
from appliance.adapters.fakes.worker_launcher import FakeWorkerLauncher
from appliance.clock import FakeClock
from appliance.doctor.checks import board, disk, memory, power, sound_server, system
from appliance.doctor.finding import Finding, Verdict
from appliance.ports_doctor import Disk, Ended, Program
from appliance.ports_sandbox import Shelter

HOME = "/var/lib/appliance"
PI = {"/proc/device-tree/model": "Raspberry Pi 5 Model B Rev 1.0", "/dev/gpiochip0": ""}


@pytest.fixture
def machine() -> FakeMachine:
    described = FakeMachine()
    described.files[f"{HOME}/appliance.db"] = ""
    return described


def is_wrong(finding: Finding, *words: str) -> bool:
    """Whether it is wrong, says this, and has one thing to do."""
    told = f"{finding.sentence} {finding.advice}"
    return finding.verdict is Verdict.WRONG and bool(finding.advice) and all(word in told for word in words)


def is_fine(finding: Finding, *words: str) -> bool:
    return finding.verdict is Verdict.FINE and all(word in finding.sentence for word in words)


def is_unknown(finding: Finding) -> bool:
    return finding.verdict is Verdict.CANNOT_TELL


# ------------------------------------------------------------------------------------------------ sound server


def test_without_a_sound_server_the_box_uses_the_card_directly(machine: FakeMachine) -> None:
    assert is_fine(sound_server.sound_server(machine), "ALSA directly")


def test_a_sound_server_of_another_user_is_told_with_its_owner(machine: FakeMachine) -> None:
    machine.running = [Program(700, "pipewire", "pi"), Program(701, "pipewire-pulse", "pi")]
    assert is_wrong(sound_server.sound_server(machine), "PipeWire", "the user pi", "runs as nabu")


def test_an_own_server_or_one_whose_door_is_open_is_fine(machine: FakeMachine) -> None:
    machine.running = [Program(700, "pulseaudio", "pi")]
    machine.files["/run/pulse/native"] = ""
    assert is_fine(sound_server.sound_server(machine), "PulseAudio")
    machine.forbidden = {"/run/pulse/native"}
    assert is_wrong(sound_server.sound_server(machine))
    machine.running = [Program(700, "pulseaudio", "nabu")]
    assert is_fine(sound_server.sound_server(machine), "PulseAudio")


def test_the_program_that_holds_the_card_is_named(machine: FakeMachine) -> None:
    machine.files["/proc/asound/cards"] = " 1 [Device  ]: USB-Audio - USB Audio Device\n      C-Media"
    machine.files["/proc/asound/card1/pcm0c/sub0/status"] = "state: RUNNING\nowner_pid   : 4711\n"
    machine.files["/proc/asound/card1/pcm0p/sub0/status"] = "closed"
    machine.running = [Program(4711, "arecord", "pi")]
    assert is_wrong(sound_server.sound_owner(machine), "arecord (process 4711 of pi)", "sudo kill 4711")
    machine.running = [Program(4711, "pipewire", "pi")]
    assert is_fine(sound_server.sound_owner(machine), "USB Audio Device")


def test_the_box_itself_and_those_who_only_listen_for_changes_are_no_strangers(machine: FakeMachine) -> None:
    machine.files["/proc/asound/cards"] = " 1 [Device  ]: USB-Audio - USB Audio Device"
    machine.files["/proc/12/cmdline"] = "python3\0/usr/bin/appliance\0run"
    machine.held = [
        (Program(12, "python3", "nabu"), "/dev/snd/pcmC1D0c"),
        (Program(13, "wireplumber", "pi"), "/dev/snd/controlC1"),
    ]
    assert is_fine(sound_server.sound_owner(machine))
    machine.held.append((Program(14, "mpd", "mpd"), "/dev/snd/pcmC1D0p"))
    assert is_wrong(sound_server.sound_owner(machine), "mpd (process 14 of mpd)")


def test_a_machine_without_cards_cannot_tell_who_holds_them(machine: FakeMachine) -> None:
    assert is_unknown(sound_server.sound_owner(machine))
    machine.files["/proc/asound/cards"] = "--- no soundcards ---"
    assert is_unknown(sound_server.sound_owner(machine))


# -------------------------------------------------------------------------------------------------------- disk


def test_a_full_disk_is_told(machine: FakeMachine) -> None:
    assert is_fine(disk.disk_room(machine, HOME), "20,000 MB are free, 67%")
    machine.room = replace(machine.room, free_bytes=50_000_000)
    assert is_wrong(disk.disk_room(machine, HOME), "Only 50 MB")


def test_a_disk_with_room_that_takes_no_more_files_is_told(machine: FakeMachine) -> None:
    assert is_fine(disk.disk_files(machine, HOME))
    machine.room = replace(machine.room, free_files=12)
    assert is_wrong(disk.disk_files(machine, HOME), "only 12 more files")
    machine.room = Disk(1, 1, 0, 0)
    assert is_fine(disk.disk_files(machine, HOME))


def test_a_card_that_writes_slowly_is_told(machine: FakeMachine) -> None:
    assert is_fine(disk.disk_writing(machine, HOME), "10 ms")
    machine.written_in = 4.2
    assert is_wrong(disk.disk_writing(machine, HOME), "4.2 seconds", "backup")


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (errno.EROFS, "read-only"),
        (errno.EACCES, "nabu may not write"),
        (errno.ENOSPC, "cannot be written"),
    ],
)
def test_why_nothing_can_be_written_is_told(machine: FakeMachine, code: int, words: str) -> None:
    machine.written_in = OSError(code, "as the system says")
    assert is_wrong(disk.disk_writing(machine, HOME), words)


def test_a_disk_that_went_read_only_is_told_though_the_error_is_another(machine: FakeMachine) -> None:
    machine.written_in = OSError(errno.EIO, "Input/output error")
    machine.room = replace(machine.room, is_read_only=True)
    assert is_wrong(disk.disk_writing(machine, HOME), "read-only")


def test_a_home_that_is_not_there_yet_is_no_fault() -> None:
    empty = FakeMachine()
    empty.written_in = FileNotFoundError(errno.ENOENT, "No such file or directory")
    for check in (disk.disk_room, disk.disk_files, disk.disk_writing):
        assert is_unknown(check(empty, HOME))


# ------------------------------------------------------------------------------------------------------- power


@pytest.mark.parametrize(
    ("word", "words"),
    [
        ("throttled=0x50005", "too little voltage now"),
        ("throttled=0x50000", "too little voltage at times"),
        ("throttled=0x20002", "slower than it could now"),
        ("throttled=0x40000", "slower than it could at times"),
    ],
)
def test_what_the_firmware_says_of_power_is_understood(machine: FakeMachine, word: str, words: str) -> None:
    machine.commands["vcgencmd get_throttled"] = Ended(0, word)
    assert is_wrong(power.power_supply(machine), words)


def test_enough_power_is_fine(machine: FakeMachine) -> None:
    machine.commands["vcgencmd get_throttled"] = Ended(0, "throttled=0x0")
    assert is_fine(power.power_supply(machine))


def test_without_the_firmware_the_kernel_is_asked(machine: FakeMachine) -> None:
    assert is_unknown(power.power_supply(machine))
    machine.commands["vcgencmd get_throttled"] = Ended(255, "Can't open device file: /dev/vcio")
    machine.files["/sys/class/hwmon/hwmon1/in0_lcrit_alarm"] = "1"
    assert is_wrong(power.power_supply(machine), "too little voltage")
    machine.files["/sys/class/hwmon/hwmon1/in0_lcrit_alarm"] = "0"
    assert is_fine(power.power_supply(machine))


def test_a_hot_board_is_told(machine: FakeMachine) -> None:
    assert is_unknown(power.temperature(machine))
    machine.files["/sys/class/thermal/thermal_zone0/temp"] = "61234"
    assert is_fine(power.temperature(machine), "61 °C")
    machine.files["/sys/class/thermal/thermal_zone0/temp"] = "83000"
    assert is_wrong(power.temperature(machine), "83 °C")


# ------------------------------------------------------------------------------------------------------ memory


def test_little_memory_is_told(machine: FakeMachine) -> None:
    machine.files["/proc/meminfo"] = "MemTotal:  1900000 kB\nMemAvailable:  900000 kB\n"
    assert is_fine(memory.memory_room(machine), "900 of 1900 MB")
    machine.files["/proc/meminfo"] = "MemTotal:  1900000 kB\nMemAvailable:  90000 kB\n"
    assert is_wrong(memory.memory_room(machine), "Only 90 of 1900 MB")


@pytest.mark.parametrize(
    ("swaps", "root", "is_bad"),
    [
        ("", "/dev/mmcblk0p2", False),
        ("/dev/zram0  partition 1 0 100", "/dev/mmcblk0p2", False),
        ("/var/swap  file 1 0 -2", "/dev/mmcblk0p2", True),
        ("/var/swap  file 1 0 -2", "/dev/nvme0n1p2", False),
        ("/dev/mmcblk0p3 partition 1 0 -2", "/dev/nvme0n1p2", True),
    ],
)
def test_swap_on_the_card_is_told(machine: FakeMachine, swaps: str, root: str, is_bad: bool) -> None:
    machine.files["/proc/swaps"] = f"Filename Type Size Used Priority\n{swaps}"
    machine.files["/proc/mounts"] = f"{root} / ext4 rw,noatime 0 0\nproc /proc proc rw 0 0"
    finding = memory.swap_on_card(machine)
    assert is_wrong(finding, "card") if is_bad else is_fine(finding)


def test_a_kernel_that_does_not_limit_memory_is_told(machine: FakeMachine) -> None:
    assert is_unknown(memory.memory_controller(machine))
    machine.files["/sys/fs/cgroup/cgroup.controllers"] = "cpuset cpu io pids"
    assert is_wrong(memory.memory_controller(machine), "cgroup_enable=memory")
    machine.files["/sys/fs/cgroup/cgroup.controllers"] = "cpuset cpu io memory pids"
    assert is_fine(memory.memory_controller(machine))


def test_32_bits_are_told(machine: FakeMachine) -> None:
    assert is_fine(memory.pointer_bits(machine))
    machine.pointer_bits = 32
    assert is_wrong(memory.pointer_bits(machine), "64-bit")


# ------------------------------------------------------------------------------------------- clock and journal


def test_a_clock_that_nothing_has_set_is_told(machine: FakeMachine) -> None:
    assert is_wrong(system.clock_is_set(FakeClock(trusted=False), machine), "not set")
    assert is_fine(system.clock_is_set(FakeClock(), machine), "2026-05-04 15:07")
    machine.commands["timedatectl show --property=NTPSynchronized --value"] = Ended(0, "no")
    assert is_wrong(system.clock_is_set(FakeClock(), machine), "not kept right")
    machine.commands["timedatectl show --property=NTPSynchronized --value"] = Ended(0, "yes")
    assert is_fine(system.clock_is_set(FakeClock(), machine))


def test_where_the_journal_is_kept_is_told(machine: FakeMachine) -> None:
    assert is_unknown(system.journal_lasts(machine))
    machine.files["/run/log/journal/abc/system.journal"] = ""
    assert is_fine(system.journal_lasts(machine), "in memory")
    machine.files["/var/log/journal/abc/system.journal"] = ""
    assert is_fine(system.journal_lasts(machine), "on the disk")


# ------------------------------------------------------------------------------------------------------- board


def test_a_user_outside_the_group_of_a_device_that_is_there_is_told_how_to_join(machine: FakeMachine) -> None:
    machine.groups = frozenset({"nabu"})
    assert is_fine(board.user_groups(machine), "none needed")
    machine.files["/dev/snd/pcmC0D0c"] = machine.files["/dev/ttyUSB0"] = ""
    machine.forbidden = {"/dev/snd/pcmC0D0c", "/dev/ttyUSB0"}
    assert is_wrong(board.user_groups(machine), "audio (sound cards), dialout", "usermod -aG audio,dialout nabu")
    machine.is_root = True
    assert is_fine(board.user_groups(machine))


def test_a_group_that_the_system_lacks_is_made_first(machine: FakeMachine) -> None:
    machine.files |= PI
    machine.forbidden = {"/dev/gpiochip0"}
    machine.groups, machine.known_groups = frozenset({"nabu"}), frozenset({"nabu"})
    assert is_wrong(board.user_groups(machine), "no group gpio", "groupadd")


def test_pins_need_their_library_and_the_right_to_use_them(machine: FakeMachine) -> None:
    assert is_fine(board.gpio_pins(machine), "no pins of a Raspberry Pi")
    machine.files |= {**PI, "/sys/class/gpio/gpiochip571/label": "pinctrl-rp1"}
    assert is_wrong(board.gpio_pins(machine), "lgpio is not installed")
    machine.modules = {"lgpio"}
    assert is_fine(board.gpio_pins(machine), "Raspberry Pi 5", "pinctrl-rp1", "lgpio")
    machine.forbidden = {"/dev/gpiochip0"}
    assert is_wrong(board.gpio_pins(machine), "may not use /dev/gpiochip0")
    machine.variables["GPIOZERO_PIN_FACTORY"] = "pigpio"
    assert is_wrong(board.gpio_pins(machine), "pigpio is not installed")


def test_serial_boards_are_told_by_the_name_that_stays(machine: FakeMachine) -> None:
    port = "/dev/serial/by-id/usb-Arduino_Uno-if00"
    assert is_fine(board.serial_boards(machine, "", is_used=False), "No serial board")
    assert is_wrong(board.serial_boards(machine, "", is_used=True), "no board is plugged in")
    assert is_wrong(board.serial_boards(machine, port, is_used=True), f"{port} is not there")
    machine.files[port] = ""
    assert is_fine(board.serial_boards(machine, "", is_used=True), "usb-Arduino_Uno-if00")
    machine.forbidden = {port}
    assert is_wrong(board.serial_boards(machine, port, is_used=True), "dialout")
    machine.files["/dev/serial/by-id/usb-other"] = ""
    assert is_wrong(board.serial_boards(machine, "", is_used=True), "2 serial boards", "face.serial_port")


@pytest.mark.parametrize(
    ("state", "check"),
    [
        (board.ButtonState(), lambda finding: is_fine(finding, "No button is set")),
        (board.ButtonState("the button on GPIO17"), lambda finding: is_fine(finding, "wired and released")),
        (
            board.ButtonState("the button on GPIO17", "it is held, or sticks"),
            lambda finding: is_wrong(finding, "sticks"),
        ),
    ],
)
async def test_how_the_button_is(state: board.ButtonState, check: Callable[[Finding], bool]) -> None:
    async def ask() -> board.ButtonState:
        return state

    assert check(await board.button_state(ask))


def test_the_best_sandbox_is_told_with_what_it_does_not_hold() -> None:
    strong = FakeWorkerLauncher(Shelter("bubblewrap", is_contained=True, has_network=False, gaps="a full disk"))
    weak = FakeWorkerLauncher(Shelter("limits only", is_contained=False, has_network=True, gaps="the files of the box"))
    assert is_fine(board.sandbox([FakeWorkerLauncher(None), strong, weak]), "bubblewrap", "a full disk")
    assert is_wrong(board.sandbox([FakeWorkerLauncher(None), weak]), "limits only", "bubblewrap")
    assert is_wrong(board.sandbox([FakeWorkerLauncher(None)]), "no sandbox")
