"""Random sets of queries added to and dropped from one job, compared with the embedded engine.

That is compared with the oracle by playing the same cases (``test_shared_queries.py``). Here each
case has streams of its own, and no row is late, so that it does not matter which come together. The
order in which rows of one instant come does: a group that two of them change says so twice or once.
So the streams of a case get their rows one after the other.
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


class JobCase:
    """A case with its number in all names, as input for the job and its twin."""

    def __init__(self, number: int, case: QuerySetCase, directory: Path) -> None:
        self._number = number
        self.turns = case.turns
        rows = [row for turn in case.turns for row in turn.rows]
        self._streams = next(s for s in GLUE if {row.stream for row in rows} <= set(s))
        self._feeds = {s: Feed(directory / self._name(s)) for s in self._streams}
        self._names: dict[str, str] = {}  # a name that came back is another one in the job
        engine = Engine()
        for ddl in self._ddl(source=False):
            engine.sql(ddl)
        self.twin = Twin(engine, {self._name(s): LATENESS * SECOND for s in self._streams})
        self._first = {self._name("glue"): self._renamed(GLUE[self._streams])}
        for name, sql in case.turns[0].add:
            if name not in {f"keeper_{s}" for s in set(STREAMS) - set(self._streams)}:
                self._first[self._name(name)] = self._renamed(sql)
                self._names[name] = self._name(name)
        for name, sql in self._first.items():
            engine.query(sql, name=name)

    def declare(self, session: Session) -> None:
        """The streams and the first queries."""
        for ddl in self._ddl(source=True):
            session.sql(ddl)
        for name, sql in self._first.items():
            session.query(name, sql, sink="memory")

    def change(self, run: Run, turn: int) -> None:
        """Drop and add the queries of a turn."""
        for name in self.turns[turn].drop:
            run.drop(self._names[name])
            self.twin.engine.drop(self._names[name])
        for name, sql in self.turns[turn].add if turn else ():
            self._names[name] = f"{self._name(name)}_{turn}"
            run.add(self._names[name], self._renamed(sql), sink="memory")
            self.twin.engine.query(self._renamed(sql), name=self._names[name])

    def write(self, turn: int, stream: str) -> None:
        """The rows of a turn for one stream, if the case has it."""
        if stream in self._streams:
            table = self._table(stream, self.turns[turn].rows)
            self._feeds[stream].write(table)
            self.twin.process({self._name(stream): [table]})

    def _name(self, of: str) -> str:
        return f"{of}{self._number}"

    def _renamed(self, sql: str) -> str:
        return re.sub(r"\b([abc]) \[", lambda m: f"{self._name(m[1])} [", sql)

    def _ddl(self, *, source: bool) -> Iterator[str]:
        for stream in self._streams:
            columns = ", ".join(f"{f.name} {sql_type(f.type)}" for f in STREAMS[stream])
            with_ = f" WITH ({self._feeds[stream].source})" if source else ""
            yield (
                f"CREATE STREAM {self._name(stream)} ({columns}) TIMESTAMP BY ts "
                f"LATENESS {LATENESS} SECONDS{with_}"
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
    cases = [JobCase(i, case, tmp_path) for i, case in enumerate(some_cases(count))]

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
        for stream in STREAMS:
            for case in there:
                case.write(turn, stream)
            run.processAllAvailable()
        if turn == last // 2:
            run.stop()
            sessions.append(new_session())
            run = sessions[-1].start()
    run.finish()
    for case in cases:
        case.twin.end()
        for name, changes in case.twin.changes().items():
            found = [rows for session in sessions for rows in delivered(session, name)]
            assert bag(pa.concat_tables(found)) == changes, name
    assert sum(len(case.twin.changes()) for case in cases) > 5 * count
