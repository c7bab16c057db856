"""The Numba options of all kernels."""

from __future__ import annotations

import logging
import os
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, TypeVar, cast

import numba
from numba.core import event

from eddyline.kernels.cache import SharedCache

_log: Final = logging.getLogger(__name__)
F = TypeVar("F", bound=Callable[..., Any])


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


def kernel(function: F) -> F:
    """Compile lazily, once per install (``cache=True``), releasing the GIL while it runs."""
    return _cached(function, nogil=True)


def inlined(function: F) -> F:
    """A helper that is compiled into the kernels that call it."""
    return _cached(function, inline="always")


def bare(function: F) -> F:
    """A part of a kernel that allocates no array, and so need not count references: where it takes
    tuples of arrays, counting is most of the time (docs/decisions/0083-no-references.md).
    """
    return _cached(function, nogil=True, _nrt=False)


def bare_inlined(function: F) -> F:
    """A bare part that the compiler puts into its callers: one that is small or called once."""
    return _cached(function, nogil=True, _nrt=False, forceinline=True)


def _cached(function: F, **options: Any) -> F:
    compiled = numba.njit(error_model="numpy", **options)(function)
    compiled._cache = SharedCache(function)  # ``cache=True`` sets one that is not locked
    return cast(F, compiled)


class _Compilations(event.Listener):
    """Passes the names of kernels that are compiled to ``reports``. Without any, a warning at the
    first kernel says why the call takes so long.
    """

    def __init__(self) -> None:
        self.reports: list[Callable[[str], None]] = []
        self._warned = False

    def on_start(self, event: Any) -> None:
        name = event.data["dispatcher"].py_func
        if not name.__module__.startswith("eddyline."):
            return
        for report in self.reports:
            report(name.__name__)
        if not self.reports and not self._warned:
            self._warned = True
            _log.warning(
                "compiling kernels, which are stored: this takes up to a minute, once per install"
            )

    def on_end(self, event: Any) -> None:
        """Only starts are reported."""


_COMPILATIONS: Final = _Compilations()
event.register("numba:compile", _COMPILATIONS)


@contextmanager
def report_compilations(report: Callable[[str], None]) -> Iterator[None]:
    """Call ``report(kernel_name)`` whenever a kernel has to be compiled inside the block."""
    _COMPILATIONS.reports.append(report)
    try:
        yield
    finally:
        _COMPILATIONS.reports.remove(report)
