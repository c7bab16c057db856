"""The store of compiled kernels, which all processes of a machine share.

A compiled kernel contains the kernels that it calls, and constants of other modules. So it is valid
as long as the text of its module and of those that this one imports is the same.

Of several processes that need a kernel for the first time, such as the Python workers of a job, one
compiles it; the others wait and load it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import Any, Final
from zlib import crc32

from numba.core import event
from numba.core.caching import FunctionCache, IndexDataCacheFile

try:
    from fcntl import LOCK_EX, LOCK_UN, lockf
except ImportError:  # not on Windows: each process compiles
    lockf = None  # type: ignore[assignment]

_FILE = "kernels.lock"
_IMPORTS: Final = re.compile(r"^from (eddyline\.\w+(?:\.\w+)*) import", re.MULTILINE)


@cache
def _source(module: str) -> str:
    """The text of a module, which may be in an archive."""
    loader: Any = import_module(module).__loader__
    text: str | None = loader.get_source(module)
    assert text is not None, f"{module} was installed without its text"
    return text


@cache
def stamp_of(module: str) -> str:
    """Says in which state a module is, and those that it imports."""
    modules, waiting = set[str](), [module]
    while waiting:
        name = waiting.pop()
        if name not in modules:
            modules.add(name)
            waiting += _IMPORTS.findall(_source(name))
    state = sha256()
    for name in sorted(modules):
        state.update(f"{name} {_source(name)}".encode())
    return state.hexdigest()


class _Locks:
    """Locks of a directory: ranges of one file, which the system releases when a process ends."""

    def __init__(self, directory: Path) -> None:
        self._path = directory / _FILE
        self._file: int | None = None
        self._held: set[int] = set()

    def acquire(self, number: int) -> None:
        """Wait for a lock that this process does not hold. Without locks (the system has none for
        this file, or two processes would wait for each other) nothing is awaited.
        """
        if number in self._held or lockf is None:
            return
        with suppress(OSError):
            if self._file is None:
                self._file = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o644)
            lockf(self._file, LOCK_EX, 1, number)
            self._held.add(number)

    def release(self, number: int) -> None:
        """Give a lock back that may be held."""
        if number in self._held:
            self._held.remove(number)
            assert self._file is not None, "it is locked"
            lockf(self._file, LOCK_UN, 1, number)


_LOCKS_OF: dict[Path, _Locks] = {}


class SharedCache(FunctionCache):
    """The stored versions of one kernel, which are locked from a look-up that fails until a version
    has been stored.

    Args:
        link: called before the kernel is compiled.
    """

    def __init__(self, function: Any, link: Callable[[], None]) -> None:
        super().__init__(function)
        self._cache_file = IndexDataCacheFile(
            self._cache_path, self._impl.filename_base, stamp_of(function.__module__)
        )
        self._link = link
        directory = Path(self.cache_path)
        self._locks = _LOCKS_OF.setdefault(directory, _Locks(directory))
        self._number = crc32(self._impl.filename_base.encode())

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        found = super().load_overload(sig, target_context)
        if found is None:
            self._impl.locator.ensure_cache_path()
            self._locks.acquire(self._number)
            found = super().load_overload(sig, target_context)
            if found is not None:
                self.release()
            else:
                self._link()
        return found

    def save_overload(self, sig: Any, data: Any) -> None:
        try:
            super().save_overload(sig, data)
        finally:
            self.release()

    def release(self) -> None:
        """Let other processes compile the kernel."""
        self._locks.release(self._number)


class _Failures(event.Listener):
    """Releases kernels that could not be compiled."""

    def on_start(self, event: Any) -> None:
        """Nothing to do."""

    def on_end(self, event: Any) -> None:
        cache = event.data["dispatcher"]._cache
        has_failed = event._exc_details is not None  # ``is_failed`` of Numba 0.68 is the opposite
        if has_failed and isinstance(cache, SharedCache):
            cache.release()


event.register("numba:compile", _Failures())
