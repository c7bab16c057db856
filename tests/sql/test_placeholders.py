"""Parameters of queries become constants."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from eddyline import Engine, SqlError
from eddyline.sql.placeholders import with_values

VALUES: list[Any] = [
    *(5, -5, 2**62, 1.5, -0.0, 1e300, 3.0, math.inf, True, False, None, "it's :x \\ 日本", ""),
    *(Decimal("1.50"), Decimal("-3E+2"), Decimal("0.001"), date(2024, 2, 29)),
    *(datetime(2024, 2, 29, 1, 2, 3, 4, UTC), timedelta(days=-1, microseconds=3)),
]


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_values_arrive_as_they_are(value: Any) -> None:
    engine = Engine()
    engine.sql("CREATE STREAM s (ts TIMESTAMP, k BIGINT) TIMESTAMP BY ts")
    engine.query("SELECT :V AS v, k FROM s [NOW] WHERE k = :k", "q", {"v": value, "k": 1})
    out = engine.process({"s": pa.table({"ts": [0, 0], "k": [1, 2]})})
    [found] = out["q"]["v"].to_pylist()
    assert found == value
    assert isinstance(found, type(value))


def test_naive_datetimes_are_utc() -> None:
    text = with_values("SELECT :t", {"t": datetime(2024, 1, 1)})
    assert text == "SELECT TIMESTAMP '2024-01-01 00:00:00'"


def test_what_is_no_parameter() -> None:
    text = "SELECT ':a', k::BIGINT, `:a` FROM s /* :a */ WHERE k = :a -- :a"
    assert with_values(text, {"a": 1}) == text.replace("k = :a", "k = 1")


@pytest.mark.parametrize(
    ("sql", "parameters", "message"),
    [
        ("SELECT :least FROM s", {"lest": 1}, "there is no value of :least; did you mean 'lest'"),
        ("SELECT 1 FROM s", {"x": 1}, "the query has no parameter :x"),
        ("SELECT :x FROM s", {"x": [1]}, "the value of :x is a list; valid: numbers"),
        ("SELECT :x FROM s", {"x": Decimal(10) ** 40}, "more than 38 digits"),
    ],
)
def test_wrong_parameters(sql: str, parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(SqlError, match=message):
        with_values(sql, parameters)
