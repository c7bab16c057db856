"""Kernels of hexadecimal digits, Base64, percent-encoding and code points.

All work on the bytes of a column at once: which row a byte is of, and where its row begins in the
result, are arrays.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from eddyline.algebra.expressions import Call
from eddyline.algebra.functions import conversion
from eddyline.physical.expressions.data import null_where_not, values_of
from eddyline.physical.expressions.evaluation import Evaluation, without
from eddyline.physical.expressions.kernel import Kernel, Maker, always

_Bytes = npt.NDArray[np.uint8]
_Places = npt.NDArray[np.int64]
_UPPER: Final = np.frombuffer(b"0123456789ABCDEF", np.uint8)
_DIGITS: Final = np.frombuffer(
    b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", np.uint8
)
_NO_DIGIT: Final = 255
_LINE: Final = 76


def _values(digits: bytes) -> _Bytes:
    """By byte, its place among the digits; _NO_DIGIT of others."""
    table = np.full(256, _NO_DIGIT, np.uint8)
    table[np.frombuffer(digits, np.uint8)] = np.arange(len(digits))
    return table


_OF_64: Final = _values(_DIGITS.tobytes())
_OF_16: Final = _values(_UPPER.tobytes())
_OF_16[np.frombuffer(b"abcdef", np.uint8)] = np.arange(10, 16)
#: Characters that stay as they are in a URL, and which byte a plus stands for.
_PLAIN: Final = np.isin(np.arange(256), np.frombuffer(b".-*_" + _DIGITS.tobytes()[:62], np.uint8))
_LATIN: Final = tuple(map(chr, range(256)))


def _bytes_of(texts: pa.Array) -> tuple[_Bytes, _Places]:
    """The bytes of texts one behind the other, and the number of bytes of each; none of NULL."""
    dense = texts.fill_null(b"" if pt.is_binary(texts.type) else "")
    _, offsets, data = dense.buffers()
    bounds = np.frombuffer(offsets, np.int32)[dense.offset : dense.offset + len(dense) + 1]
    none = np.empty(0, np.uint8)
    held = none if data is None else np.frombuffer(data, np.uint8)
    return held[bounds[0] : bounds[-1]], np.diff(bounds).astype(np.int64)


def _made(data: npt.NDArray[Any], lengths: _Places, like: pa.Array, type_: pa.DataType) -> pa.Array:
    """Values with these bytes; NULL where ``like`` is."""
    offsets = np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths)))
    if offsets[-1] > np.iinfo(np.int32).max:
        raise pa.ArrowCapacityError("texts of more than 2 GB")
    buffers = [None, pa.py_buffer(offsets.astype(np.int32)), pa.py_buffer(data.astype(np.uint8))]
    found = pa.Array.from_buffers(type_, lengths.size, buffers)
    return null_where_not(like.is_valid(), found) if like.null_count else found


def _starts(lengths: _Places) -> _Places:
    return np.cumsum(lengths) - lengths


def _rows(lengths: _Places) -> tuple[_Places, _Places]:
    """Of each byte its row, and its place there."""
    row = np.repeat(np.arange(lengths.size), lengths)
    return row, np.arange(row.size) - _starts(lengths)[row]


def _hex(texts: pa.Array) -> pa.Array:
    data, lengths = _bytes_of(texts)
    digits = np.stack([_UPPER[data >> 4], _UPPER[data & 15]], axis=-1)
    return _made(digits.ravel(), 2 * lengths, texts, pa.string())


def _make_digits(bits: int) -> Maker:
    """Integers of 64 bits in digits of this number of bits, without leading zeros."""
    count = 64 // bits

    def kernel(numbers: pa.Array) -> pa.Array:
        whole = values_of(numbers).astype(np.int64).view(np.uint64)
        shifts = np.arange(count - 1, -1, -1, dtype=np.uint64) * np.uint64(bits)
        digits = (whole[:, None] >> shifts) & np.uint64(2**bits - 1)
        first = np.where(whole == 0, count - 1, (digits != 0).argmax(axis=1))
        shown = np.arange(count) >= first[:, None]
        return _made(_UPPER[digits[shown]], shown.sum(axis=1), numbers, pa.string())

    return always(kernel)


def _make_hex(call: Call) -> Kernel:
    return _make_digits(4)(call) if pt.is_integer(call.args[0].type) else _hex


def _unhex(texts: pa.Array) -> pa.Array:
    data, lengths = _bytes_of(texts)
    row, place = _rows(lengths)
    digits = _OF_16[data]
    sizes = (lengths + 1) // 2  # a digit alone is the first one
    halves = np.zeros(2 * int(sizes.sum()), np.uint8)
    halves[2 * _starts(sizes)[row] + place + lengths[row] % 2] = digits & 15
    wrong = np.bincount(row[digits == _NO_DIGIT], minlength=lengths.size) > 0
    found = _made(halves[::2] << 4 | halves[1::2], sizes, texts, pa.binary())
    return null_where_not(pa.array(~wrong), found) if wrong.any() else found


def _base64(texts: pa.Array) -> pa.Array:
    data, lengths = _bytes_of(texts)
    row, place = _rows(lengths)
    groups = (lengths + 2) // 3
    start = _starts(groups)
    padded = np.zeros((int(groups.sum()), 3), np.uint8)
    padded.reshape(-1)[3 * start[row] + place] = data
    a, b, c = padded.T
    digits = np.stack([a >> 2, (a & 3) << 4 | b >> 4, (b & 15) << 2 | c >> 6, c & 63], axis=-1)
    shown = _DIGITS[digits].reshape(-1)
    end = 4 * (start + groups)
    shown[end[lengths % 3 > 0] - 1] = ord("=")
    shown[end[lengths % 3 == 1] - 2] = ord("=")
    return _in_lines(shown, 4 * groups, texts)


def _in_lines(shown: _Bytes, lengths: _Places, like: pa.Array) -> pa.Array:
    """Texts in lines of 76 characters."""
    row, place = _rows(lengths)
    sizes = lengths + 2 * (np.maximum(lengths - 1, 0) // _LINE)
    out = np.empty(int(sizes.sum()), np.uint8)
    at = _starts(sizes)[row] + place + 2 * (place // _LINE)
    out[at] = shown
    begins = at[(place > 0) & (place % _LINE == 0)]
    out[begins - 2], out[begins - 1] = ord("\r"), ord("\n")
    return _made(out, sizes, like, pa.string())


def _unbase64(evaluation: Evaluation, texts: pa.Array) -> pa.Array:
    data, lengths = _bytes_of(texts)
    row, place = _rows(lengths)
    digits = _OF_64[data]
    known = digits != _NO_DIGIT
    count = np.bincount(row[known], minlength=lengths.size)
    padding = np.bincount(row[data == ord("=")], minlength=lengths.size)
    ends = np.full(lengths.size, data.size)  # where the padding begins
    np.minimum.at(ends, row[data == ord("=")], place[data == ord("=")])
    wrong = (count % 4 == 1) | ((padding > 0) & ((count % 4 == 0) | (padding < -count % 4)))
    wrong[row[known & (place > ends[row])]] = True
    of, place = _rows(count)
    groups = (count + 3) // 4
    sextets = np.zeros((int(groups.sum()), 4), np.uint8)
    sextets.reshape(-1)[4 * _starts(groups)[of] + place] = digits[known]
    a, b, c, d = sextets.T
    whole = np.stack([a << 2 | b >> 4, (b & 15) << 4 | c >> 2, (c & 3) << 6 | d], axis=-1)
    sizes = count * 6 // 8
    of, place = _rows(sizes)
    found = _made(whole.reshape(-1)[3 * _starts(groups)[of] + place], sizes, texts, pa.binary())
    if not wrong.any():
        return found
    return without(evaluation, wrong, found, "not Base64: ", texts)


def _url_encode(texts: pa.Array) -> pa.Array:
    data, lengths = _bytes_of(texts)
    row, _ = _rows(lengths)
    coded = ~_PLAIN[data] & (data != ord(" "))
    sizes = np.where(coded, 3, 1)
    start = _starts(sizes)
    out = np.empty(int(sizes.sum()), np.uint8)
    out[start] = np.where(coded, ord("%"), np.where(data == ord(" "), ord("+"), data))
    out[start[coded] + 1] = _UPPER[data[coded] >> 4]
    out[start[coded] + 2] = _UPPER[data[coded] & 15]
    total = np.bincount(row, sizes, lengths.size).astype(np.int64)
    return _made(out, total, texts, pa.string())


def _url_decode(evaluation: Evaluation, texts: pa.Array) -> pa.Array:
    data, lengths = _bytes_of(texts)
    row, place = _rows(lengths)
    at = np.flatnonzero(data == ord("%"))
    behind = np.concatenate((data, np.zeros(2, np.uint8)))
    high, low = _OF_16[behind[at + 1]], _OF_16[behind[at + 2]]
    bad = (place[at] + 2 >= lengths[row[at]]) | (high == _NO_DIGIT) | (low == _NO_DIGIT)
    good = at[~bad]
    out = np.where(data == ord("+"), ord(" "), data).astype(np.uint8)
    out[good] = high[~bad] << 4 | low[~bad]
    kept = np.ones(data.size, np.bool_)
    kept[good + 1] = kept[good + 2] = False
    sizes = np.bincount(row[kept], minlength=lengths.size)
    wrong = np.bincount(row[at[bad]], minlength=lengths.size) > 0
    found = conversion.convert(_made(out[kept], sizes, texts, pa.binary()), pa.string())
    if not wrong.any():
        return found
    return without(evaluation, wrong, found, "not the code of a URL: ", texts)


def _chr(numbers: pa.Array) -> pa.Array:
    codes = pc.bit_wise_and(numbers, 255)
    return pc.if_else(pc.less(numbers, 0), "", pa.array(_LATIN, pa.string()).take(codes))


def _octet_length(texts: pa.Array) -> pa.Array:
    return pc.binary_length(texts).cast(pa.int32())


ENCODING_KERNELS: Final[dict[str, Maker]] = {
    "hex": _make_hex,
    "bin": _make_digits(1),
    "unhex": always(_unhex),
    "base64": always(_base64),
    "url_encode": always(_url_encode),
    "chr": always(_chr),
    "octet_length": always(_octet_length),
}


def _fallible(kernel: Callable[[Evaluation, pa.Array], pa.Array]) -> Maker:
    def make(call: Call) -> Kernel:
        return kernel

    return make


FALLIBLE_ENCODINGS: Final[dict[str, Maker]] = {
    "unbase64": _fallible(_unbase64),
    "url_decode": _fallible(_url_decode),
}
