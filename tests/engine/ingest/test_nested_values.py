"""Structures, lists and maps as columns of streams: what callers may supply, and bad rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from eddyline import Engine
from eddyline.errors import DataError

DECLARED = (
    "CREATE STREAM s (ts TIMESTAMP, o STRUCT<city: STRING, at: STRUCT<x: INT>>, "
    "tags ARRAY<STRING>, m MAP<STRING, SMALLINT>) TIMESTAMP BY ts"
)
TYPES: dict[str, pa.DataType] = {
    "o": pa.struct([("city", pa.string()), ("at", pa.struct([("x", pa.int32())]))]),
    "tags": pa.list_(pa.string()),
    "m": pa.map_(pa.string(), pa.int16()),
}
VALUES: dict[str, list[Any]] = {
    "o": [{"city": "Rome", "at": {"x": 1}}, None, {"city": None, "at": None}],
    "tags": [["a", None], [], None],
    "m": [[("k", 7)], None, []],
}


@pytest.fixture
def engine() -> Engine:
    engine = Engine()
    engine.sql(DECLARED)
    engine.query("SELECT o, tags, m FROM s [NOW]", name="q")
    return engine


def rows(**columns: pa.Array) -> pa.Table:
    given = {n: columns.get(n, pa.array(VALUES[n], TYPES[n])) for n in TYPES}
    return pa.table({"ts": [0] * len(given["o"]), **given})


def values_in(result: pa.Table) -> dict[str, list[Any]]:
    return {name: result.column(name).to_pylist() for name in TYPES}


def found(engine: Engine, table: pa.Table) -> dict[str, list[Any]]:
    return values_in(engine.process({"s": table})["q"])


def test_values_come_out_as_they_went_in(engine: Engine) -> None:
    assert found(engine, rows()) == VALUES


@pytest.mark.parametrize(
    ("name", "type_"),
    [
        ("tags", pa.large_list(pa.large_string())),
        ("tags", pa.list_view(pa.string())),
        ("tags", pa.list_(pa.dictionary(pa.int32(), pa.string()))),
        ("o", pa.struct([("AT", pa.struct([("X", pa.int64())])), ("city", pa.string())])),
        ("m", pa.map_(pa.large_string(), pa.int64())),
    ],
)
def test_other_types_of_arrow_are_converted(engine: Engine, name: str, type_: pa.DataType) -> None:
    values = VALUES[name]
    if name == "o":
        values = [v and {"city": v["city"], "AT": v["at"] and {"X": v["at"]["x"]}} for v in values]
    assert found(engine, rows(**{name: pa.array(values, type_)})) == VALUES


def test_a_part_that_does_not_fit_makes_a_bad_row(engine: Engine) -> None:
    wide = pa.struct([("city", pa.string()), ("at", pa.struct([("x", pa.int64())]))])
    structures = pa.array([{"city": "é", "at": {"x": 1 << 40}}, None, VALUES["o"][0]], wide)
    maps = pa.array([[("k", 1)], [("k", 70_000), ("l", None)], None], pa.map_("string", "int64"))
    out = engine.process({"s": rows(o=structures, m=maps)})
    assert values_in(out["q"])["o"] == [VALUES["o"][0]]
    bad = out.bad["s"]
    assert bad.column("_reason").to_pylist() == [
        """o: cannot read '{"city": "é", "at": {"x": 1099511627776}}' """
        "as STRUCT<city: STRING, at: STRUCT<x: INT>>",
        """m: cannot read '{"k": 70000, "l": null}' as MAP<STRING, SMALLINT>""",
    ]
    assert bad.column("tags").to_pylist() == ['["a", null]', "[]"]


def test_texts_that_are_not_utf8_make_bad_rows(engine: Engine) -> None:
    offsets = pa.py_buffer(np.array([0, 1, 2, 3], np.int32))
    texts = pa.Array.from_buffers(pa.string(), 3, [None, offsets, pa.py_buffer(b"a\xffb")])
    tags = pa.ListArray.from_arrays(pa.array([0, 1, 2, 3], pa.int32()), texts)
    out = engine.process({"s": rows(tags=tags)})
    assert values_in(out["q"])["tags"] == [["a"], ["b"]]
    assert out.bad["s"].column("_reason").to_pylist() == ["tags is not UTF-8"]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (pa.array([{"city": "x"}]), "there is no field 'at'; valid: city"),
        (pa.array([1]), "use a structure for a STRUCT"),
    ],
)
def test_what_cannot_be_converted_is_an_error(
    engine: Engine, values: pa.Array, message: str
) -> None:
    others = {n: pa.nulls(1, TYPES[n]) for n in ("tags", "m")}
    with pytest.raises(DataError, match=f"column 'o' is declared STRUCT.*{message}"):
        engine.process({"s": rows(o=values, **others)})
