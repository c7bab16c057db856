"""The elements of arrays and the fields of objects in JSON texts."""

from __future__ import annotations

import numpy as np

from eddyline.kernels.copies import put
from eddyline.kernels.json_paths import Path, room_for, value_span
from eddyline.kernels.json_text import after_space, after_string, unescape
from eddyline.kernels.options import bare, kernel

#: What begins an array and an object.
ARRAY, OBJECT = 91, 123


@kernel
def counted_parts(
    offsets: np.ndarray,
    data: np.ndarray,
    opening: int,
    steps: np.ndarray,
    names: np.ndarray,
    counts: np.ndarray,
) -> None:
    """How many parts each of n texts has; -1 of a text that is not strict JSON (RFC 8259), or has
    another value.

    Args:
        offsets, data: the texts, integers[n + 1] and uint8. opening: ARRAY or OBJECT.
        steps, names: no steps, as of ``json_paths.steps_of``.
        counts: int64[n].
    """
    path, room = Path(steps, names), room_for(names)
    for row in range(counts.size):
        first, last = value_span(data, offsets[row], offsets[row + 1], path, room)
        counts[row] = -1
        if first < 0 or data[first] != opening:
            continue
        p = after_space(data, first + 1, last)
        count = 0
        while p < last - 1:
            p = _after_part(data, p, last)
            count += 1
        counts[row] = count


@bare
def _after_part(data: np.ndarray, p: int, end: int) -> int:
    """Behind the comma, or the end, that follows a part of valid JSON."""
    depth = 0
    while p < end - 1:
        c = data[p]
        if c == 34:
            p = after_string(data, p + 1, end)[0]
            continue
        if c == 123 or c == 91:
            depth += 1
        elif c == 125 or c == 93:
            depth -= 1
        p += 1
        if c == 44 and depth == 0:
            break
    return after_space(data, p, end)


@kernel
def written_parts(
    offsets: np.ndarray,
    data: np.ndarray,
    counts: np.ndarray,
    is_object: bool,
    out: np.ndarray,
    ends: np.ndarray,
    keys: np.ndarray,
    key_ends: np.ndarray,
) -> None:
    """The parts of texts as JSON, and the names of fields.

    Args:
        offsets, data, counts: as of :func:`counted_parts`.
        out, keys: uint8, as long as ``data``. ends, key_ends: int32[parts + 1].
    """
    part, written, named = 0, 0, 0
    ends[0], key_ends[0] = 0, 0
    for row in range(counts.size):
        if counts[row] < 1:
            continue
        end = offsets[row + 1]
        p = after_space(data, after_space(data, offsets[row], end) + 1, end)
        for _ in range(counts[row]):
            if is_object:
                begin = p + 1
                p = after_string(data, begin, end)[0]
                named = unescape(data, begin, p - 1, keys, named)
                p = after_space(data, after_space(data, p, end) + 1, end)
            start = p
            p = _after_value(data, p, end)
            put(data[start:p], out, written)
            written += p - start
            p = after_space(data, after_space(data, p, end) + 1, end)
            part += 1
            ends[part], key_ends[part] = written, named


@bare
def _after_value(data: np.ndarray, p: int, end: int) -> int:
    """Behind a value of valid JSON that is part of another."""
    depth = 0
    while p < end:
        c = data[p]
        if c == 34:
            p = after_string(data, p + 1, end)[0]
            if depth == 0:
                break
            continue
        if c == 123 or c == 91:
            depth += 1
        elif c == 125 or c == 93:
            if depth == 0:
                break
            depth -= 1
            if depth == 0:
                p += 1
                break
        elif depth == 0 and (c == 44 or c == 32 or 9 <= c <= 13):
            break
        p += 1
    return p
