"""Paths into JSON documents: the text of PATH to its steps, and which paths fit together."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from eddyline.algebra.catalog import JsonPath
from eddyline.types import Field, sql_type

_STEP: Final = re.compile(
    r"""\.(?P<name>[^\s.\[\]'"*?@$()]+) | \[(?P<index>\d{1,9})\] |
        \[\s*(?:'(?P<single>[^']+)'|"(?P<double>[^"]+)")\s*\]""",
    re.VERBOSE,
)
_FORM: Final = "write it like '$.order.price', '$.items[0].id' or '$[''a name'']'"


def parse_path(text: str) -> JsonPath:
    """The steps of a path: names of fields, and positions in arrays.

    Raises:
        ValueError: it is no such path.

    >>> parse_path("$.items[0]['unit price']")
    ('items', 0, 'unit price')
    """
    if not text.startswith("$") or text == "$":
        raise ValueError(f"'{text}' is no path; {_FORM}")
    steps: list[str | int] = []
    at = 1
    while at < len(text):
        step = _STEP.match(text, at)
        if step is None:
            raise ValueError(f"'{text}' is no path from '{text[at:]}' on; {_FORM}")
        name = step["name"] or step["single"] or step["double"]
        steps.append(int(step["index"]) if name is None else name)
        at = step.end()
    if isinstance(steps[0], int):
        raise ValueError(f"'{text}' reads an element of a whole record, which must be an object")
    return tuple(steps)


def path_text(path: JsonPath) -> str:
    """A path as text.

    >>> path_text(("items", 0, "unit price"))
    "$.items[0]['unit price']"
    """

    def step(part: str | int) -> str:
        if isinstance(part, int):
            return f"[{part}]"
        if _STEP.fullmatch(f".{part}"):
            return f".{part}"
        quote = '"' if "'" in part else "'"
        return f"[{quote}{part}{quote}]"

    return "$" + "".join(map(step, path))


def conflict(field: Field, path: JsonPath, others: Iterable[tuple[Field, JsonPath]]) -> str | None:
    """Why a column cannot be read beside others; None: it can be.

    Of a value either the whole is read or its parts, and in one type; the elements of an array have
    one type.
    """
    for other, theirs in others:
        common = min(len(path), len(theirs))
        for mine, their in zip(path, theirs, strict=False):
            if type(mine) is not type(their):
                return (
                    f"'{field.name}' reads an array where '{other.name}' reads an object, or the "
                    f"other way round: {path_text(path)} and {path_text(theirs)}"
                )
            if mine == their or isinstance(mine, int):
                continue
            if isinstance(mine, str) and mine.lower() == str(their).lower():
                return (
                    f"'{field.name}' and '{other.name}' read fields whose names differ in case "
                    f"only: {path_text(path)} and {path_text(theirs)}"
                )
            break
        else:
            if len(path) != len(theirs):
                whole, part = (other, field) if common == len(theirs) else (field, other)
                return (
                    f"'{whole.name}' reads {path_text(path[:common])} as a whole, and "
                    f"'{part.name}' a part of it: declare one of them"
                )
            if field.type != other.type:
                return (
                    f"'{field.name}' and '{other.name}' read {path_text(path)}, as "
                    f"{sql_type(field.type)} and as {sql_type(other.type)}: compute one of them "
                    "from the other with AS (expression)"
                )
    return None
