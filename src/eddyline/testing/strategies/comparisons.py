"""Random predicates like those of alert rules: columns compared with constants, of all types."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Final

_OPERATORS: Final = ("=", "<", ">", "<=", ">=", "<>")

#: Constants by column: some among the values of rows, some beyond them, some of other types.
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
#: Predicates over several columns of one row, which no index on one column can answer.
_ROWS: Final = (
    *("{0}.k < {0}.v", "{0}.k = {0}.v", "{0}.d >= {0}.v", "{0}.at > {0}.ts"),
    *("COALESCE({0}.v, {0}.k) > 1", "CASE WHEN {0}.f THEN {0}.v ELSE {0}.k END > 1"),
    *("({0}.v > 1) = {0}.f", "TRUE", "1 = 0", "{0}.k + {0}.v BETWEEN 1 AND 3"),
    *("{0}.k / {0}.v > 1", "CAST({0}.s AS BIGINT) IS NULL"),
)
#: Predicates over two streams other than equal keys.
_PAIRS: Final = (
    *("{0}.v < {1}.v", "{0}.v + {1}.v > 3", "{0}.s <= {1}.s", "{0}.ts <= {1}.ts"),
    *("{0}.d > 1.5D * {1}.d", "({0}.v > 1 OR {1}.v > 1)", "({0}.f OR {1}.s = 'x')"),
    *("NOT ({0}.v = {1}.v)", "COALESCE({0}.v, {1}.v) > 1", "{0}.at <=> {1}.at"),
    *("{0}.k / {1}.v > 1", "{0}.v % {1}.v = 0"),
)


def condition(random: Random, aliases: Sequence[str]) -> str:
    """One conjunct of a WHERE clause over these aliases."""
    alias = random.choice(aliases)
    shape = random.choice([*["one"] * 7, "any", "any", "mixed", "row", "pair", "pair"])
    if shape == "pair" and len(aliases) > 1:
        return random.choice(_PAIRS).format(*random.sample(aliases, 2))
    if shape == "row":
        return random.choice(_ROWS).format(alias)
    if shape == "any":
        form = random.choice(["({} OR {})", "NOT ({} AND {})", "NOT ({} OR {})"])
        return form.format(comparison(random, alias), comparison(random, alias))
    if shape == "mixed":
        form = random.choice(["({} OR {} AND {})", "(({} OR {}) AND NOT {})", "({} OR {} OR {})"])
        return form.format(*(comparison(random, alias) for _ in range(3)))
    return comparison(random, alias)


def comparison(random: Random, alias: str) -> str:
    """A comparison of one column with constants."""
    name = random.choice(["v", "v", "v", "k", "s", "d", "f", "at", "ts"])
    column = f"{alias}.{name}"
    if name == "f":
        return random.choice(_FLAGS).format(column)
    one, other = random.choice(_CONSTANTS[name]), random.choice(_CONSTANTS[name])
    shape = random.choice(["plain", "plain", "plain", "mirrored", "form", "form", "other"])
    if shape == "other" and name in ("s", "v", "k"):
        return random.choice(_STRINGS if name == "s" else _NUMBERS).format(column)
    if shape == "form":
        return random.choice(_FORMS).format(column, one, other)
    operator = random.choice(_OPERATORS)
    return f"{one} {operator} {column}" if shape == "mirrored" else f"{column} {operator} {one}"
