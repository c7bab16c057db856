"""Kernels: functions that Numba compiles when they are called for the first time.

Numba, which takes a fifth of a second and 60 MB, is imported then, and only kernels that are called
have anything made of them (:mod:`eddyline.kernels.compiler`).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

from eddyline.kernels.deferred import KERNELS, Deferred

F = TypeVar("F", bound=Callable[..., Any])


def _deferred(function: F, **options: Any) -> F:
    """The kernel of a function. A class with ``__call__`` would take four times as long to pass a
    call on.
    """

    def compile_lazily() -> Any:
        from eddyline.kernels.compiler import compiled  # imports Numba

        return compiled(function, options)

    deferred, made = Deferred(compile_lazily), None

    @wraps(function)
    def call(*args: Any) -> Any:
        nonlocal made
        if made is None:
            made = deferred.made
        return made(*args)

    KERNELS[call] = deferred
    return cast(F, call)


def kernel(function: F) -> F:
    """Compile lazily, once per install, releasing the GIL while it runs."""
    return _deferred(function, nogil=True)


def inlined(function: F) -> F:
    """A helper that is compiled into the kernels that call it."""
    return _deferred(function, inline="always")


def bare(function: F) -> F:
    """A part of a kernel that allocates no array, and so need not count references: where it takes
    tuples of arrays, counting is most of the time (docs/decisions/0083-no-references.md).
    """
    return _deferred(function, nogil=True, _nrt=False)


def bare_inlined(function: F) -> F:
    """A bare part that the compiler puts into its callers: one that is small or called once."""
    return _deferred(function, nogil=True, _nrt=False, forceinline=True)
