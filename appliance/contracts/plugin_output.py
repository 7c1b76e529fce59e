"""Keeps what plugins print out of the terminal: it goes to the log, under the plugin's name."""

from __future__ import annotations

import logging
import sys
from typing import Any, TextIO

from appliance.contracts.plugin_call import current_plugin
from appliance.tools.current_chat import is_private_call

#: What a plugin prints without a line end is logged once it is this long.
_LONGEST_LINE = 2000


class PluginOutput:
    """Stands in for ``sys.stdout``; only plugin code is affected. What is printed in a private chat goes nowhere.

    Code in a thread that a plugin made by itself (not with ``asyncio.to_thread``) carries no name and is missed.
    """

    def __init__(self, terminal: TextIO) -> None:
        self._terminal = terminal
        self._unfinished: dict[str, str] = {}

    @classmethod
    def install(cls) -> PluginOutput:
        """Take the place of ``sys.stdout`` until ``remove``."""
        output = cls(sys.stdout)
        sys.stdout = output
        return output

    def remove(self) -> None:
        """Put the terminal back, unless somebody else has replaced it meanwhile."""
        if sys.stdout is self:
            sys.stdout = self._terminal

    def write(self, text: str) -> int:
        """As a file does."""
        plugin = current_plugin()
        if not plugin:
            return self._terminal.write(text)
        *lines, rest = (self._unfinished.get(plugin, "") + text).split("\n")
        if len(rest) > _LONGEST_LINE:
            lines, rest = [*lines, rest], ""
        self._unfinished[plugin] = rest
        for line in filter(None, [] if is_private_call() else lines):
            logging.getLogger(f"plugin.{plugin}").info("%s", line[:_LONGEST_LINE])
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._terminal, name)
