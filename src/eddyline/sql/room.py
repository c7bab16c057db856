"""Frames for work that recurses: on the caller's stack if it has enough, else on a thread."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Final, TypeVar

from eddyline.errors import SqlError

T = TypeVar("T")

#: Frames that a statement needs at most which :mod:`eddyline.sql.limits` allows.
FRAMES: Final = 920
#: Bytes of stack of the thread; and those of a caller's thread that are too few.
_STACK: Final = 16 << 20
_SMALL: Final = 256 << 10
_MAKING: Final = threading.Lock()


def with_room(work: Callable[[], T]) -> T:
    """What ``work`` returns or raises; it may recurse through :data:`FRAMES` frames.

    It must not need a lock that its caller holds: it may run on another thread.

    Raises:
        SqlError: Python's recursion limit is too low for the work.
    """
    try:
        return work() if _has_room() else _on_thread(work)
    except RecursionError:
        raise SqlError(
            "the statement is nested too deeply for Python's recursion limit, which is "
            f"{sys.getrecursionlimit()} here: 1000 allows all that Eddyline does"
        ) from None


def _has_room() -> bool:
    """Whether so many frames are left below the recursion limit, and a stack to hold them."""
    if 0 < threading.stack_size() < _SMALL:
        return threading.current_thread() is threading.main_thread() and _frames_left()
    return _frames_left()


def _frames_left() -> bool:
    try:
        sys._getframe(max(0, sys.getrecursionlimit() - FRAMES))
    except ValueError:  # the stack is not that deep
        return True
    return False


def _on_thread(work: Callable[[], T]) -> T:
    results: list[T] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(work())
        except BaseException as e:  # raised again by the caller
            errors.append(e)

    with _MAKING:
        before = threading.stack_size(_STACK)
        try:
            thread = threading.Thread(target=run, name="eddyline-sql", daemon=True)
            thread.start()
        finally:
            threading.stack_size(before)
    thread.join()
    if errors:
        raise errors[0]
    return results[0]
