"""Commands that only look, at nothing but the work folder: they need nobody's permission.

It has no SCHEMA, so it is no tool. What is not understood here for certain is asked about.
"""

import shlex

from kotoba.core.path_security import PathSecurityError, validate_within_dir

#: What a shell would read more into than words.
SHELL_SIGNS = frozenset(";&|`\n\r<>$(){}[]*?!~#\\")

#: Commands that read, and the options with which they do more: run, write, or wait for ever.
READERS = {
    **dict.fromkeys(("pwd", "ls", "cat", "head", "wc", "stat", "cut", "tr", "nl", "tac", "echo", "printf", "true"), ()),
    **dict.fromkeys(("whoami", "id", "uname", "uptime", "free", "df", "nproc"), ()),
    # What follows links could be led out of the folder.
    "grep": ("-R", "--dereference-recursive"),
    "du": ("-L", "-D", "-H", "--dereference", "--dereference-args"),
    "tail": ("-f", "-F", "--follow", "--retry"),
    "sort": ("-o", "--output", "-T", "--temporary-directory", "--compress-program"),
    "find": (
        *("-exec", "-execdir", "-ok", "-okdir", "-delete", "-fprint", "-fprint0", "-fprintf", "-fls"),
        *("-L", "-H", "-follow", "-files0-from"),
    ),
}
#: They take names of files from a file.
ALWAYS_MORE = ("--files0-from",)


def words_of(line):
    """The words of a shell line that is nothing but one command; none when a shell would see more in it."""
    if SHELL_SIGNS & set(line):
        return []
    try:
        return shlex.split(line)
    except ValueError:
        return []


def only_reads(words, folder):
    """Whether a command does no more than look at what is in ``folder``."""
    if not words or words[0] not in READERS:
        return False
    more = (*READERS[words[0]], *ALWAYS_MORE)
    return all(not _does_more(word, more) and _stays(word, folder) for word in words[1:])


def _does_more(word, more):
    """Whether a word is such an option: cut short, with its value behind it, or among other letters."""
    if not word.startswith("-") or word == "-":
        return False
    name = word.partition("=")[0]
    if name in more:
        return True
    if name.startswith("--"):
        return any(option.startswith(name) for option in more if option.startswith("--"))
    letters = {option[1] for option in more if len(option) == 2}
    return bool(letters & set(name[1:]))


def _stays(word, folder):
    """Whether no part of a word leads out of the folder, taken as a path."""
    parts = {word, word.partition("=")[2]}
    if word.startswith("-") and not word.startswith("--"):
        parts |= {word[2:]}
    return all(_is_inside(part, folder) for part in parts if part)


def _is_inside(path, folder):
    try:
        validate_within_dir(path, folder)
    except (PathSecurityError, ValueError, RuntimeError, OSError):
        return False
    return True
