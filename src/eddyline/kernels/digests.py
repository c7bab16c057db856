"""Message digests and checksums of texts: MD5, SHA-1, SHA-2 (RFC 1321, FIPS 180-4) and CRC-32.

The bytes of text i are ``data[bounds[i]:bounds[i + 1]]``. Words are in uint64, of 32-bit digests in
the lower half.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from eddyline.kernels.copies import put
from eddyline.kernels.options import bare, inlined, kernel

_MASK: Final = np.uint64(0xFFFFFFFF)
_MD5_SINES: Final = np.array([int(abs(math.sin(i + 1)) * 2**32) for i in range(64)], np.uint64)
_MD5_SHIFTS: Final = np.array(
    [7, 12, 17, 22] * 4 + [5, 9, 14, 20] * 4 + [4, 11, 16, 23] * 4 + [6, 10, 15, 21] * 4, np.uint64
)


def _primes(count: int) -> list[int]:
    found: list[int] = []
    number = 2
    while len(found) < count:
        if all(number % p for p in found):
            found.append(number)
        number += 1
    return found


def _cube_root(number: int) -> int:
    low, high = 0, 1 << (number.bit_length() // 3 + 1)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if middle**3 <= number else (low, middle - 1)
    return low


def _cube_fractions(count: int, bits: int) -> np.ndarray:
    """The first bits behind the point of the cube roots of the first primes."""
    roots = (_cube_root(p << (3 * bits)) & ((1 << bits) - 1) for p in _primes(count))
    return np.array(list(roots), np.uint64)


def _square_fractions(first: int, count: int, bits: int) -> np.ndarray:
    primes = _primes(first + count)[first:]
    return np.array([math.isqrt(p << (2 * bits)) & ((1 << bits) - 1) for p in primes], np.uint64)


def _checksums_of_bytes() -> np.ndarray:
    table = np.arange(256, dtype=np.uint64)
    for _ in range(8):
        table = (table >> np.uint64(1)) ^ np.where(table & np.uint64(1), 0xEDB88320, 0).astype(
            np.uint64
        )
    return table


_SHA256_ROUNDS: Final = _cube_fractions(64, 32)
_SHA512_ROUNDS: Final = _cube_fractions(80, 64)
_CHECKSUMS: Final = _checksums_of_bytes()
_SHA1_ROUNDS: Final = np.array([0x5A827999, 0x6ED9EBA1, 0x8F1BBCDC, 0xCA62C1D6], np.uint64)
#: The words of digests before the first block.
MD5_START: Final = np.array([0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476], np.uint64)
SHA1_START: Final = np.array([*map(int, MD5_START), 0xC3D2E1F0], np.uint64)
SHA256_START: Final = _square_fractions(0, 8, 32)
SHA512_START: Final = _square_fractions(0, 8, 64)
SHA384_START: Final = _square_fractions(8, 8, 64)
SHA224_START: Final = SHA384_START & _MASK


@inlined
def _left(word: np.uint64, by: np.uint64) -> np.uint64:
    """A 32-bit word rotated to the left."""
    return ((word << by) | (word >> (np.uint64(32) - by))) & _MASK


@inlined
def _right(word: np.uint64, by: int) -> np.uint64:
    """A 32-bit word rotated to the right."""
    return ((word >> np.uint64(by)) | (word << np.uint64(32 - by))) & _MASK


@inlined
def _right_64(word: np.uint64, by: int) -> np.uint64:
    return (word >> np.uint64(by)) | (word << np.uint64(64 - by))


@kernel
def _padded(data: np.ndarray, start: int, end: int, block: int, big: bool) -> np.ndarray:
    """The message with its length in bits behind it, a whole number of blocks."""
    size = end - start
    length_bytes = block // 8
    total = (size + 1 + length_bytes + block - 1) // block * block
    message = np.zeros(total, np.uint8)
    put(data[start:end], message, 0)
    message[size] = 128
    bits = size * 8
    for i in range(8):
        place = total - 1 - i if big else total - 8 + i
        message[place] = (bits >> (8 * i)) & 255
    return message


@kernel
def _word(message: np.ndarray, at: int, width: int, big: bool) -> np.uint64:
    word = np.uint64(0)
    for i in range(width):
        shift = width - 1 - i if big else i
        word |= np.uint64(message[at + i]) << np.uint64(8 * shift)
    return word


@bare
def _put(out: np.ndarray, state: np.ndarray, width: int, big: bool) -> None:
    """The words of the state as bytes, as many as ``out`` has."""
    for i in range(out.size):
        shift = width - 1 - i % width if big else i % width
        out[i] = (state[i // width] >> np.uint64(8 * shift)) & np.uint64(255)


@kernel
def md5(data: np.ndarray, bounds: np.ndarray, begin: np.ndarray, size: int) -> np.ndarray:
    """uint8[n, size]: the digests; ``begin`` is ``MD5_START``."""
    out = np.empty((bounds.size - 1, size), np.uint8)
    words = np.empty(16, np.uint64)
    for row in range(bounds.size - 1):
        message = _padded(data, bounds[row], bounds[row + 1], 64, False)
        state = begin.copy()
        for at in range(0, message.size, 64):
            for i in range(16):
                words[i] = _word(message, at + 4 * i, 4, False)
            a, b, c, d = state[0], state[1], state[2], state[3]
            for i in range(64):
                if i < 16:
                    mixed, k = (b & c) | (~b & _MASK & d), i
                elif i < 32:
                    mixed, k = (d & b) | (~d & _MASK & c), (5 * i + 1) % 16
                elif i < 48:
                    mixed, k = b ^ c ^ d, (3 * i + 5) % 16
                else:
                    mixed, k = c ^ (b | (~d & _MASK)), (7 * i) % 16
                total = (a + mixed + _MD5_SINES[i] + words[k]) & _MASK
                a, d, c, b = d, c, b, (b + _left(total, _MD5_SHIFTS[i])) & _MASK
            state[0] = (state[0] + a) & _MASK
            state[1] = (state[1] + b) & _MASK
            state[2] = (state[2] + c) & _MASK
            state[3] = (state[3] + d) & _MASK
        _put(out[row], state, 4, False)
    return out


@kernel
def sha1(data: np.ndarray, bounds: np.ndarray, begin: np.ndarray, size: int) -> np.ndarray:
    """uint8[n, size]: the digests; ``begin`` is ``SHA1_START``."""
    out = np.empty((bounds.size - 1, size), np.uint8)
    words = np.empty(80, np.uint64)
    for row in range(bounds.size - 1):
        message = _padded(data, bounds[row], bounds[row + 1], 64, True)
        state = begin.copy()
        for at in range(0, message.size, 64):
            for i in range(80):
                if i < 16:
                    words[i] = _word(message, at + 4 * i, 4, True)
                else:
                    before = words[i - 3] ^ words[i - 8] ^ words[i - 14] ^ words[i - 16]
                    words[i] = _left(before, np.uint64(1))
            a, b, c, d, e = state[0], state[1], state[2], state[3], state[4]
            for i in range(80):
                if i < 20:
                    mixed = (b & c) | (~b & _MASK & d)
                elif 40 <= i < 60:
                    mixed = (b & c) | (b & d) | (c & d)
                else:
                    mixed = b ^ c ^ d
                total = _left(a, np.uint64(5)) + mixed + e + _SHA1_ROUNDS[i // 20] + words[i]
                a, b, c, d, e = total & _MASK, a, _left(b, np.uint64(30)), c, d
            state[0] = (state[0] + a) & _MASK
            state[1] = (state[1] + b) & _MASK
            state[2] = (state[2] + c) & _MASK
            state[3] = (state[3] + d) & _MASK
            state[4] = (state[4] + e) & _MASK
        _put(out[row], state, 4, True)
    return out


@kernel
def sha256(data: np.ndarray, bounds: np.ndarray, begin: np.ndarray, size: int) -> np.ndarray:
    """uint8[n, size]: the digests of SHA-256 or SHA-224, by their ``begin``."""
    out = np.empty((bounds.size - 1, size), np.uint8)
    words, state, new = np.empty(64, np.uint64), np.empty(8, np.uint64), np.empty(8, np.uint64)
    for row in range(bounds.size - 1):
        message = _padded(data, bounds[row], bounds[row + 1], 64, True)
        put(begin, state, 0)
        for at in range(0, message.size, 64):
            for i in range(16):
                words[i] = _word(message, at + 4 * i, 4, True)
            for i in range(16, 64):
                w, v = words[i - 15], words[i - 2]
                low = _right(w, 7) ^ _right(w, 18) ^ (w >> np.uint64(3))
                high = _right(v, 17) ^ _right(v, 19) ^ (v >> np.uint64(10))
                words[i] = (words[i - 16] + low + words[i - 7] + high) & _MASK
            put(state, new, 0)
            for i in range(64):
                a, b, c, e, f, g = new[0], new[1], new[2], new[4], new[5], new[6]
                high = _right(e, 6) ^ _right(e, 11) ^ _right(e, 25)
                chosen = (e & f) ^ (~e & _MASK & g)
                first = new[7] + high + chosen + _SHA256_ROUNDS[i] + words[i]
                low = _right(a, 2) ^ _right(a, 13) ^ _right(a, 22)
                second = low + ((a & b) ^ (a & c) ^ (b & c))
                for j in range(7, 0, -1):
                    new[j] = new[j - 1]
                new[4] = (new[4] + first) & _MASK
                new[0] = (first + second) & _MASK
            for j in range(8):
                state[j] = (state[j] + new[j]) & _MASK
        _put(out[row], state, 4, True)
    return out


@kernel
def sha512(data: np.ndarray, bounds: np.ndarray, begin: np.ndarray, size: int) -> np.ndarray:
    """uint8[n, size]: the digests of SHA-512 or SHA-384, by their ``begin``."""
    out = np.empty((bounds.size - 1, size), np.uint8)
    words, state, new = np.empty(80, np.uint64), np.empty(8, np.uint64), np.empty(8, np.uint64)
    for row in range(bounds.size - 1):
        message = _padded(data, bounds[row], bounds[row + 1], 128, True)
        put(begin, state, 0)
        for at in range(0, message.size, 128):
            for i in range(16):
                words[i] = _word(message, at + 8 * i, 8, True)
            for i in range(16, 80):
                w, v = words[i - 15], words[i - 2]
                low = _right_64(w, 1) ^ _right_64(w, 8) ^ (w >> np.uint64(7))
                high = _right_64(v, 19) ^ _right_64(v, 61) ^ (v >> np.uint64(6))
                words[i] = words[i - 16] + low + words[i - 7] + high
            put(state, new, 0)
            for i in range(80):
                a, b, c, e, f, g = new[0], new[1], new[2], new[4], new[5], new[6]
                high = _right_64(e, 14) ^ _right_64(e, 18) ^ _right_64(e, 41)
                first = new[7] + high + ((e & f) ^ (~e & g)) + _SHA512_ROUNDS[i] + words[i]
                low = _right_64(a, 28) ^ _right_64(a, 34) ^ _right_64(a, 39)
                second = low + ((a & b) ^ (a & c) ^ (b & c))
                for j in range(7, 0, -1):
                    new[j] = new[j - 1]
                new[4] += first
                new[0] = first + second
            for j in range(8):
                state[j] += new[j]
        _put(out[row], state, 8, True)
    return out


@kernel
def crc32(data: np.ndarray, bounds: np.ndarray) -> np.ndarray:
    """int64[n]: the checksums."""
    out = np.empty(bounds.size - 1, np.int64)
    for row in range(bounds.size - 1):
        rest = _MASK
        for at in range(bounds[row], bounds[row + 1]):
            place = (rest ^ np.uint64(data[at])) & np.uint64(255)
            rest = (rest >> np.uint64(8)) ^ _CHECKSUMS[place]
        out[row] = np.int64(rest ^ _MASK)
    return out
