"""Batches, attributes and lineage for tests of the eddy."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from eddyline.runtime.batch import Batch
from eddyline.runtime.predicates.filter_bank import Attribute


def batch_of(*columns: pa.Array) -> Batch:
    """A batch with these columns."""
    n = len(columns[0])
    zeros = np.zeros(n, np.int64)
    return Batch(zeros, zeros, zeros, np.ones(n, np.int8), (zeros,), (None,), columns)


def column(index: int, type_: pa.DataType) -> Attribute:
    """A column of the batch as an attribute."""
    return Attribute(index, f"c{index}", type_, lambda b: b.column(index), plain=True, column=index)


def mask_of(bits: Iterable[int], words: int) -> np.ndarray:
    """uint64[words] with these bits set."""
    mask = np.zeros(words, np.uint64)
    for bit in bits:
        mask[bit >> 6] |= np.uint64(1 << (bit & 63))
    return mask


def lineage_of(rows: Sequence[Iterable[int]], words: int) -> np.ndarray:
    """uint64[n, words]: the bits set in each row."""
    return np.array([mask_of(bits, words) for bits in rows], np.uint64).reshape(-1, words)


def bits_of(lineage: np.ndarray) -> list[set[int]]:
    """The bits set in each row."""

    def bits(row: Any) -> set[int]:
        words = enumerate(row.tolist())
        return {64 * w + b for w, word in words for b in range(64) if word >> b & 1}

    return [bits(row) for row in lineage]
