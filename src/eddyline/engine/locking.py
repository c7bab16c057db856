"""The lock of an engine: its methods run on one thread at a time."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from functools import wraps
from threading import RLock, get_ident
from typing import Concatenate, ParamSpec, Protocol, TypeVar, cast

from eddyline.errors import StateError

P = ParamSpec("P")
T = TypeVar("T")


class EngineLock:
    """A lock on an engine and its queries. It is not reentrant: a user-defined function that calls
    its own engine gets an error.
    """

    def __init__(self) -> None:
        self._lock = RLock()
        self._holder: int | None = None

    def __enter__(self) -> None:
        if self._holder == get_ident():
            raise StateError(
                "the engine is called from inside one of its own calls, perhaps by a function of a "
                "query: call it after that call has returned"
            )
        self._lock.acquire()
        self._holder = get_ident()

    def __exit__(self, *_: object) -> None:
        self._holder = None
        self._lock.release()

    def each(self, steps: Iterator[T]) -> Generator[T, None, None]:
        """The items of ``steps``; the lock is held while an item is computed."""
        try:
            while True:
                with self:
                    try:
                        item = next(steps)
                    except StopIteration:
                        return
                yield item
        finally:
            close = getattr(steps, "close", None)
            if close is not None:
                with self:
                    close()


class Lockable(Protocol):
    """An engine, or an object that belongs to one."""

    @property
    def lock(self) -> EngineLock:
        """The engine's lock."""


S = TypeVar("S", bound=Lockable)


def locked(
    method: Callable[Concatenate[S, P], T],
) -> Callable[Concatenate[S, P], T]:
    """A method that holds the engine's lock."""

    @wraps(method)
    def holding(self: S, *args: P.args, **kwargs: P.kwargs) -> T:
        with self.lock:
            return method(self, *args, **kwargs)

    return cast(Callable[Concatenate[S, P], T], holding)
