"""Random sets of queries added to and dropped from one job, compared with the embedded engine.

That is compared with the oracle by playing the same cases (``test_shared_queries.py``). Here each
case has streams of its own, and no row is late, so that it does not matter which come together. The
order in which rows of one instant come does: a group that two of them change says so twice or once.
So the streams of a case get their rows one after the other. What is merged from parts of groups
changes once per instant, so its changes are compared by what is different after an instant.

A query sees the rows that the queries of its layout keep. So each layout is compared with an engine
that has its queries. That of an added layout has had the tables from the beginning, but rows of
streams only since then.

Some more cases have a table that changes; instead of their queries one over the table is added.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from random import Random

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from eddyline import CatalogError, Engine
from eddyline.spark import Run, Session
from eddyline.testing.bags import difference, rows_of
from eddyline.testing.strategies.query_set_cases import (
    STREAMS,
    ArrivingRow,
    QuerySetCase,
    random_case,
)
from eddyline.types import sql_type
from net_changes import net_changes
from spark_cases import SECOND, Feed, Twin

#: In seconds; more than a row of a case is ever behind.
LATENESS = 8
#: Brings the streams of a case into one group, whatever its queries read.
GLUE = {
    "a": "SELECT v FROM a [NOW]",
    "ab": "SELECT x.v FROM a [NOW] AS x, b [NOW] AS y WHERE x.k = y.k",
    "abc": "SELECT x.v FROM a [NOW] AS x, b [NOW] AS y, c [NOW] AS z WHERE x.k = y.k AND y.k = z.k",
}
TABLE = "t"
LOOKS_UP = "SELECT x.v, y.name FROM a [NOW] AS x, t AS y WHERE x.k = y.k"
#: Its rows are divided as those of no other query.
OF_TABLE = (
    "SELECT x.at, MAX(y.name) AS s FROM a [RANGE 3 SECONDS] AS x, t AS y WHERE x.k = y.k "
    "GROUP BY x.at UNION ALL SELECT x.at, MAX(x.s) FROM a [RANGE 3 SECONDS] AS x GROUP BY x.at"
)


class JobCase:
    """A case with its number in all names, as input for the job and its twins.

    Attributes:
        twins: by the shards of a layout, the engine that it is compared with.
    """

    def __init__(
        self, number: int, case: QuerySetCase, directory: Path, *, has_table: bool = False
    ) -> None:
        self._number = number
        self.turns = case.turns
        self._random = Random(number)
        self._has_table = has_table
        self._updates = self._random.choice(["retroactive", "non-retroactive"])
        self._log: list[dict[str, list[pa.Table]]] = []
        rows = [row for turn in case.turns for row in turn.rows]
        self._streams = next(s for s in GLUE if {row.stream for row in rows} <= set(s))
        self._feeds = {s: Feed(directory / self._name(s)) for s in self._inputs}
        self._names: dict[str, str] = {}  # a name that came back is another one in the job
        self.twins: dict[tuple[int, ...], Twin] = {}
        self._first = {self._name("glue"): self._renamed(GLUE[self._streams])}
        if self._has_table:
            self._first[self._name("looks_up")] = self._renamed(LOOKS_UP)
        for name, sql in case.turns[0].add:
            if name not in {f"keeper_{s}" for s in set(STREAMS) - set(self._streams)}:
                self._first[self._name(name)] = self._renamed(sql)
                self._names[name] = self._name(name)

    def declare(self, session: Session) -> None:
        """The streams and the first queries."""
        for ddl in self._ddl(source=True):
            session.sql(ddl)
        for name, sql in self._first.items():
            session.query(name, sql, sink="memory")

    def begin(self, run: Run) -> None:
        """The job has been started with the first queries."""
        for name, sql in self._first.items():
            self._twin(run, name).engine.query(sql, name=name)

    def change(self, run: Run, turn: int) -> None:
        """Drop and add the queries of a turn, when all rows so far have been processed."""
        if self._has_table:
            if turn == 2:
                known = len(self.twins)
                self._add(run, self._name("of_table"), self._renamed(OF_TABLE))
                assert len(self.twins) > known
            return
        for name in self.turns[turn].drop:
            twin = self._twin(run, self._names[name])
            run.drop(self._names[name])
            twin.engine.drop(self._names[name])
        for name, sql in self.turns[turn].add if turn else ():
            self._names[name] = f"{self._name(name)}_{turn}"
            self._add(run, self._names[name], self._renamed(sql))

    def _add(self, run: Run, name: str, sql: str) -> None:
        run.add(name, sql, sink="memory")
        self._twin(run, name).engine.query(sql, name=name)

    def _twin(self, run: Run, name: str) -> Twin:
        """That of the layout of a query; of a new layout it has had the tables only."""
        layout = tuple(run.running.layout_of(name).ids)
        if layout in self.twins:
            return self.twins[layout]
        engine = Engine()
        for ddl in self._ddl(source=False):
            engine.sql(ddl)
        streams = [self._name(s) for s in self._streams]
        engine.parts.progress.share_clock([self._name(s) for s in self._inputs], streams)
        twin = Twin(engine, dict.fromkeys(streams, LATENESS * SECOND))
        for rows in self._log:
            twin.process(rows, only_their_times=True)
        self.twins[layout] = twin
        return twin

    def write(self, turn: int, stream: str) -> None:
        """The rows of a turn for one stream, if the case has it, or changes of the table."""
        if stream in self._feeds:
            rows = self.turns[turn].rows
            table = self._changes(rows) if stream == TABLE else self._table(stream, rows)
            self._feeds[stream].write(table)
            self._log.append({self._name(stream): [table]})
            for twin in self.twins.values():
                twin.process(self._log[-1])

    @property
    def _inputs(self) -> tuple[str, ...]:
        return (*self._streams, TABLE) if self._has_table else tuple(self._streams)

    def _name(self, of: str) -> str:
        return f"{of}{self._number}"

    def _renamed(self, sql: str) -> str:
        sql = re.sub(r"\b([abc]) \[", lambda m: f"{self._name(m[1])} [", sql)
        return sql.replace(" t AS ", f" {self._name(TABLE)} AS ")

    def _ddl(self, *, source: bool) -> Iterator[str]:
        for stream in self._streams:
            columns = ", ".join(f"{f.name} {sql_type(f.type)}" for f in STREAMS[stream])
            with_ = f" WITH ({self._feeds[stream].source})" if source else ""
            yield (
                f"CREATE STREAM {self._name(stream)} ({columns}) TIMESTAMP BY ts "
                f"LATENESS {LATENESS} SECONDS{with_}"
            )
        if not self._has_table:
            return
        more = f", {self._feeds[TABLE].source}" if source else ""
        yield (
            f"CREATE TABLE {self._name(TABLE)} (k BIGINT, name STRING) "
            f"WITH (updates = '{self._updates}'{more})"
        )

    def _changes(self, rows: tuple[ArrivingRow, ...]) -> pa.Table:
        """Some changes from the first of these rows on: they wait, some for several turns."""
        times = [row.values[0] for row in rows if row.values[0] is not None]
        count = self._random.randint(0, 4) if times else 0
        steps = [self._random.choice([0, 0, 1, 3, 12]) for _ in range(count)]
        at = [min(times) + step * SECOND + SECOND // 3 for step in steps]
        return pa.table(
            {
                "_ts": pa.array(at, pa.int64()).cast(pa.timestamp("us", "UTC")),
                "_op": pa.array(self._random.choices("++-", k=count), pa.string()),
                "k": pa.array(self._random.choices(range(4), k=count), pa.int64()),
                "name": pa.array(self._random.choices("xy", k=count), pa.string()),
            }
        )

    @staticmethod
    def _table(stream: str, rows: tuple[ArrivingRow, ...]) -> pa.Table:
        mine = [row.values for row in rows if row.stream == stream]
        columns = zip(*mine, strict=True) if mine else [()] * len(STREAMS[stream])
        arrays = [pa.array(c, t) for c, t in zip(columns, STREAMS[stream].types, strict=True)]
        return pa.Table.from_arrays(arrays, schema=STREAMS[stream])


def some_cases(count: int) -> list[QuerySetCase]:
    """Short cases in which queries come and go."""
    found = (random_case(Random(seed)) for seed in itertools.count())
    fitting = (
        case
        for case in found
        if 4 <= len(case.turns) <= 6 and any(t.add or t.drop for t in case.turns[1:])
    )
    return list(itertools.islice(fitting, count))


def delivered(session: Session, query: str) -> Iterator[pa.Table]:
    """What a session has of a query; nothing if that came later."""
    with suppress(CatalogError):
        yield session.results(query).toArrow()


@pytest.mark.parametrize("count", [4, pytest.param(60, marks=pytest.mark.long)])
def test_results_equal_those_of_embedded_engines(
    spark: SparkSession, tmp_path: Path, count: int
) -> None:
    with_tables = count // 2
    cases = [
        JobCase(i, case, tmp_path, has_table=i >= count)
        for i, case in enumerate(some_cases(count + with_tables))
    ]

    def new_session() -> Session:
        session = Session(spark, checkpoint=tmp_path / "checkpoint", shards=2)
        for case in cases:
            case.declare(session)
        return session

    sessions = [new_session()]
    run = sessions[0].start()
    for case in cases:
        case.begin(run)
    merged: set[str] = set()
    last = max(len(case.turns) for case in cases)
    for turn in range(last):
        there = [case for case in cases if turn < len(case.turns)]
        for case in there:
            case.change(run, turn)
        merged |= run.running.divided.by_name.keys()
        run.processAllAvailable()
        for stream in (*STREAMS, TABLE):
            for case in there:
                case.write(turn, stream)
            run.processAllAvailable()
        if turn == last // 2:
            run.stop()
            sessions.append(new_session())
            run = sessions[-1].start()
    run.finish()
    for case in cases:
        drains_us = max(twin.drains_us() for twin in case.twins.values())
        for twin in case.twins.values():
            twin.end(drains_us)
    twins = [twin for case in cases for twin in case.twins.values()]
    for of, (name, query) in [(twin, query) for twin in twins for query in twin.queries.items()]:
        expected = of.rows(name)
        found = [row for s in sessions for table in delivered(s, name) for row in rows_of(table)]
        if name in merged:
            found.sort(key=lambda row: row[1])
            expected, found = (net_changes(query, r, of.engine.clock) for r in (expected, found))
        assert difference(expected, found) == ([], []), name
    assert merged & {name for twin in twins for name in twin.changes()}
    assert sum(len(twin.changes()) for twin in twins) > 5 * count
    assert any("of_table" in name for twin in twins for name in twin.changes())
