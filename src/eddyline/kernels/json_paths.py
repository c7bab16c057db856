"""Values at a path of JSON texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from eddyline.kernels.copies import put
from eddyline.kernels.json_text import after_space, after_string, number, unescape
from eddyline.kernels.options import bare, bare_inlined, kernel

#: What is wanted: a value that is neither object nor array, as text; an object or array; any value
#: as text; any value as JSON.
SCALAR, NESTED, TEXT, JSON = range(4)
#: Objects and arrays within each other; deeper texts have no values.
MAX_DEPTH: Final = 64
_VALUE, _NAME, _AFTER = range(3)
#: ``on_path``: how many steps lead to the innermost container or value; or the value is found.
_FOUND: Final = -1
#: Maximum of bytes for one of a name.
_ESCAPED: Final = 6
_FALSE = np.frombuffer(b"false", np.uint8)
_TRUE = np.frombuffer(b"true", np.uint8)
_NULL = np.frombuffer(b"null", np.uint8)


class Path(NamedTuple):
    """Where the values are; see ``values_at``."""

    steps: np.ndarray
    names: np.ndarray


class Room(NamedTuple):
    """Room for what is known of the containers around a value, by depth, and for a name.

    Attributes:
        counts: int64, elements of an array that are read; -1: the container is empty.
        is_object: bool. text: uint8.
    """

    counts: np.ndarray
    is_object: np.ndarray
    text: np.ndarray


@kernel
def room_for(names: np.ndarray) -> Room:
    """Room to read texts for names."""
    text = np.empty(_ESCAPED * names.size, np.uint8)
    return Room(np.zeros(MAX_DEPTH, np.int64), np.zeros(MAX_DEPTH, np.bool_), text)


def steps_of(path: Sequence[str | int]) -> tuple[np.ndarray, np.ndarray]:
    """The steps and the names of a path, for :func:`values_at`; without steps the whole text."""
    if not path:
        return np.zeros((0, 2), np.int64), np.zeros(0, np.uint8)
    words = [step.encode() if isinstance(step, str) else b"" for step in path]
    lengths = np.array([len(word) for word in words], np.int64)
    ends = np.cumsum(lengths)
    steps = np.stack([ends - lengths, ends], axis=1)
    for place, step in enumerate(path):
        if not isinstance(step, str):
            steps[place] = -1, step
    return steps, np.frombuffer(b"".join(words), np.uint8)


@kernel
def values_at(
    offsets: np.ndarray,
    data: np.ndarray,
    steps: np.ndarray,
    names: np.ndarray,
    wanted: int,
    out: np.ndarray,
    ends: np.ndarray,
    found: np.ndarray,
) -> None:
    """Find the value at a path in each of n texts; if a name is there twice, the first one. A text
    that is not one value of strict JSON (RFC 8259) has none; null is none, but as JSON.

    Args:
        offsets, data: the texts, int32[n + 1] and uint8. steps: int64[steps, 2], where the name of
            a field begins and ends in ``names``, or -1 and the position in an array.
        wanted: SCALAR, NESTED, TEXT or JSON.
        out: uint8, as long as ``data``: the values. ends: int32[n + 1]. found: bool[n].
    """
    path, room = Path(steps, names), room_for(names)
    ends[0] = 0
    for row in range(found.size):
        first, last = value_span(data, offsets[row], offsets[row + 1], path, room)
        end = _written(data, first, last, wanted, out, ends[row]) if first >= 0 else -1
        found[row] = end >= 0
        ends[row + 1] = end if end >= 0 else ends[row]


@bare
def value_span(data: np.ndarray, p: int, end: int, path: Path, room: Room) -> tuple[int, int]:
    """Where the value is in a text, which is read to its end; -1, -1: there is none."""
    counts, is_object = room.counts, room.is_object
    depth, on_path = 0, 0
    first, last, state = -1, -1, _VALUE
    inside = -1  # the depth of the container that is the value
    p = after_space(data, p, end)
    while p < end:
        c = data[p]
        if state == _VALUE:
            is_it = on_path == depth and depth == path.steps.shape[0]
            if is_it:
                first, on_path = p, _FOUND
            if c == 123 or c == 91:
                if depth == MAX_DEPTH:
                    return -1, -1
                if is_it:
                    inside = depth
                is_object[depth], counts[depth] = c == 123, 0
                depth += 1
                p = after_space(data, p + 1, end)
                if p < end and data[p] == (125 if c == 123 else 93):
                    state = _AFTER
                    counts[depth - 1] = -1  # empty
                elif c == 123:
                    state = _NAME
                else:
                    on_path = _step(path.steps, depth - 1, on_path, 0)
                continue
            p = _after_scalar(data, p, end)
            if p < 0:
                return -1, -1
            if is_it:
                last = p
            state = _AFTER
            if depth == 0:
                break
        elif state == _NAME:
            p, on_path = _after_name(data, p, end, depth - 1, on_path, path, room)
            if p < 0:
                return -1, -1
            state = _VALUE
        elif c == 44 and counts[depth - 1] >= 0:
            state, on_path = _after_comma(depth - 1, on_path, path, room)
            p += 1
        elif c == (125 if is_object[depth - 1] else 93):
            depth -= 1
            on_path = min(on_path, depth)
            p += 1
            if inside == depth:
                last, inside = p, -1
            if depth == 0:
                break
        else:
            return -1, -1
        p = after_space(data, p, end)
    if depth > 0 or state != _AFTER or after_space(data, p, end) < end or last < 0:
        return -1, -1
    return first, last


@bare
def _step(steps: np.ndarray, depth: int, on_path: int, position: int) -> int:
    """``on_path`` at an element of an array in which ``depth`` steps may have led."""
    if on_path < depth or depth >= steps.shape[0]:
        return min(on_path, depth)
    is_next = steps[depth, 0] < 0 and steps[depth, 1] == position
    return depth + 1 if is_next else depth


@bare_inlined
def _after_comma(depth: int, on_path: int, path: Path, room: Room) -> tuple[int, int]:
    """What follows in a container, and ``on_path`` there."""
    if room.is_object[depth]:
        return _NAME, min(on_path, depth)
    room.counts[depth] += 1
    return _VALUE, _step(path.steps, depth, min(on_path, depth), room.counts[depth])


@bare_inlined
def _after_name(
    data: np.ndarray, p: int, end: int, depth: int, on_path: int, path: Path, room: Room
) -> tuple[int, int]:
    """Behind the name of a field and its colon, or -1, and ``on_path`` at its value."""
    if data[p] != 34:
        return -1, on_path
    begin = p + 1
    p, escaped = after_string(data, begin, end)
    if p < 0:
        return -1, on_path
    if on_path >= depth:
        on_path = depth
        if depth < path.steps.shape[0] and _is_name(data, begin, p - 1, escaped, depth, path, room):
            on_path = depth + 1
    p = after_space(data, p, end)
    if p >= end or data[p] != 58:
        return -1, on_path
    return p + 1, on_path


@bare
def _is_name(
    data: np.ndarray, begin: int, end: int, escaped: bool, step: int, path: Path, room: Room
) -> bool:
    """Whether a string is the name of a step."""
    start, stop = path.steps[step, 0], path.steps[step, 1]
    if start < 0:
        return False
    if not escaped:
        return _equal(data, begin, end, path.names, start, stop)
    if end - begin > _ESCAPED * (stop - start):
        return False
    length = unescape(data, begin, end, room.text, 0)
    return _equal(room.text, 0, length, path.names, start, stop)


@bare
def _equal(data: np.ndarray, begin: int, end: int, word: np.ndarray, start: int, stop: int) -> bool:
    """Whether bytes are those of a word."""
    same = end - begin == stop - start
    k = 0
    while same and k < stop - start:
        same = data[begin + k] == word[start + k]
        k += 1
    return bool(same)


@bare
def _after_scalar(data: np.ndarray, p: int, end: int) -> int:
    """Behind a string, number, true, false or null; -1: there is none."""
    c = data[p]
    if c == 34:
        return after_string(data, p + 1, end)[0]
    if c == 116:
        return _after_word(data, p, end, _TRUE)
    if c == 102:
        return _after_word(data, p, end, _FALSE)
    if c == 110:
        return _after_word(data, p, end, _NULL)
    if c == 45 or 48 <= c <= 57:
        return number(data, p, end)[0]
    return -1


@bare
def _after_word(data: np.ndarray, p: int, end: int, word: np.ndarray) -> int:
    there = p + word.size <= end and _equal(data, p, p + word.size, word, 0, word.size)
    return p + word.size if there else -1


@kernel
def _written(data: np.ndarray, first: int, last: int, wanted: int, out: np.ndarray, to: int) -> int:
    """Write a value as it is wanted; returns where it ends, -1: it is not what is wanted."""
    c = data[first]
    if wanted != JSON:
        is_nested = c == 123 or c == 91
        if c == 110 or (is_nested != (wanted == NESTED) and wanted != TEXT):
            return -1
        if c == 34:
            return unescape(data, first + 1, last - 1, out, to)
    put(data[first:last], out, to)
    return to + last - first
