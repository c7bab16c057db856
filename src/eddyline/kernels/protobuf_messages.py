"""Whether bytes are messages of Protobuf of a declared form, as far as a decoder relies on it.

Bytes are followed to their end in one pass, without recursion: groups within groups, which every
message may have, would end a decoder that calls itself for each.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from eddyline.kernels.json_text import after_character
from eddyline.kernels.options import bare, kernel

#: What is to be checked of a field: nothing, the numbers of a packed list, or what is within it.
SKIPPED, VARINTS, FIXED32, FIXED64, TEXT, MESSAGE = range(6)
#: A field of a message. below: the node of a message.
FIELD: Final = np.dtype([(name, np.int64) for name in ("number", "kind", "below")])
#: Messages and groups within each other.
MAX_DEPTH: Final = 100
#: What is wrong with bytes.
GOOD, CUT, LONG, TAG, GROUP, DEEP, NO_TEXT = range(7)
_LARGEST_TAG, _LONGEST_TAG = 0xFFFF_FFFF, 5
_NO_NODE = -1
_VARINT, _BYTES_8, _BYTES, _BEGIN, _END, _BYTES_4 = range(6)


@kernel
def checked_messages(
    offsets: np.ndarray,
    data: np.ndarray,
    firsts: np.ndarray,
    fields: np.ndarray,
    wrong: np.ndarray,
    places: np.ndarray,
) -> None:
    """Check n messages.

    Args:
        offsets, data: the messages, int64[n + 1] and uint8. firsts: where the fields of a node
            begin in ``fields``, int64[nodes + 1]; the root is node 0.
        wrong: int8[n], what is wrong. places: int64[n], the byte of a message where it is.
    """
    frames = np.zeros((3, MAX_DEPTH + 1), np.int64)
    for row in range(offsets.size - 1):
        begin = offsets[row]
        wrong[row], place = _message(data, begin, offsets[row + 1], firsts, fields, frames)
        places[row] = place - begin


@bare
def _message(
    data: np.ndarray,
    p: int,
    end: int,
    firsts: np.ndarray,
    fields: np.ndarray,
    frames: np.ndarray,
) -> tuple[int, int]:
    """What is wrong with a message, and where."""
    ends, nodes, groups = frames[0], frames[1], frames[2]
    ends[0], nodes[0], groups[0] = end, 0, 0
    depth = 0
    while True:
        end = ends[depth]
        if p == end:
            if groups[depth] > 0:
                return GROUP, p
            if depth == 0:
                return GOOD, p
            depth -= 1
            continue
        begin = p
        tag, p = _varint(data, p, end)
        if p < 0:
            return -p, begin
        number, wire = tag >> 3, tag & 7
        if number <= 0 or tag > _LARGEST_TAG or p - begin > _LONGEST_TAG or wire > _BYTES_4:
            return TAG, begin
        if wire in (_VARINT, _BYTES_8, _BYTES_4):
            p = _after_number(data, p, end, wire)
            if p < 0:
                return -p, begin
        elif wire == _BYTES:
            length, p = _varint(data, p, end)
            if p < 0:
                return -p, begin
            if length < 0 or length > end - p:
                return CUT, begin
            kind, below = _field(firsts, fields, nodes[depth], number)
            if kind == MESSAGE:
                if depth == MAX_DEPTH:
                    return DEEP, begin
                depth += 1
                ends[depth], nodes[depth], groups[depth] = p + length, below, 0
                continue
            found = _within(data, p, p + length, kind)
            if found != GOOD:
                return found, begin
            p += length
        elif wire == _BEGIN:
            if depth == MAX_DEPTH:
                return DEEP, begin
            depth += 1
            ends[depth], nodes[depth], groups[depth] = end, _NO_NODE, number
        else:
            if groups[depth] != number:
                return GROUP, begin
            depth -= 1


@bare
def _after_number(data: np.ndarray, p: int, end: int, wire: int) -> int:
    """The place behind a number, or minus what is wrong."""
    if wire == _VARINT:
        return _varint(data, p, end)[1]
    p += 8 if wire == _BYTES_8 else 4
    return p if p <= end else -CUT


@bare
def _field(firsts: np.ndarray, fields: np.ndarray, node: int, number: int) -> tuple[int, int]:
    """What is to be checked of a field, and its node."""
    if node >= 0:
        for i in range(firsts[node], firsts[node + 1]):
            if fields[i].number == number:
                return fields[i].kind, fields[i].below
    return SKIPPED, _NO_NODE


@bare
def _within(data: np.ndarray, p: int, end: int, kind: int) -> int:
    """What is wrong with a text, or a packed list."""
    if kind == TEXT:
        while p < end:
            p = p + 1 if data[p] < 128 else after_character(data, p, end)
            if p < 0:
                return NO_TEXT
    elif kind == VARINTS:
        while p < end:
            _, p = _varint(data, p, end)
            if p < 0:
                return -p
    elif (kind == FIXED32 and (end - p) % 4) or (kind == FIXED64 and (end - p) % 8):
        return CUT
    return GOOD


@bare
def _varint(data: np.ndarray, p: int, end: int) -> tuple[int, int]:
    """A number, and the place behind it, or minus what is wrong. Of ten bytes, which have 70 bits,
    the first 64 are read, as by Protobuf's own libraries.
    """
    if p < end and data[p] < 128:
        return int(np.int64(data[p])), p + 1
    value = np.int64(0)
    for shift in range(0, 70, 7):
        if p >= end:
            return 0, -CUT
        byte = np.int64(data[p])
        p += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return int(value), p
    return 0, -LONG
