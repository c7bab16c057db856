"""Parser of Spark's date patterns (``yyyy-MM-dd HH:mm:ss.SSS``).

A pattern is a sequence of fields, which are runs of one letter, and of text (letters in quotes).
"""

from __future__ import annotations

import re
from typing import Final

from eddyline.errors import SqlError

#: Field letters to the names of the fields.
LETTERS: Final = {
    "y": "year",
    "u": "year",
    "M": "month",
    "d": "day",
    "H": "hour",
    "h": "hour12",
    "m": "minute",
    "s": "second",
    "S": "fraction",
    "a": "half",
    "E": "weekday",
    "D": "dayofyear",
    "Q": "quarter",
}
#: Fields that parsing supports; formatting supports all.
_READABLE: Final = ("year", "month", "day", "hour", "minute", "second", "fraction")
_TOKEN: Final = re.compile(r"'(?:[^']|'')*'|([A-Za-z])\1*|[^A-Za-z']+")


def parse(pattern: str) -> list[tuple[str, int]]:
    """The pattern's parts: (field name, count of letters), or (text, 0).

    >>> parse("HH:mm")
    [('hour', 2), (':', 0), ('minute', 2)]

    Raises:
        SqlError: a letter is not a field, or a quote has no end.
    """
    parts, end = [], 0
    for match in _TOKEN.finditer(pattern):
        if match.start() != end:
            break
        end = match.end()
        parts.append(_part(pattern, match[0]))
    if end != len(pattern):
        raise SqlError(f'the quote in date pattern "{pattern}" has no end')
    return parts


def _part(pattern: str, token: str) -> tuple[str, int]:
    if token == "''":
        return "'", 0
    if token[0] == "'":
        return token[1:-1].replace("''", "'"), 0
    if not token[0].isalpha():
        return token, 0
    if token[0] not in LETTERS:
        raise SqlError(
            f"date pattern '{pattern}' has no field '{token[0]}'; valid: {' '.join(LETTERS)}; "
            "text needs quotes"
        )
    return LETTERS[token[0]], len(token)


def regex(pattern: str) -> str:
    """The regular expression that matches texts of this pattern, with its fields as named groups.

    Raises:
        SqlError: as in :func:`parse`; or a field cannot be parsed, or is repeated.
    """
    out, seen = [], set()
    for field, count in parse(pattern):
        if count == 0:
            out.append(re.escape(field))
            continue
        if field not in _READABLE or (field == "month" and count > 2):
            raise SqlError(f"date pattern '{pattern}': {field} can be written, but not read")
        if field in seen:
            raise SqlError(f"date pattern '{pattern}' has {field} twice")
        seen.add(field)
        digits = f"{{{count}}}" if count > 1 else "{1,9}" if field == "fraction" else "{1,4}"
        out.append(rf"(?P<{field}>\d{digits})")
    return "^" + "".join(out) + "$"
