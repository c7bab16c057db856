"""The words of JSON text: spaces, strings, numbers. What is unusual is refused, not interpreted.

Positions are in ``data``, uint8; ``end`` is that behind the text. A refusal is -1.
"""

from __future__ import annotations

import numpy as np

from eddyline.kernels.options import bare

#: Of a number with more digits than int64 holds.
TOO_LONG = 99
#: The length of a value that is no text.
VALUE = 0
#: Powers of ten that are doubles, and digits of which doubles have all.
_EXACT_POWER, _EXACT = 22, 2**53
_POWERS = 10.0 ** np.arange(_EXACT_POWER + 1)
#: Decimal exponents of doubles that are neither rounded to zero nor infinite.
_LARGEST_EXPONENT = 290
_LARGEST = 2**63 - 1
_LONGEST_EXPONENT = 4
_SURROGATES, _LOW_SURROGATES, _NO_SURROGATES = 0xD800, 0xDC00, 0xE000


@bare
def after_space(data: np.ndarray, p: int, end: int) -> int:
    """The position of the first byte from ``p`` that is no space."""
    while p < end and (data[p] == 32 or data[p] == 10 or data[p] == 13 or data[p] == 9):
        p += 1
    return p


@bare
def after_string(data: np.ndarray, p: int, end: int) -> tuple[int, bool]:
    """From behind the first quote to behind the last; and whether there are escapes. Control
    characters, bytes that are not UTF-8, and unknown escapes are refused.
    """
    escaped = False
    while 0 <= p < end:
        c = data[p]
        if c == 34:
            return p + 1, escaped
        if c == 92:
            escaped = True
            p = _after_escape(data, p + 1, end)
        elif c < 32:
            return -1, escaped
        elif c < 128:
            p += 1
        else:
            p = after_character(data, p, end)
    return -1, escaped


@bare
def after_character(data: np.ndarray, p: int, end: int) -> int:
    """Behind a character of several bytes."""
    c = int(np.int64(data[p]))
    low, high = 0x80, 0xBF
    if 0xC2 <= c <= 0xDF:
        more = 1
    elif 0xE0 <= c <= 0xEF:
        more = 2
        if c == 0xE0:
            low = 0xA0
        elif c == 0xED:
            high = 0x9F
    elif 0xF0 <= c <= 0xF4:
        more = 3
        if c == 0xF0:
            low = 0x90
        elif c == 0xF4:
            high = 0x8F
    else:
        return -1
    if p + more >= end:
        return -1
    for k in range(1, more + 1):
        if data[p + k] < low or data[p + k] > high:
            return -1
        low, high = 0x80, 0xBF
    return p + more + 1


@bare
def _after_escape(data: np.ndarray, p: int, end: int) -> int:
    """From behind a backslash to behind the character; surrogates must be pairs."""
    if p >= end:
        return -1
    if data[p] != 117:  # u
        return p + 1 if _short_escape(data[p]) >= 0 else -1
    unit = _code_unit(data, p + 1, end)
    if unit < 0 or _LOW_SURROGATES <= unit < _NO_SURROGATES:
        return -1
    p += 5
    if unit < _SURROGATES or unit >= _NO_SURROGATES:
        return p
    if p + 1 >= end or data[p] != 92 or data[p + 1] != 117:
        return -1
    unit = _code_unit(data, p + 2, end)
    return p + 6 if _LOW_SURROGATES <= unit < _NO_SURROGATES else -1


@bare
def _short_escape(c: int) -> int:
    """The character of an escape with one letter."""
    if c == 34 or c == 92 or c == 47:
        return c
    if c == 110:
        return 10
    if c == 116:
        return 9
    if c == 114:
        return 13
    if c == 98:
        return 8
    return 12 if c == 102 else -1


@bare
def _code_unit(data: np.ndarray, p: int, end: int) -> int:
    """The value of four hexadecimal digits."""
    if p + 4 > end:
        return -1
    value = 0
    for k in range(4):
        c = int(np.int64(data[p + k]))
        if 48 <= c <= 57:
            digit = c - 48
        elif 65 <= c <= 70:
            digit = c - 55
        elif 97 <= c <= 102:
            digit = c - 87
        else:
            return -1
        value = value * 16 + digit
    return value


@bare
def unescape(data: np.ndarray, p: int, end: int, out: np.ndarray, to: int) -> int:
    """Write a string that :func:`after_string` has accepted, without its quotes, to ``out`` from
    ``to``; returns where it ends there.
    """
    while p < end:
        c = data[p]
        if c != 92:
            out[to] = c
            to += 1
            p += 1
        elif data[p + 1] != 117:
            out[to] = _short_escape(data[p + 1])
            to += 1
            p += 2
        else:
            code = _code_unit(data, p + 2, end)
            p += 6
            if _SURROGATES <= code < _NO_SURROGATES:
                low = _code_unit(data, p + 2, end)
                code = 0x10000 + ((code - _SURROGATES) << 10) + (low - _LOW_SURROGATES)
                p += 6
            to = _write_character(code, out, to)
    return to


