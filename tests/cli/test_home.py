"""Homes in a bad state: in use, damaged, from the future; and who waits for whom."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing

import pytest

from appliance.cli.session import device_or_home
from appliance.clock import FakeClock
from appliance.errors import HomeLockedError
from appliance.home import Home
from appliance.wiring import control_socket
from tests.cli.shell import Shell


def test_a_home_is_made_for_its_owner_only(shell: Shell) -> None:
    shell("ask", "--text", "what time is it")
    assert shell.home.stat().st_mode & 0o777 == 0o700
    assert (shell.home / "appliance.db").stat().st_mode & 0o777 == 0o600


def test_a_database_of_a_newer_version_is_left_alone(shell: Shell) -> None:
    shell("ask", "--text", "who are you")
    with closing(sqlite3.connect(shell.home / "appliance.db")) as connection:
        connection.execute("PRAGMA user_version = 999")
    before = (shell.home / "appliance.db").read_bytes()
    for words in (("chat", "show"), ("ask", "--text", "what time is it")):
        ran = shell(*words)
        assert (ran.code, ran.out) == (1, "")
        assert "written by a newer version of this program (schema 999" in ran.err
    assert (shell.home / "appliance.db").read_bytes() == before


def test_a_damaged_database_is_put_aside_and_the_question_answered(shell: Shell) -> None:
    shell("ask", "--text", "who are you")
    (shell.home / "appliance.db").write_bytes(b"no database at all" * 1000)
    ran = shell("ask", "--text", "what time is it")
    assert ran.code == 0 and ran.out.startswith("It")
    assert "the store was damaged" in ran.err and ran.err.count("\n") == 1
    assert len(list(shell.home.glob("appliance.db.corrupt.*"))) == 1
    again = shell("chat", "show")
    assert again.err == "" and "what time is it" in again.out


def test_a_home_in_use_is_told_with_who_uses_it(shell: Shell) -> None:
    with Home(shell.home).lock():
        ran = shell("run")
    assert (ran.code, ran.out) == (1, "")
    assert "already runs on" in ran.err and "stop it first, or set APPLIANCE_HOME" in ran.err
    assert shell("ask", "--text", "what time is it").code == 0


async def test_a_home_that_another_command_has_for_a_moment_is_waited_for(shell: Shell) -> None:
    home, clock = Home(shell.home), FakeClock()
    other = home.lock()
    other.__enter__()

    async def use() -> object:
        async with device_or_home(home, clock) as device:
            with pytest.raises(HomeLockedError), home.lock():
                pass
            return device

    using = asyncio.create_task(use())
    await clock.advance(2.0)
    assert not using.done()
    other.__exit__(None, None, None)
    await clock.advance(0.2)
    assert await using is None
    with home.lock():
        pass  # It was given back.


async def test_a_home_that_stays_in_use_is_given_up(shell: Shell) -> None:
    home, clock = Home(shell.home), FakeClock()
    with home.lock():
        using = asyncio.create_task(device_or_home(home, clock).__aenter__())
        await clock.advance(60.0)
        with pytest.raises(HomeLockedError):
            await using


async def test_a_device_that_is_just_starting_is_waited_for(shell: Shell) -> None:
    home, clock = Home(shell.home), FakeClock()
    with home.lock():

        async def use() -> object:
            async with device_or_home(home, clock) as device:
                return device

        using = asyncio.create_task(use())
        await clock.advance(1.0)
        async with control_socket(home, {}):
            await clock.advance(0.2)
            assert await using is not None


async def test_whoever_wants_a_box_of_their_own_does_not_wait_for_a_device_to_stop(shell: Shell) -> None:
    home = Home(shell.home)
    with home.lock():
        async with control_socket(home, {}):
            with pytest.raises(HomeLockedError, match="stop it first, or leave out --out and --face"):
                await device_or_home(home, FakeClock(), is_own=True).__aenter__()
