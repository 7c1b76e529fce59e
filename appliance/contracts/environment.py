"""The environment as plugins see it: their own keys are in it, and those of other plugins are not.

``os.getenv`` knows one environment for the whole process. What the owner kept for one plugin is therefore not put
there: it is shown while code of that plugin asks, also from the tasks and ``asyncio.to_thread`` threads of its calls.
A child process gets it only if the plugin hands it on (``env={**os.environ}``).

It keeps keys apart by mistake, not by force: plugins share our memory, a thread that a plugin made by itself carries
no name and sees no key, and what was in the real environment of the process everybody sees.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping

from appliance.contracts.plugin_call import current_plugin

#: The keys of a plugin, by its name.
KeysOf = Callable[[str], Mapping[str, str]]


class PluginEnvironment(os._Environ[str]):
    """Stands in for ``os.environ``; what is set in it is set in the real one."""

    def __init__(self, real: os._Environ[str], keys_of: KeysOf) -> None:
        coding = (real.encodekey, real.decodekey, real.encodevalue, real.decodevalue)
        super().__init__(vars(real)["_data"], *coding)
        self._real = real
        self._keys_of = keys_of

    @classmethod
    def install(cls, keys_of: KeysOf) -> PluginEnvironment:
        """Take the place of ``os.environ`` until ``remove``."""
        environment = cls(os.environ, keys_of)
        os.environ = environment  # noqa: B003 - the same data, seen through this
        return environment

    def remove(self) -> None:
        """Put the real one back, unless somebody else has replaced it meanwhile."""
        if os.environ is self:
            os.environ = self._real  # noqa: B003

    def __getitem__(self, key: str) -> str:
        own = self._own.get(key)
        return own if own is not None else super().__getitem__(key)

    def __contains__(self, key: object) -> bool:
        return key in self._own or key in self._real

    def __iter__(self) -> Iterator[str]:
        own = self._own
        yield from own
        yield from (key for key in super().__iter__() if key not in own)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    @property
    def _own(self) -> Mapping[str, str]:
        plugin = current_plugin()
        return self._keys_of(plugin) if plugin else {}
