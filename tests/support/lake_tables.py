"""What all tables of lakes do: the sinks ``delta`` and ``iceberg``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from eddyline.spark.sinks.failure_policy import RefusedError
from eddyline.spark.sinks.table_sink import TableSink
from table_cases import EngineTables, answer, bag, changes, rows_of_streams


class LakeTables(EngineTables):
    """Tables that are read as a whole."""

    def table(self, name: str) -> pa.Table:
        raise NotImplementedError

    def rows(self, table: str) -> list[tuple[Any, ...]]:
        columns = [column.to_pylist() for column in self.table(table).columns]
        return bag(list(zip(*columns, strict=True)))


def check_appended_once(open_tables: Callable[..., LakeTables], place: Path) -> None:
    """Three batches of the queries ``plain`` and ``log``, also after a restart.

    Args:
        open_tables: makes the tables of queries at a place, ``again`` after a restart.
    """
    queries = {
        "plain": ("SELECT id, w FROM a [RANGE 1 SECONDS]", ""),
        "log": ("SELECT id FROM a [RANGE 1 SECONDS] EMIT CHANGES", ", mode = 'changelog'"),
    }
    tables = open_tables(place, queries)
    rng = np.random.default_rng(0)
    expected: dict[str, list[tuple[Any, ...]]] = {name: [] for name in queries}
    for batch in range(3):
        out = tables.engine.process(rows_of_streams(rng, batch * 12, 12))
        for name in queries:
            expected[name] += zip(*(c.to_pylist() for c in out[name].columns), strict=True)
        batches = list(out.batches())
        tables.deliver(batch, batches)
        open_tables(place, queries, again=True).deliver(batch, batches, times=2)
    assert tables.rows("plain") == bag(expected["plain"])
    log = tables.table("log").sort_by([("_batch", "ascending"), ("_seq", "ascending")])
    places = list(zip(log["_batch"].to_pylist(), log["_seq"].to_pylist(), strict=True))
    assert places == sorted(set(places)) and len({batch for batch, _ in places}) == 3
    found = list(zip(*(c.to_pylist() for c in log.columns[2:]), strict=True))
    assert found == expected["log"], "in order"


def check_shared(open_tables: Callable[..., LakeTables], place: Path, table: str) -> None:
    """Two queries share the table ``both``.

    Args:
        table: the option that names it.
    """
    same = f", {table}, mode = 'upsert'"
    select = "SELECT k, COUNT(*) AS n FROM a [RANGE {} SECONDS] GROUP BY k"
    queries = {name: (select.format(s), same) for name, s in (("short", 1), ("the rest", 9))}
    tables = open_tables(place, {f'"{name}"': query for name, query in queries.items()})
    rng = np.random.default_rng(0)
    for batch in range(3):
        out = tables.engine.process(rows_of_streams(rng, batch * 12, 12))
        tables.deliver(batch, list(out.batches()), times=2)
        expected = [(n, *row) for n in queries for row in answer(tables.engine.queries[n])]
        assert tables.rows("both") == bag(expected) and expected
    ((sink, names),) = tables.sinks.emptied(frozenset("a")).items()
    assert isinstance(sink, TableSink) and sink.shared
    sink.deliver(3, [], {}, ["the rest"])
    assert {row[0] for row in tables.rows("both")} == {"short"}
    out = tables.engine.process(rows_of_streams(rng, 36, 12))
    sink.deliver(4, [], {}, names)
    assert tables.rows("both") == []


def check_equal_keys(
    open_tables: Callable[..., LakeTables], place: Path, sink: str, key: str
) -> None:
    """Batches with two rows of a key are refused as a whole."""
    options = f", mode = 'upsert', key = '{key}'"
    tables = open_tables(
        place, {"q": ("SELECT k, w, id FROM a [RANGE 9 SECONDS] EMIT CHANGES", options)}
    )
    message = rf"^'q': sink '{sink}', table '.*two rows of the answer have the same key \(k.*=\(5"
    one = changes(k=pa.array([5, 6]), w=pa.array([None, "x"]), id=pa.array([1, 2]))
    with pytest.raises(RefusedError, match=message):
        tables.deliver(0, [one, one])
    two = one.set_column(6, "id", pa.array([3, 4]))
    with pytest.raises(RefusedError, match=message):
        tables.deliver(0, [one.slice(0, 1), two])
    tables.deliver(0, [one])
    with pytest.raises(RefusedError, match=message):
        tables.deliver(1, [two.slice(0, 1)])
    assert tables.rows("q") == [(5, None, 1), (6, "x", 2)], "nothing of a refused batch is written"
    gone = one.set_column(1, "_op", pa.array(["-", "-"]))
    tables.deliver(1, [two, gone])
    assert tables.rows("q") == [(5, None, 3), (6, "x", 4)]
