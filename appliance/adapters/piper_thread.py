"""A thread with one thing on it that is slow to make and must not be used from two threads, such as a voice."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Generic, TypeVar

from appliance.errors import SynthesisError
from appliance.promptness import step_back

T = TypeVar("T")
V = TypeVar("V")


class VoiceThread(Generic[V]):
    """Work waits for its turn; ``load`` is called with the first of it, on the thread."""

    def __init__(self, load: Callable[[], V]) -> None:
        self._load = load
        self._voice: V | None = None
        self._is_at_work = False
        self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="piper", initializer=step_back)

    @property
    def is_at_work(self) -> bool:
        """Whether something runs on it right now."""
        return self._is_at_work

    def voice(self) -> V:
        """What ``load`` gave; on the thread."""
        if self._voice is None:
            self._voice = self._load()
        return self._voice

    def run(self, work: Callable[[], T]) -> asyncio.Future[T]:
        """Have ``work`` done. Raises ``SynthesisError`` when the thread was given back."""
        try:
            return asyncio.get_running_loop().run_in_executor(self._executor, self._watched, work)
        except RuntimeError as error:
            raise SynthesisError("the voice is closed") from error

    def give_back(self, *, wait: bool = False) -> None:
        """What runs on it is finished, what waits is dropped."""
        self._executor.shutdown(wait=wait, cancel_futures=True)

    def _watched(self, work: Callable[[], T]) -> T:
        self._is_at_work = True
        try:
            return work()
        finally:
            self._is_at_work = False