@bare
def _write_character(code: int, out: np.ndarray, to: int) -> int:
    """Write a character as UTF-8."""
    if code < 0x80:
        out[to] = code
        return to + 1
    if code < 0x800:
        out[to] = 0xC0 | (code >> 6)
        out[to + 1] = 0x80 | (code & 0x3F)
        return to + 2
    if code < 0x10000:
        out[to] = 0xE0 | (code >> 12)
        out[to + 1] = 0x80 | ((code >> 6) & 0x3F)
        out[to + 2] = 0x80 | (code & 0x3F)
        return to + 3
    out[to] = 0xF0 | (code >> 18)
    out[to + 1] = 0x80 | ((code >> 12) & 0x3F)
    out[to + 2] = 0x80 | ((code >> 6) & 0x3F)
    out[to + 3] = 0x80 | (code & 0x3F)
    return to + 4


@bare
def compacted(data: np.ndarray, p: int, end: int, out: np.ndarray, to: int) -> int:
    """Write a value without escapes to ``out`` from ``to``, without the spaces between its words;
    returns where it ends there.
    """
    within = False
    while p < end:
        c = data[p]
        if c == 34:
            within = not within
        if within or not (c == 32 or c == 10 or c == 13 or c == 9):
            out[to] = c
            to += 1
        p += 1
    return to


@bare
def number(data: np.ndarray, p: int, end: int) -> tuple[int, bool, int, int, int, int]:
    """A number: ``digits * 10**exponent``.

    Returns:
        Behind it; whether it has neither a point nor an exponent; the digits as an integer with
        their sign; how many there are without zeros in front, or TOO_LONG; the number of decimals;
        and the exponent that follows them.
    """
    negative = data[p] == 45
    if negative:
        p += 1
    if p >= end:
        return -1, False, 0, 0, 0, 0
    value = count = decimals = exponent = 0
    begin = p
    p, value, count = _digits(data, p, end, value, count)
    if p == begin or (data[begin] == 48 and p > begin + 1):
        return -1, False, 0, 0, 0, 0
    whole = True
    if p < end and data[p] == 46:
        whole = False
        begin = p + 1
        p, value, count = _digits(data, begin, end, value, count)
        decimals = p - begin
        if decimals == 0:
            return -1, False, 0, 0, 0, 0
    if p < end and (data[p] == 101 or data[p] == 69):
        whole = False
        p += 1
        down = p < end and data[p] == 45
        if down or (p < end and data[p] == 43):
            p += 1
        begin = p
        p, exponent, _ = _digits(data, begin, end, 0, 0)
        if p == begin or p - begin > _LONGEST_EXPONENT:
            return -1, False, 0, 0, 0, 0
        exponent = -exponent if down else exponent
    return p, whole, -value if negative else value, count, decimals, exponent


@bare
def _digits(data: np.ndarray, p: int, end: int, value: int, count: int) -> tuple[int, int, int]:
    """More digits of a number: behind them; its value, and how many it has, or TOO_LONG."""
    while p < end and 48 <= data[p] <= 57:
        digit = int(np.int64(data[p])) - 48
        if count < 18:
            value = value * 10 + digit
            count += value > 0
        elif count < TOO_LONG and value <= (_LARGEST - digit) // 10:
            value = value * 10 + digit
            count += 1
        else:
            count = TOO_LONG
        p += 1
    return p, value, count


@bare
def double_of(digits: int, count: int, exponent: int, length: int) -> tuple[int, float]:
    """The double ``digits * 10**exponent``, if one operation on exact numbers makes it.

    Returns:
        VALUE and the number; or ``length``, where its text is to be converted; or -1 for a number
        that may be out of range.
    """
    if count != TOO_LONG:
        if exponent == 0:
            return VALUE, float(digits)
        if abs(digits) <= _EXACT and -_EXACT_POWER <= exponent <= _EXACT_POWER:
            if exponent < 0:
                return VALUE, digits / _POWERS[-exponent]
            return VALUE, digits * _POWERS[exponent]
    if length > 256 or abs(exponent) + length > _LARGEST_EXPONENT:
        return -1, 0.0
    return length, 0.0


@bare
def skipped(data: np.ndarray, p: int, end: int, in_text: bool) -> int:
    """Behind a value that is not declared. ``in_text``: within one that is read as text, which has
    numbers and strings as they are usually written.
    """
    c = data[p]
    if c == 34:
        p, escaped = after_string(data, p + 1, end)
        return -1 if escaped and in_text else p
    if c == 45 or 48 <= c <= 57:
        begin = p
        p, whole, value, count, _, _ = number(data, p, end)
        if in_text and (not whole or count == TOO_LONG or (value == 0 and data[begin] == 45)):
            return -1
        return p
    return literal(data, p, end)


@bare
def literal(data: np.ndarray, p: int, end: int) -> int:
    """Behind true, false or null."""
    word = data[p : min(p + 5, end)]
    if word.size < 4:
        return -1
    if word[0] == 116 and word[1] == 114 and word[2] == 117 and word[3] == 101:
        return p + 4
    if word[0] == 110 and word[1] == 117 and word[2] == 108 and word[3] == 108:
        return p + 4
    is_false = word[0] == 102 and word[1] == 97 and word[2] == 108 and word[3] == 115
    return p + 5 if is_false and word.size == 5 and word[4] == 101 else -1
