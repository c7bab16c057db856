"""Where bids come from: four channels with half of them, ten thousand with the rest."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from eddyline.bench.nexmark.texts import letters

_HOT: Final = ("Google", "Facebook", "Baidu", "Apple")
_OTHERS: Final = 10_000


class Channels:
    """The names of all channels and their addresses; those of the four hot ones come first."""

    def __init__(self, seed: int) -> None:
        random = np.random.default_rng([seed, 1])
        numbers = np.arange(_OTHERS)
        others = pc.binary_join_element_wise("channel-", pa.array(numbers).cast(pa.string()), "")
        self._names = pa.concat_arrays([pa.array(_HOT), others])
        count = len(_HOT) + _OTHERS
        words = [letters(random, random.integers(3, 5, count)) for _ in range(3)]
        pages = pc.binary_join_element_wise("https://www.nexmark.com", *words, "item.htm", "/")
        ids = np.concatenate([np.zeros(len(_HOT), np.int64), _reversed_bits(numbers)])
        named = np.concatenate([np.zeros(len(_HOT), bool), random.random(_OTHERS) < 0.9])
        query = pc.binary_join_element_wise(
            "?query=1&channel_id=", pa.array(ids).cast("string"), ""
        )
        self._urls = pc.binary_join_element_wise(
            pages, pc.if_else(pa.array(named), query, "?query=1"), ""
        )

    def drawn(self, random: np.random.Generator, rows: int) -> tuple[pa.Array, pa.Array]:
        """``channel`` and ``url`` of as many bids."""
        other = len(_HOT) + random.integers(0, _OTHERS, rows)
        chosen = pa.array(
            np.where(random.random(rows) < 0.5, random.integers(0, len(_HOT), rows), other)
        )
        return self._names.take(chosen), self._urls.take(chosen)


def _reversed_bits(numbers: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Absolute values of the numbers with their 32 bits in reverse order, as signed integers."""
    octets = numbers.astype(">u4").view(np.uint8).reshape(-1, 4)
    bits = np.unpackbits(octets, axis=1)[:, ::-1]
    signed = np.packbits(bits, axis=1).view(">i4").reshape(-1)
    return np.abs(signed.astype(np.int64))
