"""Parameters of a query, ``:name``: constants that the caller supplies."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from itertools import pairwise
from typing import Any, Final

from sqlglot.errors import TokenError
from sqlglot.tokenizer_core import Token, TokenType

from eddyline.errors import SqlError, did_you_mean
from eddyline.sql.dialect import Eddyline
from eddyline.sql.naming import quoted_text
from eddyline.sql.source import SourceText

_DIALECT: Final = Eddyline()


def with_values(sql: str, parameters: Mapping[str, Any]) -> str:
    """The text with constants in the place of its parameters; names ignore case.

    >>> with_values("SELECT x FROM s [NOW] WHERE x > :least", {"least": 5})
    'SELECT x FROM s [NOW] WHERE x > 5'

    Args:
        parameters: numbers, texts, booleans, datetimes, dates, timedeltas, or None, by name.

    Raises:
        SqlError: a parameter has no value, a value no parameter, or a type SQL has not.
    """
    source, given = SourceText(sql), {name.lower(): v for name, v in parameters.items()}
    try:
        tokens = _DIALECT.tokenize(sql)
    except TokenError:
        return sql  # the parser says what is wrong
    parts: list[str] = []
    used: set[str] = set()
    at = 0
    for colon, word in pairwise(tokens):
        if not _is_parameter(colon, word, sql):
            continue
        name = word.text.lower()
        if name not in given:
            raise source.error(colon, f"there is no value of :{word.text}; {_valid(name, given)}")
        used.add(name)
        try:
            parts += [sql[at : colon.start], _constant(given[name])]
        except ValueError as e:
            raise source.error(colon, f"the value of :{word.text} {e}") from None
        at = word.end + 1
    unused = [name for name in parameters if name.lower() not in used]
    if unused:
        raise SqlError(f"the query has no parameter :{unused[0]}")
    return "".join((*parts, sql[at:]))


def _is_parameter(colon: Token, word: Token, sql: str) -> bool:
    if colon.token_type != TokenType.COLON or word.start != colon.end + 1:
        return False
    return sql[word.start].isidentifier()


def _valid(name: str, given: Mapping[str, Any]) -> str:
    return did_you_mean(name, given) if given else "none is given"


def _constant(value: Any) -> str:
    """A value as SQL."""
    match value:
        case None:
            return "NULL"
        case bool():
            return str(value).upper()
        case int():
            return str(value) if value >= 0 else f"({value})"
        case float():
            return _double(value)
        case str():
            return quoted_text(value)
        case Decimal() if value.is_finite():
            return _decimal(value)
        case datetime():
            utc = value if value.tzinfo is None else value.astimezone(UTC)
            return f"TIMESTAMP '{utc.replace(tzinfo=None).isoformat(' ')}'"
        case date():
            return f"DATE '{value.isoformat()}'"
        case timedelta():
            return f"INTERVAL '{value // timedelta(microseconds=1)}' MICROSECONDS"
    raise ValueError(
        f"is a {type(value).__name__}; valid: numbers, texts, booleans, datetimes, dates, "
        "timedeltas, None"
    )


def _double(value: float) -> str:
    if math.isfinite(value):
        text = repr(abs(value))
        text = text if "." in text or "e" in text else f"{text}.0"
        return text if math.copysign(1, value) > 0 else f"(-{text})"
    name = "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"
    return f"CAST('{name}' AS DOUBLE)"


def _decimal(value: Decimal) -> str:
    _, digits, exponent = value.as_tuple()
    assert isinstance(exponent, int), "the number is finite"
    scale = max(-exponent, 0)
    precision = max(len(digits) + max(exponent, 0), scale, 1)
    if precision > 38:
        raise ValueError("has more than 38 digits")
    return f"CAST('{value:f}' AS DECIMAL({precision},{scale}))"
