"""The options ``rate``, ``rows`` and ``distinct`` of WITH: declared sizes for the optimizer.

``WITH (rate = 1000, distinct = 'symbol: 300, price: 10000')`` behind a stream or table. Column
names that contain a comma, a colon or spaces need backticks.
"""

from __future__ import annotations

import math
import re
from typing import Final, Literal

from eddyline.algebra.catalog import DeclaredSizes
from eddyline.errors import did_you_mean
from eddyline.sql.definitions import PlacedOptions
from eddyline.sql.source import SourceText
from eddyline.types import TIMESTAMP, Schema

#: The kinds of inputs whose sizes can be declared.
SizedInput = Literal["stream", "table", "changing table"]

_NUMBER: Final = re.compile(r"[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_COMMA: Final = re.compile(r",(?=(?:[^`]*`[^`]*`)*[^`]*$)")  # not in backticks
_ENTRY: Final = re.compile(r"\s*(?:`([^`]+)`|([^`:]+?))\s*:\s*(\S+?)\s*")
_OTHER_OPTION: Final[dict[tuple[str, SizedInput], str]] = {
    ("rows", "stream"): "rows = ... is an option of tables; for a stream write rate = ...",
    ("rate", "table"): "a static table has no rate; write its number of rows: rows = ...",
}


def take_sizes(
    options: PlacedOptions, schema: Schema, of: SizedInput, source: SourceText
) -> DeclaredSizes:
    """Remove the declared sizes from the options of an input, and return them.

    Raises:
        SqlError: a column is unknown, a number is invalid or too small, or the option does not
            apply to this kind of input.
    """
    found: dict[str, float] = {}
    for word in ("rate", "rows"):
        if word in options:
            text, at, _ = options.pop(word)
            if (word, of) in _OTHER_OPTION:
                raise source.error(at, _OTHER_OPTION[word, of])
            found[word] = _number(text, word, 0, source, at.start)
    distinct: dict[str, float] = {}
    if "distinct" in options:
        text, at, _ = options.pop("distinct")
        distinct = _distinct(text, schema, source, at.start)
    return DeclaredSizes(found.get("rate"), found.get("rows"), distinct)


def _distinct(text: str, schema: Schema, source: SourceText, start: int) -> dict[str, float]:
    """``symbol: 300, price: 10000`` as numbers by column."""
    columns = {f.name.lower(): f.name for f in schema}
    distinct: dict[str, float] = {}
    place = 0
    for part in _COMMA.split(text):
        at = _offset(source.text, start, text, place + len(part) - len(part.lstrip()))
        place += len(part) + 1
        entry = _ENTRY.fullmatch(part)
        if entry is None:
            raise source.error(
                at, f"expected column: number in distinct, got '{part.strip()}'; {_example(schema)}"
            )
        name, number = (entry[1] or entry[2]), entry[3]
        if name.lower() not in columns:
            raise source.error(
                at, f"there is no column '{name}'; {did_you_mean(name, columns.values())}"
            )
        column = columns[name.lower()]
        if column in distinct:
            raise source.error(at, f"column '{column}' is named twice in distinct")
        distinct[column] = _number(number, f"distinct of '{column}'", 1, source, at)
    return distinct


def _number(text: str, what: str, least: int, source: SourceText, at: int) -> float:
    if _NUMBER.fullmatch(text) and least <= float(text) < math.inf:
        return float(text)
    raise source.error(at, f"{what} must be a number of at least {least}, got '{text}'")


def _offset(script: str, start: int, text: str, within: int) -> int:
    """The script offset of a character of an option's text; of its start if it has escapes."""
    as_it_is = script[start + 1 : start + 1 + len(text)] == text
    return start + 1 + within if as_it_is else start


def _example(schema: Schema) -> str:
    name = next((f.name for f in schema if f.type != TIMESTAMP), schema[0].name)
    return f"write for instance distinct = '{name}: 300'"
