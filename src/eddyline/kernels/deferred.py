"""What is compiled when it is needed, and who is told."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any, Final

#: What is told the names of kernels that are compiled.
REPORTS: Final[list[Callable[[str], None]]] = []


class Deferred:
    """What Numba makes of something, once it is needed."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make

    @cached_property
    def made(self) -> Any:
        """What kernels that use it are compiled with."""
        return self._make()


#: What is made of each kernel, by the function that others call.
KERNELS: Final[dict[Callable[..., Any], Deferred]] = {}


@contextmanager
def report_compilations(report: Callable[[str], None]) -> Iterator[None]:
    """Call ``report(kernel_name)`` whenever a kernel has to be compiled inside the block."""
    REPORTS.append(report)
    try:
        yield
    finally:
        REPORTS.remove(report)
