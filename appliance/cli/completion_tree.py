"""The command line as data: which words may follow which."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from appliance.cli.setup import STEPS
from appliance.config import load
from appliance.models import known_weights

#: A word that a shell takes as it is.
_PLAIN = re.compile(r"[A-Za-z0-9_.:=+-]+")
#: Stands for names that are looked up when Tab is pressed.
PLUGINS, TOOLS, TOOLSETS, CHATS = "@plugin", "@tool", "@toolset", "@chat"


@dataclass(frozen=True)
class Node:
    """A command, or an action of it. ``path`` is what was typed until here.

    ``slots`` are the words for each thing that follows; the last one holds for all behind it when ``repeats``.
    ``values`` are the words behind an option that wants one, empty for a file or a text.
    """

    path: tuple[str, ...]
    children: tuple[Node, ...] = ()
    options: tuple[str, ...] = ()
    values: dict[str, tuple[str, ...]] = field(default_factory=dict)
    slots: tuple[tuple[str, ...], ...] = ()
    repeats: bool = False

    def walk(self) -> Iterator[Node]:
        """This one and all below it."""
        yield self
        for child in self.children:
            yield from child.walk()


def tree_of(parser: argparse.ArgumentParser, path: tuple[str, ...] = (), above: Node | None = None) -> Node:
    """The tree of a parser and all its sub-parsers; the options of the program may stand behind all of them."""
    root = above or Node(())
    children: dict[str, Node] = {}
    options = [*root.options]
    values = {**root.values}
    slots: list[tuple[str, ...]] = []
    repeats = False
    # argparse has no public way to look at what was added. Options come before sub-parsers in it.
    for action in sorted(parser._actions, key=lambda action: isinstance(action, argparse._SubParsersAction)):
        if isinstance(action, argparse._SubParsersAction):
            shared = above or Node((), options=tuple(options), values=values)
            children = {name: tree_of(sub, (*path, name), shared) for name, sub in action.choices.items()}
        elif action.option_strings:
            if action.help is argparse.SUPPRESS:
                continue
            options += action.option_strings
            if action.nargs != 0:
                values |= dict.fromkeys(action.option_strings, _words(action, path))
        else:
            slots.append(_words(action, path))
            repeats = action.nargs in ("*", "+")
    return Node(path, tuple(children.values()), tuple(dict.fromkeys(options)), values, tuple(slots), repeats)


def _words(action: argparse.Action, path: Sequence[str]) -> tuple[str, ...]:
    """What may stand there, as far as it is known."""
    if action.choices is not None and not isinstance(action.choices, range):
        return plain(map(str, action.choices))
    known = _KNOWN.get((" ".join(path), action.dest)) or _KNOWN.get((path[0] if path else "", action.dest))
    return plain(known()) if known is not None else ()


def plain(words: Iterable[str]) -> tuple[str, ...]:
    """Those that need no quotes in any shell, and our own marks."""
    return tuple(word for word in words if _PLAIN.fullmatch(word.removeprefix("@")))


def _settings() -> list[str]:
    return [f"{origin.section}.{origin.key}" for origin in load(None, {}).origins]


def _moods() -> list[str]:
    from appliance.events import Emotion

    return list(Emotion)


def _plugins() -> list[str]:
    return [PLUGINS]


def _nothing() -> list[str]:
    return []


#: (command or command and action, name of the argument) -> its words.
_KNOWN: Mapping[tuple[str, str], Callable[[], Sequence[str]]] = {
    ("config", "words"): lambda: ["set", "unset", "check", *_settings()],
    ("setup", "steps"): lambda: list(STEPS),
    ("models", "names"): lambda: list(known_weights()),
    ("face show", "emotion"): _moods,
    ("plugin", "name"): _plugins,
    ("plugin", "names"): _plugins,
    ("plugin", "plugin"): _plugins,
    # These take a folder or a file, and the first one a name that there is not yet.
    ("plugin new", "name"): _nothing,
    **{(f"plugin {action}", "plugin"): _nothing for action in ("check", "dev", "test", "pack", "sign", "install")},
    ("logs", "plugin"): _plugins,
    ("credential", "words"): _plugins,
    ("tool", "name"): lambda: [TOOLS],
    ("toolset", "name"): lambda: [TOOLSETS],
    ("toolset", "names"): lambda: [TOOLSETS],
    ("chat", "chat"): lambda: [CHATS],
    ("chat", "name"): lambda: [CHATS],
    ("", "set"): lambda: [f"{name}=" for name in _settings()],
}
