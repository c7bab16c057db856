"""Values at paths of JSON messages, into columns; messages that are unusual are left to others.

A message is *plain* if it is one object of strict JSON (RFC 8259) whose declared values have the
declared types, in a form that every parser reads alike: no numbers in quotes or beyond their type,
no name twice, no text behind the object. For anything else the kernel makes no row.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from eddyline.kernels.json_text import (
    TOO_LONG,
    VALUE,
    after_space,
    after_string,
    compacted,
    double_of,
    literal,
    number,
    skipped,
    unescape,
)
from eddyline.kernels.options import bare, bare_inlined, kernel

#: What a node of a declaration is.
OBJECT, ARRAY, TEXT, INTEGER, DOUBLE, DECIMAL, BOOLEAN = range(7)
#: A declaration is a tree, its root at 0. Nodes below one are at ``first``, ``count`` of them.
#:
#: kind: see above. slot: of its values, or -1. name, length: in an object, where its name is in the
#: text of all names; in an array ``name`` is the position. rest: the node of the other elements of
#: an array. low, high: the range of integers, and of decimals times ``10**scale``.
_FIELDS = ("kind", "slot", "first", "count", "rest", "name", "length", "low", "high", "scale")
NODE: Final = np.dtype([(name, np.int64) for name in _FIELDS])
#: Objects and arrays within each other.
MAX_DEPTH: Final = 64
#: The length of a value of which there is none.
NONE = -1
_TENS = 10 ** np.arange(19, dtype=np.int64)
_SKIPPED = -1
_VALUE, _NAME, _AFTER, _CLOSE = range(4)
#: Of an object or array: its node; the next field that is probable, or the element that is read;
#: the number of the object; whether it is one.
_NODE, _NEXT, _OBJECT, _IS_OBJECT = range(4)


class Declaration(NamedTuple):
    """What is read, and how far a message has been read.

    Attributes:
        nodes, names: the declaration. seen: int64 by node, the object that had the field last.
        of_depth: int64[4, MAX_DEPTH], rows as named above: of the objects and arrays around.
    """

    nodes: np.ndarray
    names: np.ndarray
    seen: np.ndarray
    of_depth: np.ndarray


class Target(NamedTuple):
    """Where values are written; see ``plain_messages``."""

    values: np.ndarray
    reals: np.ndarray
    lengths: np.ndarray
    more: np.ndarray


@kernel
def plain_messages(
    offsets: np.ndarray,
    data: np.ndarray,
    nodes: np.ndarray,
    names: np.ndarray,
    values: np.ndarray,
    reals: np.ndarray,
    lengths: np.ndarray,
    more: np.ndarray,
    plain: np.ndarray,
) -> None:
    """Read n messages.

    Args:
        offsets, data: the messages, int64[n + 1] and uint8. nodes, names: the declaration.
        values: int64[slots, n], of text where it begins: in ``data``, or behind its end in
            ``more``. reals: the same memory as doubles. lengths: int32[slots, n], in bytes of text,
            NONE for NULL; of a double with a length the text is to be converted.
        more: uint8, as long as ``data``: text that is not in the messages as it is.
        plain: bool[n].
    """
    seen = np.zeros(nodes.size, np.int64)
    declaration = Declaration(nodes, names, seen, np.zeros((4, MAX_DEPTH), np.int64))
    target = Target(values, reals, lengths, more)
    written = 0
    for row in range(offsets.size - 1):
        for slot in range(lengths.shape[0]):
            lengths[slot, row] = NONE
        end = _message(data, offsets[row], offsets[row + 1], row, written, declaration, target)
        plain[row] = end >= 0
        if end >= 0:
            written = end
        else:
            for slot in range(lengths.shape[0]):
                lengths[slot, row] = NONE


@bare
def _message(
    data: np.ndarray,
    p: int,
    end: int,
    row: int,
    written: int,
    declaration: Declaration,
    target: Target,
) -> int:
    """Read a message; returns the new end of what is written to ``more``, or -1."""
    nodes, _, _, of_depth = declaration
    depth, node, state = 0, 0, _VALUE
    text_depth, text_begin, text_node, has_space = 0, 0, 0, False
    p = after_space(data, p, end)
    if p >= end or data[p] != 123:
        return -1
    while True:
        if p >= end:
            return -1
        c = data[p]
        if state == _VALUE and (c == 123 or c == 91):
            kind = nodes[node].kind if node >= 0 else _SKIPPED
            if kind == TEXT:
                text_depth, text_begin, text_node, has_space = depth + 1, p, node, False
                node = -1
            elif node >= 0 and kind != (OBJECT if c == 123 else ARRAY):
                return -1
            if depth == MAX_DEPTH:
                return -1
            _begin(depth, node, c == 123, declaration)
            depth += 1
            begin = p + 1
            p = after_space(data, begin, end)
            has_space |= p > begin
            if p >= end:
                return -1
            if data[p] == (125 if c == 123 else 93):
                state = _CLOSE
            elif c == 123:
                state = _NAME
            else:
                node = _element(nodes, node, 0)
        elif state == _VALUE:
            if node >= 0:
                p, written = _declared(data, p, end, nodes[node], row, written, target)
            else:
                p = skipped(data, p, end, text_depth > 0)
            if p < 0:
                return -1
            state = _AFTER
        elif state == _NAME:
            p, node, is_spaced = _named(data, p, end, depth - 1, text_depth > 0, declaration)
            if p < 0:
                return -1
            has_space |= is_spaced
            state = _VALUE
        elif state == _AFTER and c == 44:
            begin = p + 1
            p = after_space(data, begin, end)
            has_space |= p > begin
            if of_depth[_IS_OBJECT, depth - 1]:
                state = _NAME
            else:
                of_depth[_NEXT, depth - 1] += 1
                node = _element(nodes, of_depth[_NODE, depth - 1], of_depth[_NEXT, depth - 1])
                state = _VALUE
        elif state == _AFTER and c == (125 if of_depth[_IS_OBJECT, depth - 1] else 93):
            state = _CLOSE
        elif state == _AFTER:
            begin = p
            p = after_space(data, begin, end)
            has_space = True
            if p == begin:
                return -1
        else:
            p += 1
            if depth == text_depth:
                slot = nodes[text_node].slot
                if slot >= 0:
                    written = _as_text(data, text_begin, p, has_space, slot, row, written, target)
                text_depth = 0
            depth -= 1
            if depth == 0:
                break
            state = _AFTER
    return written if after_space(data, p, end) == end else -1


@bare_inlined
def _begin(depth: int, node: int, is_object: bool, declaration: Declaration) -> None:
    """An object or array begins."""
    _, _, seen, of_depth = declaration
    seen[0] += 1  # the root is in no object: it counts objects
    of_depth[_NODE, depth], of_depth[_NEXT, depth] = node, 0
    of_depth[_OBJECT, depth], of_depth[_IS_OBJECT, depth] = seen[0], is_object


@bare_inlined
def _named(
    data: np.ndarray, p: int, end: int, depth: int, in_text: bool, declaration: Declaration
) -> tuple[int, int, bool]:
    """Read the name of a field of an object; returns where its value begins, or -1, its node, and
    whether there is space before the value.
    """
    nodes, names, seen, of_depth = declaration
    if data[p] != 34:
        return -1, -1, False
    begin = p + 1
    p, escaped = after_string(data, begin, end)
    top, node = of_depth[_NODE, depth], -1
    if p < 0 or (escaped and (in_text or top >= 0)):
        return -1, -1, False
    if top >= 0:
        node = _field(nodes, names, top, of_depth[_NEXT, depth], data, begin, p - 1 - begin)
        if node >= 0:
            if seen[node] == of_depth[_OBJECT, depth]:
                return -1, -1, False
            seen[node] = of_depth[_OBJECT, depth]
            of_depth[_NEXT, depth] = node - nodes[top].first + 1
    begin = p
    p = after_space(data, begin, end)
    if p >= end or data[p] != 58:
        return -1, -1, False
    has_space = p > begin
    begin = p + 1
    p = after_space(data, begin, end)
    return p, node, has_space or p > begin


@bare
def _as_text(
    data: np.ndarray,
    begin: int,
    end: int,
    has_space: bool,
    slot: int,
    row: int,
    written: int,
    target: Target,
) -> int:
    """Make an object or array a text, without space; returns the new end of ``more``."""
    if not has_space:
        target.values[slot, row] = begin
        target.lengths[slot, row] = end - begin
        return written
    target.values[slot, row] = data.size + written
    stop = compacted(data, begin, end, target.more, written)
    target.lengths[slot, row] = stop - written
    return stop


@bare
def _element(nodes: np.ndarray, array: int, position: int) -> int:
    """The node of an element of an array."""
    if array < 0:
        return -1
    for node in range(nodes[array].first, nodes[array].first + nodes[array].count):
        if nodes[node].name == position:
            return node
    return nodes[array].rest


@bare
def _field(
    nodes: np.ndarray,
    names: np.ndarray,
    parent: int,
    guess: int,
    data: np.ndarray,
    begin: int,
    length: int,
) -> int:
    """The node of a field of an object, or -1. ``guess``: which one it probably is."""
    first, count = nodes[parent].first, nodes[parent].count
    for k in range(count):
        i = guess + k
        node = first + (i - count if i >= count else i)
        if nodes[node].length == length:
            name = nodes[node].name
            j = 0
            while j < length and names[name + j] == data[begin + j]:
                j += 1
            if j == length:
                return node
    return -1


@bare
def _declared(
    data: np.ndarray, p: int, end: int, of: Any, row: int, written: int, target: Target
) -> tuple[int, int]:
    """Read a value that is neither an object nor an array; returns where it ends, or -1, and the
    new end of what is written to ``more``. ``of``: its node.
    """
    values, reals, lengths, more = target
    kind, slot = of.kind, of.slot
    c, begin = data[p], p
    value, length = begin, NONE
    if c == 34:
        if kind != TEXT:
            return -1, written
        p, escaped = after_string(data, p + 1, end)
        if p < 0:
            return -1, written
        value, length = begin + 1, p - begin - 2
        if escaped:
            value = data.size + written
            stop = unescape(data, begin + 1, p - 1, more, written)
            length, written = stop - written, stop
    elif c == 45 or 48 <= c <= 57:
        p, whole, digits, count, decimals, exponent = number(data, p, end)
        if p < 0 or (digits == 0 and whole and c == 45):  # -0 is 0 or -0.0
            return -1, written
        if kind == DOUBLE:
            exponent -= decimals
            length, real = double_of(digits, count, exponent, p - begin)
            if length < 0:
                return -1, written
            if slot >= 0 and length == VALUE:
                reals[slot, row] = -real if digits == 0 and c == 45 else real
                lengths[slot, row] = VALUE
                return p, written
        elif count == TOO_LONG or kind in (BOOLEAN, OBJECT, ARRAY):
            return -1, written
        elif kind == DECIMAL:
            places = of.scale - decimals
            if exponent != 0 or places < 0 or abs(digits) > of.high // _TENS[places]:
                return -1, written
            value, length = digits * _TENS[places], VALUE
        elif not whole:
            return -1, written
        elif kind == INTEGER:
            if digits < of.low or digits > of.high:
                return -1, written
            value, length = digits, VALUE
        else:
            length = p - begin
    else:
        p = literal(data, p, end)
        if p < 0:
            return -1, written
        if c != 110:  # not null
            if kind == BOOLEAN:
                value, length = int(c == 116), VALUE
            elif kind == TEXT:
                length = p - begin
            else:
                return -1, written
    if slot >= 0:
        values[slot, row] = value
        lengths[slot, row] = length
    return p, written


@kernel
def gathered_texts(
    starts: np.ndarray, lengths: np.ndarray, data: np.ndarray, more: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Texts that begin at int64[n] in ``data`` or, behind its end, in ``more``: their offsets,
    int32[n + 1], and bytes.
    """
    offsets = np.empty(starts.size + 1, np.int32)
    total = np.int32(0)
    for i in range(starts.size):
        offsets[i] = total
        total += max(lengths[i], 0)
    offsets[starts.size] = total
    out = np.empty(total, np.uint8)
    for i in range(starts.size):
        to, start = offsets[i], starts[i]
        if start < data.size:
            for k in range(lengths[i]):
                out[to + k] = data[start + k]
        else:
            start -= data.size
            for k in range(lengths[i]):
                out[to + k] = more[start + k]
    return offsets, out
