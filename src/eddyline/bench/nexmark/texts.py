"""Columns of random texts, made as bytes and not text by text."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

Lengths = npt.NDArray[np.int64]

_A: Final = ord("a")
_LETTERS: Final = 26


def letters(random: np.random.Generator, lengths: Lengths) -> pa.Array:
    """Texts of the letters a-z, of the given numbers of characters."""
    drawn = random.integers(_A, _A + _LETTERS, int(lengths.sum()), dtype=np.uint8)
    return _texts(drawn, lengths)


def sentences(random: np.random.Generator, rows: int, longest: int) -> pa.Array:
    """Texts of 3 to ``longest`` characters a-z, of which one in 13 is a blank; none at the ends."""
    lengths = 3 + random.integers(0, longest - 3, rows)
    size = int(lengths.sum())
    drawn = random.integers(_A, _A + _LETTERS, size, dtype=np.uint8)
    drawn[random.random(size) < 1 / 13] = ord(" ")
    return pc.utf8_trim(_texts(drawn, lengths), " ")


def filler(random: np.random.Generator, present: Lengths, average: int) -> pa.Array:
    """Letters that bring rows of ``present`` bytes to ``average`` ones, a fifth more or less."""
    missing = np.maximum(average - present, 0)
    spread = np.rint(missing * 0.2).astype(np.int64)
    return letters(random, missing - spread + random.integers(0, np.maximum(2 * spread, 1)))


def emails(random: np.random.Generator, rows: int) -> pa.Array:
    """Addresses such as ``abcdefg@hijkl.com``."""
    drawn = np.empty((rows, 17), np.uint8)
    drawn[:, :13] = random.integers(_A, _A + _LETTERS, (rows, 13), dtype=np.uint8)
    drawn[:, 7] = ord("@")
    drawn[:, 13:] = np.frombuffer(b".com", np.uint8)
    return _texts(drawn.reshape(-1), np.full(rows, 17))


def credit_cards(random: np.random.Generator, rows: int) -> pa.Array:
    """Four groups of four digits."""
    drawn = random.integers(ord("0"), ord("9") + 1, (rows, 19), dtype=np.uint8)
    drawn[:, 4::5] = ord(" ")
    return _texts(drawn.reshape(-1), np.full(rows, 19))


def _texts(characters: npt.NDArray[np.uint8], lengths: Lengths) -> pa.Array:
    ends = np.zeros(len(lengths) + 1, np.int32)
    np.cumsum(lengths, out=ends[1:])
    return pa.StringArray.from_buffers(
        len(lengths), pa.py_buffer(ends), pa.py_buffer(np.ascontiguousarray(characters))
    )
