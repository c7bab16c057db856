"""Arrays that grow, and whose first rows can be dropped, without a copy of the others.

Large arrays are memory mappings. To move rows in them is to move their pages, for which the kernel
changes its page tables only (``mremap``): about a hundredth of the time of a copy. The pages of
dropped rows become room behind the others, so no fresh memory is needed::

    before   | dropped | rows ............... | room |
    after    | rows ............... | room | dropped |

Small arrays are copied, and all arrays on systems without ``mremap``.

The kernel supplies memory when it is first written, page by page. Where rows of very large arrays
are read in any order, huge pages (2 MB) save a fifth of the time, but to get one can take half as
long as a batch. So memory is written in small pages, which the kernel replaces when it has time.
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

_FAILED: Final = ctypes.c_void_p(-1).value
_MAY_MOVE, _FIXED, _KEEP_RANGE = 1, 2, 4  # the last one: the old addresses stay ours, as zeros
_SMALLEST_MOVE: Final = 1 << 20  # bytes; parts of this size are copied if moving them fails
_HUGE_PAGE: Final = 1 << 21
_WITH_HUGE_PAGES: Final = 1 << 23  # bytes


class Buffer:
    """An array of rows of fixed width.

    Args:
        capacity: how many rows there is room for.
        dtype: of an item. shape: of a row; () for one item.
        scattered: whether its rows are read in any order, as those of a hash table.

    Attributes:
        array: [capacity, *shape], at first zeros; ``shift`` and ``take`` may replace it.
    """

    def __init__(
        self, capacity: int, dtype: Any, shape: tuple[int, ...] = (), *, scattered: bool = False
    ) -> None:
        self._dtype, self._shape, self._scattered = np.dtype(dtype), shape, scattered
        self._width = np.dtype((dtype, shape)).itemsize
        self._page = 0  # size of the pages of a large array
        self._offset = 0  # bytes from the start of the pages to the first row
        self._allocate(capacity)

    def shift(self, start: int, end: int, capacity: int) -> None:
        """Move the rows in [start, end) to the front, and make room for ``capacity`` in all."""
        old, pages, offset = self.array, self._pages, self._offset
        by_pages = pages is not None and capacity >= LARGE
        if len(old) != capacity or (by_pages and start):
            self._allocate(capacity, offset + start * self._width if by_pages else None)
        if not by_pages:
            self.array[: end - start] = old[start:end]
        elif self.array is not old:
            assert pages is not None and self._pages is not None, "both arrays are large"
            _move_all(pages, offset + start * self._width - self._offset, self._pages)
            if self._page == _HUGE_PAGE:
                _replace_later(self._pages[: self._offset + (end - start) * self._width])

    def take(self, rows: Array, capacity: int) -> None:
        """Move these rows to the front, in this order, and make room for ``capacity`` in all."""
        kept = self.array[rows]
        if len(self.array) != capacity:
            self._allocate(capacity)
        self.array[: len(kept)] = kept

    def _allocate(self, capacity: int, address: int | None = None) -> None:
        """Make an array of zeros.

        Args:
            address: the first row is to be as far behind the start of a page as this is, so that
                pages can be moved.
        """
        old_page = self._page
        self._pages: Array | None = None
        self._page, self._offset = 0, 0
        if capacity < LARGE:
            self.array: Array = np.zeros((capacity, *self._shape), self._dtype)
            return
        nbytes = capacity * self._width
        huge = self._scattered and nbytes >= _WITH_HUGE_PAGES
        self._page = _HUGE_PAGE if huge else mmap.PAGESIZE
        self._offset = 0 if address is None else address % min(self._page, old_page)
        self._pages = _mapped(self._offset + nbytes, self._page)
        flat = self._pages[self._offset : self._offset + nbytes].view(self._dtype)
        self.array = flat.reshape(capacity, *self._shape)


def roomy(rows: int, capacity: int) -> int:
    """A suitable capacity for ``rows``; the present one, ``capacity``, if it is.

    A small array has as much room as rows, so that each row is copied about once; a very large one,
    of which pages are moved, has less, and gives back what it does not need any more.
    """
    if capacity < LARGE:
        while rows > capacity // 2 and capacity < LARGE:
            capacity *= 2
        if capacity < LARGE:
            return capacity
    elif rows + rows // 8 <= capacity <= max(2 * rows, 2 * LARGE):
        return capacity
    return rows + max(rows // 4, LARGE)


def _mapped(nbytes: int, page: int) -> Array:
    """uint8[n] zeros at whole pages of this size, in a mapping of their own."""
    size = -(-nbytes // page) * page
    reserved = size + (page - mmap.PAGESIZE)
    mapping = mmap.mmap(-1, reserved, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    memory: Array = np.frombuffer(mapping, np.uint8)
    start = -memory.ctypes.data % page
    return memory[start : start + size]


def _replace_later(written: Array) -> None:
    """Let the kernel replace pages that have been written by huge ones, in the background."""
    whole = written.size // _HUGE_PAGE * _HUGE_PAGE
    ctypes.CDLL(None).madvise(
        ctypes.c_void_p(written.ctypes.data), ctypes.c_size_t(whole), mmap.MADV_HUGEPAGE
    )


def _move_all(old: Array, first: int, new: Array) -> None:
    """Move all pages from the byte ``first`` on to the front of new ones; the others follow."""
    source, target = old.ctypes.data, new.ctypes.data
    kept = min(len(old) - first, len(new))
    _move(source + first, target, kept, copied=True)
    _move(source, target + kept, min(first, len(new) - kept), copied=False)


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
        half = nbytes // 2 // mmap.PAGESIZE * mmap.PAGESIZE
        _move(source, target, half, copied=copied)
        _move(source + half, target + half, nbytes - half, copied=copied)
    elif copied:
        ctypes.memmove(target, source, nbytes)


def _mremap() -> _Mremap | None:
    """The system's ``mremap``, if there is one that can do what is needed here (Linux 5.7)."""
    if sys.platform != "linux":
        return None
    function: Any = ctypes.CDLL(None).mremap
    function.restype = ctypes.c_void_p
    size, address = ctypes.c_size_t, ctypes.c_void_p
    function.argtypes = [address, size, size, ctypes.c_int, address]
    old, new = (_mapped(1, mmap.PAGESIZE) for _ in range(2))
    old[0] = 1
    flags = _MAY_MOVE | _FIXED | _KEEP_RANGE
    function(old.ctypes.data, mmap.PAGESIZE, mmap.PAGESIZE, flags, new.ctypes.data)
    works: bool = new[0] == 1 and old[0] == 0
    return function if works else None


_MREMAP: Final = _mremap()
#: Number of rows from which on an array is large.
LARGE: Final = 1 << 18 if _MREMAP is not None else sys.maxsize
