"""Random sets of queries added to and dropped from one job, compared with the embedded engine.

That is compared with the oracle by playing the same cases (``test_shared_queries.py``). Here each
case has streams of its own, and no row is late, so that it does not matter which come together. The
order in which rows of one instant come does: a group that two of them change says so twice or once.
So the streams of a case get their rows one after the other.

Some more cases have a table that changes as well. Instead of their queries one over the table is
added, with a layout of its own: it is compared with an engine that has had the table from the
beginning, but rows of streams only since then.
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
from eddyline.testing.strategies.query_set_cases import (
    STREAMS,
    ArrivingRow,
    QuerySetCase,
    random_case,
)
from eddyline.types import sql_type
from spark_cases import SECOND, Feed, Twin, bag

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
    """A case with its number in all names, as input for the job and its twin."""

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
        self.twin = self._new_twin()
        self.of_table: Twin | None = None
        self._first = {self._name("glue"): self._renamed(GLUE[self._streams])}
        if self._has_table:
            self._first[self._name("looks_up")] = self._renamed(LOOKS_UP)
        for name, sql in case.turns[0].add:
            if name not in {f"keeper_{s}" for s in set(STREAMS) - set(self._streams)}:
                self._first[self._name(name)] = self._renamed(sql)
                self._names[name] = self._name(name)
        for name, sql in self._first.items():
            self.twin.engine.query(sql, name=name)

    def _new_twin(self) -> Twin:
        engine = Engine()
        for ddl in self._ddl(source=False):
            engine.sql(ddl)
        return Twin(engine, {self._name(s): LATENESS * SECOND for s in self._streams})

    def declare(self, session: Session) -> None:
        """The streams and the first queries."""
        for ddl in self._ddl(source=True):
            session.sql(ddl)
        for name, sql in self._first.items():
            session.query(name, sql, sink="memory")

    def change(self, run: Run, turn: int) -> None:
        """Drop and add the queries of a turn."""
        if self._has_table:
            if turn == 2:
                self._add_over_table(run)
            return
        for name in self.turns[turn].drop:
            run.drop(self._names[name])
            self.twin.engine.drop(self._names[name])
        for name, sql in self.turns[turn].add if turn else ():
            self._names[name] = f"{self._name(name)}_{turn}"
            run.add(self._names[name], self._renamed(sql), sink="memory")
            self.twin.engine.query(self._renamed(sql), name=self._names[name])

    def _add_over_table(self, run: Run) -> None:
        """Add the query over the table, when all rows so far have been processed."""
        name, sql = self._name("of_table"), self._renamed(OF_TABLE)
        run.add(name, sql, sink="memory")
        assert not run._queries.layout_of(name).queries, "it has a layout of its own"
        self.of_table = twin = self._new_twin()
        streams = [self._name(s) for s in self._streams]
        twin.engine.parts.progress.share_clock([*streams, self._name(TABLE)], streams)
        for rows in self._log:
            twin.process(rows, only_their_times=True)
        twin.engine.query(sql, name=name)

    def write(self, turn: int, stream: str) -> None:
        """The rows of a turn for one stream, if the case has it, or changes of the table."""
        if stream in self._feeds:
            rows = self.turns[turn].rows
            table = self._changes(rows) if stream == TABLE else self._table(stream, rows)
            self._feeds[stream].write(table)
            self._log.append({self._name(stream): [table]})
            for twin in self.twins:
                twin.process(self._log[-1])

    @property
    def twins(self) -> list[Twin]:
        """Those that the job is compared with."""
        return [self.twin] if self.of_table is None else [self.twin, self.of_table]

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


@pytest.mark.parametrize("count", [6, pytest.param(60, marks=pytest.mark.long)])
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
    last = max(len(case.turns) for case in cases)
    for turn in range(last):
        there = [case for case in cases if turn < len(case.turns)]
        for case in there:
            case.change(run, turn)
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
        for twin in case.twins:
            twin.end()
        expected = {n: c for twin in case.twins for n, c in twin.changes().items()}
        for name, changes in expected.items():
            found = [rows for session in sessions for rows in delivered(session, name)]
            assert bag(pa.concat_tables(found)) == changes, name
    assert sum(len(case.twin.changes()) for case in cases) > 5 * count
    of_table = [case.of_table.changes() for case in cases if case.of_table is not None]
    assert len(of_table) == with_tables and any(of_table)
