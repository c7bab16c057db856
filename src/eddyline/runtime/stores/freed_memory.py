"""Freed memory that the process keeps for the next chunk of rows.

A chunk needs some hundred MB for its results, and frees them. The C library of Linux returns such
memory to the system at once if it is at the end of the heap, and the next chunk faults its pages in
again: a third of the time of a join with many results. See docs/decisions/0042-freed-memory.md.
"""

from __future__ import annotations

import ctypes
import os
import sys
from functools import cache
from typing import Final

#: Number of bytes at the end of the heap that are kept.
KEPT_BYTES: Final = 128 << 20
#: Larger pieces of memory are mapped on their own, and unmapped when they are freed; it is the
#: largest limit that the C library sets by itself.
_MAPPED_BYTES: Final = 32 << 20
#: Of malloc.h.
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
#: By these a user has set limits.
_VARIABLES: Final = ("MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_", "GLIBC_TUNABLES")


@cache
def keep_freed_memory() -> bool:
    """Set the limits for this process, once; returns whether that was done.

    Not on other systems, or if an environment variable sets limits of the C library.
    """
    if sys.platform != "linux" or any(name in os.environ for name in _VARIABLES):
        return False
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is None:
        return False
    return bool(mallopt(_MMAP_THRESHOLD, _MAPPED_BYTES) and mallopt(_TRIM_THRESHOLD, KEPT_BYTES))
