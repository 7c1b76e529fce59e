"""Writing one setting leaves the owner's file as they wrote it."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from appliance.config import load
from appliance.config_file import set_values
from appliance.errors import ConfigError
from appliance.think.config import ThinkConfig

OWNERS = """# My box.
[think]   # the brain
url = "http://old"  # in the cellar

[box]
name = "Ada"
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "config.toml"
    path.write_text(OWNERS, encoding="utf-8")
    return path


def test_a_value_changes_and_everything_around_it_stays(file: Path) -> None:
    set_values(file, "think", {"url": "http://new"})

    assert file.read_text(encoding="utf-8") == OWNERS.replace("http://old", "http://new")


def test_new_keys_and_new_sections_are_added(file: Path) -> None:
    set_values(file, "think", {"model": "small"})
    set_values(file, "speak", {"speed": 1.2})

    text = file.read_text(encoding="utf-8")
    assert text.startswith("# My box.\n[think]   # the brain\n")
    settings = load(file, {})
    assert settings.of(ThinkConfig).model == "small"
    assert "[speak]" in text


def test_none_takes_a_key_out_whether_or_not_it_is_there(file: Path) -> None:
    set_values(file, "think", {"url": None, "model": None})

    assert load(file, {}).of(ThinkConfig) == ThinkConfig()
    assert "# My box." in file.read_text(encoding="utf-8")


def test_a_missing_file_is_made_with_its_folder(tmp_path: Path) -> None:
    file = tmp_path / "new" / "config.toml"

    set_values(file, "think", {"url": "http://new"})

    assert load(file, {}).of(ThinkConfig).url == "http://new"


def test_nothing_is_left_beside_it_and_its_rights_stay(file: Path) -> None:
    file.chmod(0o600)

    set_values(file, "think", {"url": "http://new"})

    assert [path.name for path in file.parent.iterdir()] == ["config.toml"]
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


@pytest.mark.parametrize("content", [b"[think\n", b"think = 5\n", b"\xff\xfe", b'[think]\nurl = "a"\nurl = "b"\n'])
def test_a_file_that_cannot_be_understood_is_not_touched(file: Path, content: bytes) -> None:
    file.write_bytes(content)

    with pytest.raises(ConfigError, match=r"config\.toml .*nothing was changed"):
        set_values(file, "think", {"url": "http://new"})

    assert file.read_bytes() == content


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(ConfigError, match="cannot be changed"):
        set_values(tmp_path / "file" / "config.toml", "think", {"url": "http://new"})
