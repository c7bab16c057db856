"""One caller at a time: what keeps threads out of each other's way in an engine."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import wraps
from threading import RLock, get_ident
from typing import Concatenate, ParamSpec, Protocol, TypeVar, cast

from eddyline.errors import StateError

P = ParamSpec("P")
T = TypeVar("T")


class Turns:
    """A lock on an engine and all that belongs to it.

    Threads wait for each other. What runs inside an engine, a function of a user's, cannot call it:
    that is an error rather than a wait without end.
    """

    def __init__(self) -> None:
        self._lock = RLock()
        self._holder: int | None = None

    def __enter__(self) -> None:
        if self._holder == get_ident():
            raise StateError(
                "the engine is called from inside one of its own calls, perhaps by a function of a "
                "query: call it when that call has returned"
            )
        self._lock.acquire()
        self._holder = get_ident()

    def __exit__(self, *_: object) -> None:
        self._holder = None
        self._lock.release()

    def each(self, steps: Iterator[T]) -> Iterator[T]:
        """The same items, each made in a turn of its own."""
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


class TakesTurns(Protocol):
    """What belongs to an engine."""

    @property
    def turns(self) -> Turns:
        """Of the engine."""


S = TypeVar("S", bound=TakesTurns)


def in_turn(
    method: Callable[Concatenate[S, P], T],
) -> Callable[Concatenate[S, P], T]:
    """Let a method wait until no other thread is in the engine."""

    @wraps(method)
    def waiting(self: S, *args: P.args, **kwargs: P.kwargs) -> T:
        with self.turns:
            return method(self, *args, **kwargs)

    return cast(Callable[Concatenate[S, P], T], waiting)
