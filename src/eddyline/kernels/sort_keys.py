"""Values as bytes that compare as they do, one after the other in a *sort key*.

Each value begins with a byte: 1 if there is one, else 0 or 2, so that NULL is first or last. Then
8 bytes, most significant first, of its order key, or 16, or the bytes of a text, in which a zero is
followed by 255 and whose end is two zeros. All bytes are inverted where the order is descending.
"""

from __future__ import annotations

import numpy as np

from eddyline.kernels.options import kernel

#: Kinds of values: of 8 and 16 bytes, and texts.
NARROW, WIDE, TEXT = 0, 1, 2


@kernel
def text_sizes(offsets: np.ndarray, data: np.ndarray, valid: np.ndarray) -> np.ndarray:
    """int64[n]: how many bytes the texts need in keys."""
    out = np.ones(valid.size, np.int64)
    for i in range(valid.size):
        if valid[i]:
            out[i] += offsets[i + 1] - offsets[i] + 2
            for b in range(offsets[i], offsets[i + 1]):
                out[i] += data[b] == 0
    return out


@kernel
def write_numbers(
    out: np.ndarray,
    at: np.ndarray,
    high: np.ndarray,
    low: np.ndarray,
    valid: np.ndarray,
    null: int,
    descending: bool,
) -> None:
    """Write numbers behind ``at``, which is moved; ``low`` is empty if they have 8 bytes."""
    mask = np.uint8(255 if descending else 0)
    for i in range(valid.size):
        p = at[i]
        out[p] = np.uint8(1 if valid[i] else null) ^ mask
        p += 1
        if valid[i]:
            bits = np.uint64(high[i]) ^ np.uint64(1 << 63)
            for b in range(8):
                out[p + b] = np.uint8((bits >> np.uint64(56 - 8 * b)) & np.uint64(255)) ^ mask
            p += 8
            if low.size:
                bits = np.uint64(low[i])
                for b in range(8):
                    out[p + b] = np.uint8((bits >> np.uint64(56 - 8 * b)) & np.uint64(255)) ^ mask
                p += 8
        at[i] = p


@kernel
def write_texts(
    out: np.ndarray,
    at: np.ndarray,
    offsets: np.ndarray,
    data: np.ndarray,
    valid: np.ndarray,
    null: int,
    descending: bool,
) -> None:
    """Write texts behind ``at``, which is moved."""
    mask = np.uint8(255 if descending else 0)
    for i in range(valid.size):
        p = at[i]
        out[p] = np.uint8(1 if valid[i] else null) ^ mask
        p += 1
        if valid[i]:
            for b in range(offsets[i], offsets[i + 1]):
                out[p] = data[b] ^ mask
                p += 1
                if data[b] == 0:
                    out[p] = np.uint8(255) ^ mask
                    p += 1
            out[p] = mask
            out[p + 1] = mask
            p += 2
        at[i] = p


@kernel
def last_parts(
    offsets: np.ndarray,
    data: np.ndarray,
    valid: np.ndarray,
    kinds: np.ndarray,
    descending: np.ndarray,
) -> np.ndarray:
    """int64[n]: where the last value of each key begins; -1 where there is no key."""
    out = np.full(valid.size, -1, np.int64)
    for i in range(valid.size):
        if not valid[i]:
            continue
        p = np.int64(offsets[i])
        for k in range(kinds.size - 1):
            mask = np.uint8(255 if descending[k] else 0)
            there = data[p] ^ mask == 1
            p += 1
            if not there:
                continue
            if kinds[k] == TEXT:
                while data[p] != mask or data[p + 1] != mask:
                    p += 2 if data[p] == mask else 1
                p += 2
            else:
                p += 16 if kinds[k] == WIDE else 8
        out[i] = p
    return out


@kernel
def read_numbers(data: np.ndarray, start: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The order keys of values that begin at ``start``: int64[n] of the first and of the next
    8 bytes, and bool[n], where there is one.
    """
    high = np.zeros(start.size, np.int64)
    low = np.zeros(start.size, np.int64)
    valid = np.zeros(start.size, np.bool_)
    for i in range(start.size):
        p = start[i]
        if p < 0 or data[p] != 1:
            continue
        valid[i] = True
        first = np.uint64(0)
        second = np.uint64(0)
        for b in range(8):
            first = (first << np.uint64(8)) | np.uint64(data[p + 1 + b])
            if p + 9 + b < data.size:
                second = (second << np.uint64(8)) | np.uint64(data[p + 9 + b])
        high[i] = np.int64(first ^ np.uint64(1 << 63))
        low[i] = np.int64(second)
    return high, low, valid


@kernel
def read_texts(data: np.ndarray, start: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Texts that begin at ``start``: int32 offsets[n + 1], the bytes, and where there is one."""
    offsets = np.zeros(start.size + 1, np.int32)
    valid = np.zeros(start.size, np.bool_)
    for i in range(start.size):
        offsets[i + 1] = offsets[i]
        p = start[i]
        if p < 0 or data[p] != 1:
            continue
        valid[i] = True
        p += 1
        while data[p] != 0 or data[p + 1] != 0:
            p += 2 if data[p] == 0 else 1
            offsets[i + 1] += 1
    out = np.empty(offsets[start.size], np.uint8)
    for i in range(start.size):
        if valid[i]:
            p = start[i] + 1
            for b in range(offsets[i], offsets[i + 1]):
                out[b] = data[p]
                p += 2 if data[p] == 0 else 1
    return offsets, out, valid
