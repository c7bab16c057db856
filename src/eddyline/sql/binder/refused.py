"""Unsupported expressions: their names in messages, and what to write instead."""

from __future__ import annotations

from typing import Final

from sqlglot import exp

from eddyline.algebra.functions.alternatives import ALTERNATIVES, CLOCK
from eddyline.sql.numbers import shortened

_SETS: Final = "write it as an element of GROUP BY or of GROUPING SETS"
_POWER: Final = (
    "for some it is a power, write power(x, y); for others the bits that differ, (x | y) - (x & y)"
)
_VALUES: Final = (
    "write the value, or :name and Engine.query(..., parameters={'name': value}); for many rows of "
    "values FOR EACH ROW OF a table"
)
_NOW: Final = "a replay would give another value: use the event time of the stream"

_REFUSED: Final[dict[type[exp.Expr], tuple[str, str]]] = {
    exp.Select: ("a sub-query in an expression", "join it in FROM"),
    exp.Any: ("ANY", "use IN or EXISTS"),
    exp.All: ("ALL", "use NOT EXISTS"),
    exp.GroupingSets: ("GROUPING SETS here", _SETS),
    exp.Cube: ("CUBE here", _SETS),
    exp.Rollup: ("ROLLUP here", _SETS),
    exp.WithinGroup: ("WITHIN GROUP", "docs/sql-functions.md lists the aggregates"),
    exp.Star: ("* inside an expression", "name the columns"),
    exp.Distinct: (
        "DISTINCT inside a function",
        "aggregates take it: COUNT(DISTINCT x), SUM(DISTINCT x)",
    ),
    exp.Dot: ("this behind a point", "write the name of a field"),
    exp.Slice: ("a part of a list", "write one position, as in list[0]"),
    exp.Struct: ("STRUCT(...)", "write named_struct('name', value, ...)"),
    exp.Map: ("MAP", "write map(key, value, ...)"),
    exp.Kwarg: ("=> in an expression", "a function over elements is written x -> x + 1"),
    exp.JSON: ("IS JSON", "write json_exists(x, '$.name') for a field that it must have"),
    exp.Lambda: ("->", "docs/sql-functions.md lists the functions over elements"),
    exp.BitwiseXor: ("^", _POWER),
    exp.CurrentTimestamp: ("CURRENT_TIMESTAMP here", CLOCK),
    exp.CurrentDate: ("CURRENT_DATE", _NOW),
    exp.CurrentTime: ("CURRENT_TIME", _NOW),
    exp.Collate: ("COLLATE", "texts are ordered by their code points; lower(x) ignores case"),
    exp.Tuple: ("a tuple", "compare it with others by = or IN, also IN (SELECT ...)"),
    exp.Placeholder: ("a parameter without a value", _VALUES),
    exp.Parameter: ("a parameter without a name", _VALUES),
}


def refusal_of(node: exp.Expr) -> tuple[str, str]:
    """The name of an unsupported expression in messages, and what to write instead."""
    known = _REFUSED.get(type(node))
    if known is not None:
        return known
    instead = ALTERNATIVES.get(node.key.lower()) or "docs/sql-functions.md lists the functions"
    return f"'{shortened(node.sql('spark'))}'", instead
