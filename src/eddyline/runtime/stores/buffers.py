"""Arrays that grow, and whose first rows can be dropped, without a copy of the others.

Large arrays are memory mappings. To move rows in them is to move their pages, for which the kernel
changes its page tables only (``mremap``); that takes about a hundredth of the time of a copy. The
pages of dropped rows become room behind the others, so no fresh memory is needed::

    before   | dropped | rows ............... | room |
    after    | rows ............... | room | dropped |

Small arrays are copied, and all arrays on systems without ``mremap``.
"""

from __future__ import annotations

import ctypes
import mmap
import sys
from collections.abc import Callable
from typing import Any, Final

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]
_Mremap = Callable[[int, int, int, int, int], int]

#: Rows that a large array drops at once: whole pages, whatever the width of a row.
BLOCK: Final = 1 << 16
_FAILED: Final = ctypes.c_void_p(-1).value
_MAY_MOVE, _FIXED, _KEEP_RANGE = 1, 2, 4  # the last one: the old addresses stay ours, as zeros
_SMALLEST_MOVE: Final = 1 << 20  # bytes; parts of this size are copied if moving them fails


class Buffer:
    """An array of rows of fixed width.

    Args:
        capacity: how many rows there is room for.
        dtype: of an item. shape: of a row; () for one item.

    Attributes:
        array: [capacity, *shape], at first zeros; ``shift`` and ``take`` may replace it.
    """

    def __init__(self, capacity: int, dtype: Any, shape: tuple[int, ...] = ()) -> None:
        self.array = zeros(capacity, dtype, shape)

    def shift(self, start: int, end: int, capacity: int) -> None:
        """Move the rows in [start, end) to the front, and make room for ``capacity`` in all.

        Args:
            start: large arrays drop whole blocks, see ``droppable``.
        """
        old = self.array
        pages = len(old) >= LARGE and capacity >= LARGE
        if len(old) != capacity or (pages and start):
            self.array = zeros(capacity, old.dtype, old.shape[1:])
        if not pages:
            self.array[: end - start] = old[start:end]
        elif self.array is not old:
            _move_pages(old, start, self.array)

    def take(self, rows: Array, capacity: int) -> None:
        """Move these rows to the front, in this order, and make room for ``capacity`` in all."""
        kept = self.array[rows]
        if len(self.array) != capacity:
            self.array = zeros(capacity, kept.dtype, kept.shape[1:])
        self.array[: len(kept)] = kept


def zeros(capacity: int, dtype: Any, shape: tuple[int, ...] = ()) -> Array:
    """Zeros [capacity, *shape], in a mapping of their own if they are many."""
    if capacity < LARGE:
        return np.zeros((capacity, *shape), dtype)
    nbytes = capacity * np.dtype((dtype, shape)).itemsize
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
    flat: Array = np.frombuffer(mmap.mmap(-1, _whole_pages(nbytes), flags=flags), dtype)
    return flat[: nbytes // flat.itemsize].reshape(capacity, *shape)


def droppable(rows: int, capacity: int) -> int:
    """How many of the first ``rows`` an array can drop: whole blocks of a large one."""
    return rows if capacity < LARGE else rows - rows % BLOCK


def roomy(rows: int, capacity: int) -> int:
    """A capacity for so many rows: ``capacity``, if that is suitable.

    A small array has as much room as rows, so that each row is copied about once; a large one, of
    which pages are moved, has less, and gives back what it does not need any more.
    """
    if capacity < LARGE:
        while rows > capacity // 2 and capacity < LARGE:
            capacity *= 2
        if capacity < LARGE:
            return capacity
    elif rows + rows // 8 <= capacity <= max(4 * rows, LARGE):
        return capacity
    return max(LARGE, (rows + rows // 4) // BLOCK * BLOCK + BLOCK)


def _move_pages(old: Array, start: int, new: Array) -> None:
    """Move all pages from the row ``start`` on to the front of a new array; the others follow."""
    room, first = _whole_pages(new.nbytes), start * old.strides[0]
    source, target = old.ctypes.data, new.ctypes.data
    kept = min(_whole_pages(old.nbytes) - first, room)
    _move(source + first, target, kept, copied=True)
    _move(source, target + kept, min(first, room - kept), copied=False)


def _move(source: int, target: int, nbytes: int, *, copied: bool) -> None:
    """Move whole pages; in parts, if they are not one mapping for the kernel.

    Args:
        copied: whether what cannot be moved is copied.
    """
    if nbytes == 0:
        return
    assert _MREMAP is not None, "there are no large arrays without it"
    flags = _MAY_MOVE | _FIXED | _KEEP_RANGE
    if _MREMAP(source, nbytes, nbytes, flags, target) != _FAILED:
        return
    if nbytes > _SMALLEST_MOVE:
        half = _whole_pages(nbytes // 2)
        _move(source, target, half, copied=copied)
        _move(source + half, target + half, nbytes - half, copied=copied)
    elif copied:
        ctypes.memmove(target, source, nbytes)


def _whole_pages(nbytes: int) -> int:
    return -(-nbytes // mmap.PAGESIZE) * mmap.PAGESIZE


def _mremap() -> _Mremap | None:
    """The system's ``mremap``, if there is one that can do what is needed here (Linux 5.7)."""
    if sys.platform != "linux" or mmap.PAGESIZE > BLOCK:
        return None
    function = ctypes.CDLL(None).mremap
    function.restype = ctypes.c_void_p
    size, address = ctypes.c_size_t, ctypes.c_void_p
    function.argtypes = [address, size, size, ctypes.c_int, address]
    pages = [
        np.frombuffer(mmap.mmap(-1, mmap.PAGESIZE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS))
        for _ in range(2)
    ]
    pages[0][0] = 1
    flags = _MAY_MOVE | _FIXED | _KEEP_RANGE
    function(pages[0].ctypes.data, mmap.PAGESIZE, mmap.PAGESIZE, flags, pages[1].ctypes.data)
    return function if pages[1][0] == 1 and pages[0][0] == 0 else None


_MREMAP: Final = _mremap()
#: Arrays with at least so many rows are large.
LARGE: Final = 2 * BLOCK if _MREMAP is not None else sys.maxsize
