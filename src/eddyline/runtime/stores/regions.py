"""Regions of numbers, taken and released by their size."""

from __future__ import annotations


class Regions:
    """Regions from 0 on. One that is released is taken again for the same size only.

    Attributes:
        end: all numbers of regions are below this.
    """

    def __init__(self) -> None:
        self.end = 0
        self._free: dict[int, list[int]] = {}  # first numbers, by size

    def take(self, size: int) -> int:
        """The first number of a region of this size."""
        free = self._free.get(size)
        if free:
            return free.pop()
        first, self.end = self.end, self.end + size
        return first

    def release(self, first: int, size: int) -> None:
        """Let a region be taken again."""
        self._free.setdefault(size, []).append(first)
