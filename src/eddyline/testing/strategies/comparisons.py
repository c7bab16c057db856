"""Random predicates as alert rules have them: columns compared with constants, in all types."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Final

_OPERATORS: Final = ("=", "<", ">", "<=", ">=", "<>")

#: Constants by column: some between the values that rows have, some beyond, some of other types.
_CONSTANTS: Final = {
    "k": ("1", "2", "0", "3", "1.5D", "-1", "3000000000"),
    "v": ("1", "2", "0", "-2", "5", "1.5D", "1.5", "2.0D"),
    "d": ("1.0D", "0.5D", "0.0D", "-0.0D", "2", "-1.25D", "1.5"),
    "s": ("'x'", "'yy'", "'y'", "''", "'xz'", "'Z'", "'é'"),
    "at": tuple(f"TIMESTAMP '1970-01-01 00:00:0{n}'" for n in (2, 1, 4, 7)),
    "ts": tuple(f"TIMESTAMP '1970-01-01 00:00:{n}'" for n in ("06", "09", "15")),
}
#: 0: the column; 1, 2: constants.
_FORMS: Final = (
    *("{0} BETWEEN {1} AND {2}", "{0} IN ({1}, {2})", "{0} NOT IN ({1}, {2})"),
    *("{0} IS NULL", "{0} IS NOT NULL", "{0} <=> {1}", "{0} IN ({1}, NULL)", "{0} = NULL"),
    *("({0} < {1} OR {0} > {2})", "({0} >= {1} AND {0} < {2})", "NOT ({0} = {1} OR {0} = {2})"),
    *("{0} NOT BETWEEN {1} AND {2}", "{0} NOT IN ({1}, NULL)", "NOT ({0} <=> {1})"),
)
_STRINGS: Final = (
    *("{} LIKE 'x%'", "{} LIKE '%y'", "{} LIKE 'x_'", "{} NOT LIKE 'y%'", "{} LIKE 'yy'"),
    *("UPPER({}) = 'X'", "LENGTH({}) > 1", "{} LIKE ''", "{} || 'z' = 'xz'"),
)
_NUMBERS: Final = (
    *("{} % 2 = 0", "{} + 1 > 2", "-{} < 0", "ABS({}) <= 1", "{} * 2 IN (2, 4)"),
    *("10 DIV {} > 3", "{} * 4611686018427387904 > 0", "6 % {} <> 0"),  # these fail for some rows
)
_FLAGS: Final = (
    *("{}", "NOT {}", "{} IS TRUE", "{} IS NOT TRUE", "{} IS NOT FALSE", "{} IS NULL"),
    *("{} = true", "{} <> true", "{} IN (false)"),
)
#: Predicates over several columns of one row, which no index of one column answers.
_ROWS: Final = (
    *("{0}.k < {0}.v", "{0}.k = {0}.v", "{0}.d >= {0}.v", "{0}.at > {0}.ts"),
    *("COALESCE({0}.v, {0}.k) > 1", "CASE WHEN {0}.f THEN {0}.v ELSE {0}.k END > 1"),
    *("({0}.v > 1) = {0}.f", "TRUE", "1 = 0", "{0}.k + {0}.v BETWEEN 1 AND 3"),
    *("{0}.k / {0}.v > 1", "CAST({0}.s AS BIGINT) IS NULL"),
)
#: Predicates over two streams beyond equal keys.
_PAIRS: Final = (
    *("{0}.v < {1}.v", "{0}.v + {1}.v > 3", "{0}.s <= {1}.s", "{0}.ts <= {1}.ts"),
    *("{0}.d > 1.5D * {1}.d", "({0}.v > 1 OR {1}.v > 1)", "({0}.f OR {1}.s = 'x')"),
    *("NOT ({0}.v = {1}.v)", "COALESCE({0}.v, {1}.v) > 1", "{0}.at <=> {1}.at"),
    *("{0}.k / {1}.v > 1", "{0}.v % {1}.v = 0"),
)


def condition(luck: Random, aliases: Sequence[str]) -> str:
    """One conjunct of a WHERE clause over streams of these names."""
    alias = luck.choice(aliases)
    shape = luck.choice([*["one"] * 7, "any", "any", "mixed", "row", "pair", "pair"])
    if shape == "pair" and len(aliases) > 1:
        return luck.choice(_PAIRS).format(*luck.sample(aliases, 2))
    if shape == "row":
        return luck.choice(_ROWS).format(alias)
    if shape == "any":
        form = luck.choice(["({} OR {})", "NOT ({} AND {})", "NOT ({} OR {})"])
        return form.format(comparison(luck, alias), comparison(luck, alias))
    if shape == "mixed":
        form = luck.choice(["({} OR {} AND {})", "(({} OR {}) AND NOT {})", "({} OR {} OR {})"])
        return form.format(*(comparison(luck, alias) for _ in range(3)))
    return comparison(luck, alias)


def comparison(luck: Random, alias: str) -> str:
    """A comparison of one column with constants."""
    name = luck.choice(["v", "v", "v", "k", "s", "d", "f", "at", "ts"])
    column = f"{alias}.{name}"
    if name == "f":
        return luck.choice(_FLAGS).format(column)
    one, other = luck.choice(_CONSTANTS[name]), luck.choice(_CONSTANTS[name])
    shape = luck.choice(["plain", "plain", "plain", "turned", "form", "form", "other"])
    if shape == "other" and name in ("s", "v", "k"):
        return luck.choice(_STRINGS if name == "s" else _NUMBERS).format(column)
    if shape == "form":
        return luck.choice(_FORMS).format(column, one, other)
    operator = luck.choice(_OPERATORS)
    return f"{one} {operator} {column}" if shape == "turned" else f"{column} {operator} {one}"
