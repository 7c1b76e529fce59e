"""Work for a thread, done at once: in a world whose time a test moves, no real thread may be waited for."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

T = TypeVar("T")


class PromptExecutor(ThreadPoolExecutor):
    """Made for ``loop.set_default_executor``, which takes nothing but this kind."""

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        """Do it here and now."""
        future: Future[T] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future
