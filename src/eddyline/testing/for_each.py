"""``FOR EACH ROW OF rules AS SELECT ...`` for the oracle: the text of the query of each row.

The answer of the parameterized query at an instant is that of the queries of the rows that the
table has then, together. A query's text has the values of its row in place of the columns::

    rules.lo                                       CAST(5 AS BIGINT)
    [RANGE rules.n SECONDS AT MOST 1 HOUR]         [RANGE 3000000 MICROSECONDS]
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from math import isfinite
from typing import Any

import pyarrow as pa
from sqlglot.dialects.spark import Spark
from sqlglot.tokenizer_core import Token, TokenType

from eddyline.testing.reading import duration_us, row_of, unit_us
from eddyline.types import sql_type


@dataclass(frozen=True)
class Instance:
    """The query of a row, which is in the table from ``start_us`` until before ``end_us``."""

    sql: str
    start_us: int
    end_us: int


def instances(sql: str, lifespans: Mapping[str, pa.Table]) -> list[Instance] | None:
    """The queries of all rows that the table of a parameterized query has ever had; None for
    another query.

    Args:
        lifespans: by table, its rows with ``__from`` and ``__to``.

    Raises:
        ValueError: the table is non-retroactive, or unknown.
    """
    tokens = Spark().tokenize(sql)
    found = row_of(tokens)
    if found is None:
        return None
    table, name, start = found
    if table not in lifespans:
        raise ValueError(f"the rows of {table!r} do not tell the answer: it is not retroactive")
    rows = lifespans[table]
    types = {f.name.lower(): f.type for f in rows.schema}
    return [
        Instance(_text(sql, tokens[start:], name, row, types), row["__from"], row["__to"])
        for row in ({k.lower(): v for k, v in r.items()} for r in rows.to_pylist())
    ]


def _text(
    sql: str,
    tokens: Sequence[Token],
    name: str,
    row: Mapping[str, Any],
    types: Mapping[str, pa.DataType],
) -> str:
    pieces, end, i = [], tokens[0].start, 0
    while i < len(tokens):
        column = _column_at(tokens, i, name)
        if column is not None:
            after = i + 2
            if tokens[i - 1].text.upper() == "RANGE":
                after = i + 7  # rules.n SECONDS AT MOST 1 HOUR
                shown = f"{_length_us(row[column], tokens[i + 3 : after + 1])} MICROSECONDS"
            else:
                shown = _literal(row[column], types[column])
            pieces += [sql[end : tokens[i].start], shown]
            end, i = tokens[after].end + 1, after
        i += 1
    return "".join(pieces) + sql[end : tokens[-1].end + 1]


def _column_at(tokens: Sequence[Token], i: int, name: str) -> str | None:
    """The column in ``name.column``."""
    if i + 2 >= len(tokens) or tokens[i].text.lower() != name.lower():
        return None
    if tokens[i + 1].token_type is not TokenType.DOT or (i and tokens[i - 1].text == "."):
        return None
    return tokens[i + 2].text.lower()


def _length_us(value: Any, tokens: Sequence[Token]) -> int:
    """The length of a window: ``value`` of a unit, ``AT MOST`` a duration; 0: it holds no rows."""
    words = [t.text.upper() for t in tokens]
    assert words[1:3] == ["AT", "MOST"], "the maximum is stated"
    most = duration_us(tokens[3:])
    if value is None or value <= 0:
        return 0
    if not isfinite(value):
        return most
    return min(int(Decimal(value) * unit_us(words[0])), most)


def _literal(value: Any, type_: pa.DataType) -> str:
    """A value as SQL, which is no number of a column where it stands alone."""
    if value is None:
        shown = "NULL"
    elif isinstance(value, bool):
        return str(value).upper()
    elif isinstance(value, float) and value != value:
        shown = "'NaN'"
    elif isinstance(value, (int, float)):
        shown = repr(value)
    else:
        text = str(value).replace("\\", "\\\\").replace("'", "\\'")
        shown = f"'{text}'"
    return f"CAST({shown} AS {sql_type(type_)})"
