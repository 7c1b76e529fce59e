"""Commands that cannot be undone, or that hand the machine over. Our own list, looked for in exact arguments.

It is no fence: whoever wants to get around a list of words can. It decides only that such a call is always asked
about, with the risk named, and that no standing permission ever covers it.
"""

from __future__ import annotations

import enum
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence

from appliance.approve.hidden import has_hidden
from appliance.approve.operands import texts_in
from appliance.approve.shell_words import commands, plain
from appliance.ports import Json

#: Whatever is longer, nobody reads before they press.
_LONGEST = 8_000


class Danger(enum.StrEnum):
    """What is risky about a command; each has its words in the catalogue."""

    DELETE = "delete"
    DISK = "disk"
    POWER = "power"
    DOWNLOAD = "download"
    RIGHTS = "rights"
    FLOOD = "flood"
    SYSTEM = "system"
    HIDDEN = "hidden"
    LONG = "long"


def danger_in(arguments: Mapping[str, Json]) -> Danger | None:
    """The first danger in any text of the arguments; lists of words are read as one command too."""
    texts = [*texts_in(dict(arguments)), *_joined_lists(dict(arguments))]
    if sum(map(len, texts)) > 2 * _LONGEST:
        return Danger.LONG
    return next((found for found in map(danger_of, texts) if found is not None), None)


def danger_of(text: str) -> Danger | None:
    """What is dangerous in one command line; None when nothing on the list is."""
    if len(text) > _LONGEST:
        return Danger.LONG
    if has_hidden(text):
        return Danger.HIDDEN
    line = plain(text)
    by_shape = next((danger for danger, shape in _SHAPES if shape.search(line)), None)
    return by_shape or next(filter(None, map(_danger_of_command, commands(text))), None)


# ----------------------------------------------------------------------------- shapes that need no words

_FETCHER = r"\b(?:curl|wget|fetch|aria2c|lwp-request|http|ftp)\b"
_BEFORE = r"(?:(?:sudo|doas|env|exec|nohup)\s+){0,3}(?:/[\w./-]{1,40}/)?"
_INTERPRETER = rf"{_BEFORE}(?:(?:ba|da|z|k|c|tc|a|fi)?sh|python[\d.]*|perl|ruby|node|php|lua)\b"
_DISK = r"/dev/(?:sd|hd|vd|xvd|nvme|mmcblk|mapper/|md|disk/|loop|dm-|mtd)"
_SYSTEM_FILE = (
    r"(?:/etc/(?:passwd|shadow|sudoers|fstab|ssh/|pam\.d/|crontab|cron\.|ld\.so\.preload|systemd/)|/boot/|/proc/sys"
    r"|/sys/|\S*\.ssh/authorized_keys)"
)

_SHAPES: Sequence[tuple[Danger, re.Pattern[str]]] = (
    (Danger.FLOOD, re.compile(r"(\S{1,40}?)\s*\(\s*\)\s*\{\s*\1\s*\|\s*\1\s*&\s*\}?\s*;?")),
    (
        Danger.FLOOD,
        re.compile(r"\bfork\s+while\s+(?:fork|1|true)|while\s*(?:true|:|\[ 1 \])\s*;\s*do\s*\S+\s*&\s*;?\s*done"),
    ),
    (Danger.DOWNLOAD, re.compile(rf"{_FETCHER}[^;&]*\|\s*(?:tee\s+\S+\s*\|\s*)?{_INTERPRETER}")),
    (Danger.DOWNLOAD, re.compile(rf"{_INTERPRETER}[^;&|]*(?:<\(|\$\(|`)\s*{_FETCHER}")),
    (Danger.DOWNLOAD, re.compile(rf"(?:\beval\b|\bsource\b|(?:^|[;&|]\s*)\.\s)[^;&|]*(?:<\(|\$\(|`)\s*{_FETCHER}")),
    # Something that nobody can read is run.
    (Danger.DOWNLOAD, re.compile(rf"\b(?:base64|base32|xxd|openssl|gunzip|zcat|uudecode)\b[^;&]*\|\s*{_INTERPRETER}")),
    (Danger.DOWNLOAD, re.compile(rf"{_FETCHER}[^|]*(?:&&|;)[^|]*(?:{_INTERPRETER}|chmod\s+(?:\S+\s+)?\+?[ux0-7]*x)")),
    (Danger.DISK, re.compile(rf">\|?\s*{_DISK}")),
    (Danger.SYSTEM, re.compile(rf">>?\|?\s*{_SYSTEM_FILE}")),
    (
        Danger.DELETE,
        re.compile(r"\brmtree\(\s*f?[\"']?(?:/|~)|\b(?:DROP\s+(?:TABLE|DATABASE)|TRUNCATE\s+TABLE)\b", re.I),
    ),
)

# -------------------------------------------------------------------------------------- single commands

