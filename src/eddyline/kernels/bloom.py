"""Bloom filters: whether a key may have been added; if not, it is sure.

Source: Bloom 1970; in Yang and Papadias 2008 section IV-A. The l hash functions are made of two.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from eddyline.kernels.hashing import mix
from eddyline.kernels.options import inlined, kernel

#: Bits that a key sets (l): one key in 400 is taken for another where there are 16 bits for each.
_HASHES: Final = 4
BITS_PER_KEY: Final = 16


@inlined
def _bit(key: Any, number: Any, bits: Any) -> Any:
    """The bit of a key by the hash function of this number."""
    first = mix(key)
    step = mix(first) | 1
    return (first + number * step) & (bits - 1)


@kernel
def add(words: np.ndarray, keys: np.ndarray) -> None:
    """Set the bits of int64[n] keys in int64[2**k] words."""
    for i in range(keys.size):
        for number in range(_HASHES):
            bit = _bit(keys[i], number, 64 * words.size)
            words[bit >> 6] |= np.int64(1) << (bit & 63)


@kernel
def may_hold(words: np.ndarray, keys: np.ndarray, out: np.ndarray) -> None:
    """Set bool[n] ``out`` where a key may have been added; the others stay as they are."""
    for i in range(keys.size):
        held = not out[i]
        number = 0
        while held and number < _HASHES:
            bit = _bit(keys[i], number, 64 * words.size)
            held = (words[bit >> 6] >> (bit & 63)) & 1 == 1
            number += 1
        out[i] |= held
