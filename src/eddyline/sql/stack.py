"""Calls with enough stack frames for recursion, on another thread if the caller's has too few."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Final, TypeVar

from eddyline.errors import SqlError

T = TypeVar("T")

#: Maximum number of frames for a statement within :mod:`eddyline.sql.limits`.
FRAMES: Final = 920
#: Stack size of the new thread, and the smallest one of a caller's thread that is used; in bytes.
_STACK: Final = 16 << 20
_SMALL: Final = 256 << 10
_MAKING: Final = threading.Lock()


def with_stack(work: Callable[[], T]) -> T:
    """The result of ``work``, which may recurse through :data:`FRAMES` frames.

    ``work`` must not need a lock that its caller holds: it may run on another thread.

    Raises:
        SqlError: Python's recursion limit is too low. Any error of ``work``.
    """
    try:
        return work() if _has_room() else _on_thread(work)
    except RecursionError:
        raise SqlError(
            "the statement is nested too deeply for Python's recursion limit, which is "
            f"{sys.getrecursionlimit()} here: set it to 1000 or more"
        ) from None


def _has_room() -> bool:
    """Whether the recursion limit and the stack size of this thread leave enough frames."""
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