_POWER = frozenset(("shutdown", "reboot", "halt", "poweroff", "kexec", "telinit"))
_DISK_TOOLS = frozenset(
    (
        *("wipefs", "fdisk", "sfdisk", "sgdisk", "gdisk", "cfdisk", "parted", "blkdiscard", "badblocks"),
        *("hdparm", "nvme", "mkswap", "mke2fs", "mkdosfs", "newfs", "cryptsetup", "pvremove", "vgremove"),
        *("lvremove", "zpool", "flash_erase"),
    )
)
_SYSTEM_TOOLS = frozenset(
    (
        *("visudo", "useradd", "userdel", "usermod", "groupdel", "adduser", "deluser", "passwd", "chpasswd"),
        *("killall5", "insmod", "rmmod", "modprobe", "iptables", "ip6tables", "nft", "ufw", "firewall-cmd"),
        *("setenforce", "chattr", "update-rc.d", "apt-key", "dpkg-divert", "grub-install", "update-grub"),
        *("efibootmgr", "rpi-eeprom-update"),
    )
)
_BROAD_FOLDERS = frozenset(
    (
        *("/", "~", ".", "..", "*", "/*", "~/*", "./*", "../*", ".*", "$HOME", "${HOME}", "$PWD", "$OLDPWD"),
        "--no-preserve-root",
    )
)
_TOP_FOLDERS = frozenset(
    (
        *("bin", "boot", "dev", "etc", "home", "lib", "lib64", "media", "mnt", "opt", "proc", "root", "run"),
        *("sbin", "srv", "sys", "tmp", "usr", "var", "Users"),
    )
)


def _danger_of_command(words: Sequence[str]) -> Danger | None:
    name, rest = words[0].rpartition("/")[2], list(words[1:])
    if name in _POWER or (name in ("init", "systemctl") and _names_power(rest)):
        return Danger.POWER
    if name.startswith("mkfs") or name in _DISK_TOOLS or _writes_disk(name, rest):
        return Danger.DISK
    if name in ("rm", "shred", "unlink", "srm", "trash", "rmdir") and _deletes_broadly(name, rest):
        return Danger.DELETE
    if name == "find" and {"-delete", "-exec", "-execdir", "-ok"} & set(rest) and any(map(_is_broad, rest[:1])):
        return Danger.DELETE
    if name in ("chmod", "chown", "chgrp", "setfacl") and _opens_files(name, rest):
        return Danger.RIGHTS
    if name in ("mv", "rsync") and any(map(_is_broad, rest)) and ("/dev/null" in rest or "--delete" in rest):
        return Danger.DELETE
    if name in ("kill", "pkill", "killall") and {"-1", "1"} & set(rest[-1:]):
        return Danger.SYSTEM
    if name in _SYSTEM_TOOLS or (name == "crontab" and "-r" in rest) or _writes_system(name, rest):
        return Danger.SYSTEM
    return None


def _names_power(words: Sequence[str]) -> bool:
    states = ("0", "6", "poweroff", "reboot", "halt", "kexec", "suspend", "hibernate", "emergency", "rescue", "isolate")
    return any(word in states for word in words)


def _writes_disk(name: str, words: Sequence[str]) -> bool:
    if name == "dd":
        return any(re.match(rf"of={_DISK}", word) for word in words)
    return name in ("tee", "cp", "mv", "cat", "shred", "pv", "install") and any(
        re.match(_DISK, word) for word in words[-1:] if name != "cat"
    )


def _writes_system(name: str, words: Sequence[str]) -> bool:
    if name not in ("tee", "cp", "mv", "install", "sed", "ln", "rm", "truncate"):
        return False
    if name == "sed" and not any(word.startswith(("-i", "--in-place")) for word in words):
        return False
    targets = words if name in ("tee", "rm", "truncate", "sed") else words[-1:]
    return any(re.match(_SYSTEM_FILE, word) for word in targets)


def _deletes_broadly(name: str, words: Sequence[str]) -> bool:
    flags = "".join(word.lstrip("-") for word in words if re.fullmatch(r"-[a-zA-Z]+", word))
    is_recursive = name != "rm" or "r" in flags.lower() or "--recursive" in words
    return is_recursive and any(map(_is_broad, words))


def _opens_files(name: str, words: Sequence[str]) -> bool:
    is_recursive = any(re.fullmatch(r"-[a-zA-Z]*R[a-zA-Z]*|--recursive", word) for word in words)
    is_open = name == "chmod" and any(
        re.fullmatch(r"0?777|a[=+]rwx|[ugoa]*[+=]rwx|\+s|u\+s|[4267]\d{3}", w) for w in words
    )
    return (is_recursive and any(map(_is_broad, words))) or (is_open and any(map(_is_broad_or_system, words)))


def _is_broad(word: str) -> bool:
    """Whether a word names a whole tree: the root, a top folder, somebody's home, or whatever a variable holds."""
    path = re.sub(r"/{2,}", "/", word)
    while path.endswith(("/", "/.", "/*")):
        path = path.rpartition("/")[0]
    path = path or "/"
    if path in _BROAD_FOLDERS or path.startswith("$") or re.fullmatch(r"(?:\.\./?)+", path):
        return True
    if re.fullmatch(r"~[\w-]*", path):
        return True
    parts = path.strip("/").split("/")
    return (
        path.startswith("/") and parts[0] in _TOP_FOLDERS and len(parts) <= (2 if parts[0] in ("home", "Users") else 1)
    )


def _is_broad_or_system(word: str) -> bool:
    return _is_broad(word) or bool(re.match(r"/(?:etc|usr|bin|sbin|lib|boot|var|root)(?:/|$)|\S*\.ssh(?:/|$)", word))


def _joined_lists(value: Json) -> Iterator[str]:
    """Lists of words, each as one command line."""
    if isinstance(value, list):
        if value and all(isinstance(entry, str) for entry in value):
            yield " ".join(map(_quoted, value))
        for entry in value:
            yield from _joined_lists(entry)
    elif isinstance(value, Mapping):
        for entry in value.values():
            yield from _joined_lists(entry)


def _quoted(word: str) -> str:
    return shlex.quote(word) if " " in word else word
