"""Sizes of the axes of a grid: how many coordinates each class of join keys gets.

A row is copied along the axes for which it has no key. With n cells, the rows that each of them
gets, and so what one core has to do, are ``sum(rate * copies) / n``: this is minimised, with
``n <= shards``. For a fixed number of cells it is the total number of rows sent, the cost of Afrati
and Ullman 2010, "Optimizing joins in a map-reduce environment".
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final, TypeAlias

import numpy as np

#: Number of coordinates of each axis.
Sizes: TypeAlias = tuple[int, ...]

#: Up to this number of shards and axes all sizes are tried.
EXHAUSTIVE_SHARDS: Final = 64
_EXHAUSTIVE_AXES: Final = 6
_STEPS: Final = 400


@lru_cache(maxsize=4096)
def choose_sizes(
    rates: tuple[float, ...],
    copied: tuple[frozenset[int], ...],
    limits: tuple[int, ...],
    shards: int,
) -> Sizes:
    """The sizes of axes with the fewest rows per cell.

    Of equal ones those with the most cells, then those with the fewest axes, then those in which
    earlier axes are larger.

    Args:
        rates: rows per second of each input.
        copied: for each axis the inputs that are copied along it.
        limits: the largest size of each axis.
        shards: the largest number of cells.

    >>> one, two = frozenset({1}), frozenset({0})
    >>> choose_sizes((1.0, 1.0), (one, two), (16, 16), 16)
    (4, 4)
    """
    exhaustive = shards <= EXHAUSTIVE_SHARDS and len(limits) <= _EXHAUSTIVE_AXES
    if exhaustive:
        return min(_all_sizes(limits, shards), key=lambda s: _rank(s, rates, copied))
    return _improved(_relaxed(rates, copied, limits, shards), rates, copied, limits, shards)


def rows_sent(sizes: Sizes, rates: Sequence[float], copied: Sequence[frozenset[int]]) -> float:
    """Rows per second that are sent to all cells together."""
    return sum(
        rate * math.prod(size for size, c in zip(sizes, copied, strict=True) if i in c)
        for i, rate in enumerate(rates)
    )


def _rank(
    sizes: Sizes, rates: Sequence[float], copied: Sequence[frozenset[int]]
) -> tuple[float, int, int, Sizes]:
    """Smaller is better."""
    cells = math.prod(sizes)
    load = rows_sent(sizes, rates, copied) / cells
    used = sum(size > 1 for size in sizes)
    return float(f"{load:.9g}"), -cells, used, tuple(-size for size in sizes)


def _all_sizes(limits: Sequence[int], shards: int) -> Iterator[Sizes]:
    if not limits:
        yield ()
        return
    for size in range(1, min(limits[0], shards) + 1):
        for others in _all_sizes(limits[1:], shards // size):
            yield (size, *others)


def _relaxed(
    rates: Sequence[float], copied: Sequence[frozenset[int]], limits: Sequence[int], shards: int
) -> Sizes:
    """Sizes from real numbers whose product is the number of shards, rounded down.

    In logarithms of the sizes the rows sent are convex. Where they are least, each axis larger than
    1 copies the same number of rows (the Lagrange conditions); exponentiated gradient steps on the
    shares of log(shards) get there.
    """
    whole = math.log(shards)
    along = np.array([[i in c for c in copied] for i in range(len(rates))], float)
    weights = np.maximum(np.array(rates, float), 1e-9)
    share = np.full(len(limits), 1 / len(limits))
    for step in range(_STEPS):
        sent = weights * np.exp(along @ share * whole)
        gradient = along.T @ sent / sent.sum() * whole
        share = share * np.exp(-2.0 / math.sqrt(1 + step) * (gradient - gradient.min()))
        share /= share.sum()
    sizes = np.floor(np.exp(share * whole) + 1e-6).astype(int)
    return tuple(int(max(1, min(s, limit))) for s, limit in zip(sizes, limits, strict=True))


def _improved(
    sizes: Sizes,
    rates: Sequence[float],
    copied: Sequence[frozenset[int]],
    limits: Sequence[int],
    shards: int,
) -> Sizes:
    """Sizes that no change of one or two axes improves."""
    best = _rank(sizes, rates, copied)
    while True:
        ranked = [(_rank(s, rates, copied), s) for s in _neighbours(sizes, limits, shards)]
        rank, found = min(ranked, default=(best, sizes))
        if rank >= best:
            return sizes
        best, sizes = rank, found


def _neighbours(sizes: Sizes, limits: Sequence[int], shards: int) -> Iterator[Sizes]:
    """Sizes in which one axis has another size and one other axis the largest that is left."""
    cells = math.prod(sizes)
    for i, size in enumerate(sizes):
        for changed in {1, size - 1, size + 1, size * 2, size // 2}:
            if not 1 <= changed <= limits[i]:
                continue
            rest = cells // size * changed
            if rest <= shards:
                yield (*sizes[:i], changed, *sizes[i + 1 :])
            for j, other in enumerate(sizes):
                if j == i:
                    continue
                largest = min(limits[j], shards // (rest // other))
                if largest >= 1:
                    found = [*sizes]
                    found[i], found[j] = changed, largest
                    yield tuple(found)
