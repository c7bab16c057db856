"""What Numba makes of kernels. To import this module is to import Numba."""

from __future__ import annotations

import logging
import os
import stat
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, Final

import numba
from numba.core import event

from eddyline.kernels.cache import SharedCache
from eddyline.kernels.deferred import KERNELS, REPORTS, Deferred

_log: Final = logging.getLogger(__name__)


def _ensure_cache_directory() -> None:
    """Let Numba store compiled kernels in a temporary directory of this user if it can write
    neither beside this module nor in the user's cache, as in some Spark executors.
    """

    def probe() -> None: ...

    try:
        numba.njit(cache=True)(probe)
    except RuntimeError:  # no directory can be written
        numba.config.CACHE_DIR = str(_own_temporary_directory())  # type: ignore[attr-defined]  # untyped


def _own_temporary_directory() -> Path:
    """The same in all processes of this user, and in none of another: compiled code is executed."""
    path = Path(tempfile.gettempdir(), f"eddyline-kernels-{os.getuid()}")
    path.mkdir(0o700, exist_ok=True)
    found = path.lstat()
    if stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o077:
        return path
    return Path(tempfile.mkdtemp(prefix="eddyline-kernels-"))


_ensure_cache_directory()


def compiled(function: Callable[..., Any], options: dict[str, Any]) -> Any:
    """A function that is compiled for the types of its arguments when it is called with them, or
    loaded if that has been done on this machine.
    """
    found = numba.njit(error_model="numpy", **options)(function)
    # ``cache=True`` sets one that is not locked
    found._cache = SharedCache(function, lambda: _link(function))
    return found


def _link(function: Any) -> None:
    """Give a function that is to be compiled, and those that it calls, what Numba has made of the
    names that they use.
    """
    scope = function.__globals__
    for name in _names(function.__code__):
        used = scope.get(name)
        deferred = KERNELS.get(used) if isinstance(used, FunctionType) else used
        if isinstance(deferred, Deferred):
            scope[name] = deferred.made
            if used is not deferred:
                _link(used.__wrapped__)


def _names(code: CodeType) -> Iterator[str]:
    """The names that a function uses, and those of functions and comprehensions in it."""
    yield from code.co_names
    for part in code.co_consts:
        if isinstance(part, CodeType):
            yield from _names(part)


class _Compilations(event.Listener):
    """Passes the names of kernels that are compiled to ``REPORTS``. Without any, a warning at the
    first kernel says why the call takes so long.
    """

    def __init__(self) -> None:
        self._warned = False

    def on_start(self, event: Any) -> None:
        name = event.data["dispatcher"].py_func
        if not name.__module__.startswith("eddyline."):
            return
        for report in REPORTS:
            report(name.__name__)
        if not REPORTS and not self._warned:
            self._warned = True
            _log.warning(
                "compiling kernels, which are stored: seconds for a kind of query, once per install"
            )

    def on_end(self, event: Any) -> None:
        """Only starts are reported."""


event.register("numba:compile", _Compilations())
