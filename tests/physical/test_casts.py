"""Casts of columns and of constants, and what they refuse."""

from __future__ import annotations

import datetime as dt
import math
import re
from decimal import Decimal
from typing import Any, Final

import pyarrow as pa
import pytest

from eddyline.algebra.expressions import Literal
from eddyline.algebra.functions import cast, try_cast
from eddyline.errors import SqlError
from eddyline.types import TIMESTAMP, sql_type
from expression_columns import column, failing

NAN, INF = math.nan, math.inf
FAILS: Final = object()
CASTS: list[tuple[pa.DataType, Any, pa.DataType, Any]] = [
    (pa.string(), " 12\t", pa.int64(), 12),
    (pa.string(), " 12.7 ", pa.int64(), FAILS),
    (pa.string(), "+5", pa.int8(), 5),
    (pa.string(), ".5", pa.int32(), FAILS),
    (pa.string(), "2024-01-02 10", TIMESTAMP, "2024-01-02 10:00:00+00:00"),
    (pa.float64(), 3.485, pa.decimal128(10, 2), Decimal("3.49")),
    (pa.float64(), 6e-7, pa.decimal128(10, 6), Decimal("0.000001")),
    (pa.float32(), 0.5, pa.decimal128(38, 38), Decimal("0.5")),
    (pa.float64(), 1e15, pa.decimal128(38, 2), Decimal("1e15")),
    (pa.string(), "128", pa.int8(), FAILS),
    (pa.string(), "1e3", pa.int32(), FAILS),
    (pa.string(), "1e3", pa.float64(), 1000.0),
    (pa.string(), "-Infinity", pa.float64(), -INF),
    (pa.string(), "twelve", pa.float64(), FAILS),
    (pa.string(), " Yes", pa.bool_(), True),
    (pa.string(), "0", pa.bool_(), False),
    (pa.string(), "2", pa.bool_(), FAILS),
    (pa.string(), "2024-02-29", pa.date32(), dt.date(2024, 2, 29)),
    (pa.string(), "2023-02-29", pa.date32(), FAILS),
    (pa.string(), "2024-3", pa.date32(), dt.date(2024, 3, 1)),
    (pa.string(), "2024-1-2 3:4:5.25+02:00", TIMESTAMP, "2024-01-02 01:04:05.250000+00:00"),
    (pa.string(), "2024-01-02T23:59:59Z", TIMESTAMP, "2024-01-02 23:59:59+00:00"),
    (pa.string(), "2024-01-02 24:00:00", TIMESTAMP, FAILS),
    (pa.string(), "1.005", pa.decimal128(5, 2), Decimal("1.01")),
    (pa.string(), "1000", pa.decimal128(5, 2), FAILS),
    (pa.int32(), 300, pa.int8(), FAILS),
    (pa.int64(), 5, TIMESTAMP, "1970-01-01 00:00:05+00:00"),
    (pa.int64(), 1000, pa.decimal128(5, 2), FAILS),
    (pa.float64(), NAN, pa.int32(), FAILS),
    (pa.float64(), 1e10, pa.int32(), FAILS),
    (pa.float64(), -1.9, pa.int64(), -1),
    (pa.float64(), NAN, pa.decimal128(5, 2), None),
    (pa.float64(), INF, TIMESTAMP, FAILS),
    (pa.float64(), 1.0, pa.string(), "1.0"),
    (pa.float64(), 1e7, pa.string(), "1.0E7"),
    (pa.float64(), -1.5e-5, pa.string(), "-1.5E-5"),
    (pa.float64(), 1.25e300, pa.string(), "1.25E300"),
    (pa.float64(), NAN, pa.string(), "NaN"),
    (pa.decimal128(5, 2), Decimal("-7.99"), pa.int32(), -7),
    (pa.decimal128(5, 2), Decimal("7.99"), pa.decimal128(3, 1), Decimal("8.0")),
    (TIMESTAMP, -1_500_000, pa.int64(), -2),
    (TIMESTAMP, -1_500_000, pa.float64(), -1.5),
    (pa.binary(), b"\xff", pa.string(), "\ufffd"),
    (pa.binary(), b"ok", pa.string(), "ok"),
    (pa.int64(), 3_000_000_000, pa.int32(), FAILS),
    (pa.float64(), 127.9, pa.int8(), 127),
    (pa.float64(), 128.0, pa.int8(), FAILS),
    (pa.float64(), 2147483647.9, pa.int32(), 2**31 - 1),
    (pa.float64(), 9.223372036854775807e18, pa.int64(), 2**63 - 1),
    (pa.float64(), -9.223372036854775808e18, pa.int64(), -(2**63)),
    (pa.float64(), 1e19, pa.int64(), FAILS),
    (pa.float64(), NAN, pa.bool_(), True),
    (pa.float64(), 1e30, TIMESTAMP, FAILS),
    (pa.float64(), 1000.0, pa.decimal128(5, 2), FAILS),
    (pa.float64(), INF, pa.decimal128(5, 2), None),
    (pa.float64(), 1e300, pa.float32(), INF),
    (pa.string(), "1e400", pa.float64(), INF),
    (pa.string(), "", pa.int32(), FAILS),
    (pa.string(), "9223372036854775808", pa.int64(), FAILS),
    (pa.string(), "maybe", pa.bool_(), FAILS),
    (pa.string(), "abc", pa.date32(), FAILS),
    (pa.string(), "abc", pa.decimal128(5, 2), FAILS),
    (pa.decimal128(5, 2), Decimal("999.99"), pa.decimal128(3, 1), FAILS),
    (pa.decimal128(5, 2), Decimal("999.99"), pa.int8(), FAILS),
    (pa.bool_(), True, pa.decimal128(1, 1), FAILS),
    (TIMESTAMP, 4922899200_000_000, pa.int32(), FAILS),
    (TIMESTAMP, 1767225600_000_000, pa.int32(), 1767225600),
    (pa.date32(), 2**31 - 1, TIMESTAMP, FAILS),
]


@pytest.mark.parametrize(("source", "value", "target", "expected"), CASTS)
def test_cast(source: pa.DataType, value: Any, target: pa.DataType, expected: Any) -> None:
    number = pa.int64() if source == TIMESTAMP else pa.int32() if source == pa.date32() else source
    table = pa.table({"v": pa.array([value, None], number).cast(source)})
    got, reasons = failing(cast(column("v", table), target), table)
    lenient, none = failing(try_cast(column("v", table), target), table)
    assert (got.equals(lenient), none) == (True, {})
    assert got[1].as_py() is None
    if expected is FAILS:
        assert [*reasons] == [0]
        assert reasons[0].startswith("cannot cast ")
        assert reasons[0].endswith(f" to {sql_type(target)}")
    else:
        assert not reasons
        found = got[0].as_py()
        assert (str(found) if isinstance(found, dt.datetime) else found) == expected


@pytest.mark.parametrize(("source", "value", "target", "expected"), CASTS)
def test_cast_of_a_constant(
    source: pa.DataType, value: Any, target: pa.DataType, expected: Any
) -> None:
    if source in (TIMESTAMP, pa.date32()):
        pytest.skip("not all instants are values of Python")
    constant = Literal(source, value)
    if expected is FAILS:
        with pytest.raises(SqlError, match=f"is not a valid {re.escape(sql_type(target))}"):
            cast(constant, target)
        assert try_cast(constant, target) == Literal(target, None)
    else:
        folded = cast(constant, target)
        assert isinstance(folded, Literal)
        found = folded.value
        assert (str(found) if isinstance(found, dt.datetime) else found) == expected
