"""The option ``seq``: changes in the order of ``_seq`` are those of the query, in every sink."""

from __future__ import annotations

import json
import uuid
from collections import Counter
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from eddyline import Engine
from eddyline.spark import Session, rescale
from eddyline.spark.delivery.delivery import Delivery
from eddyline.spark.sinks.sequence import PLACE_BITS
from eddyline.testing.bags import Row, plain, rows_of
from net_changes import answer_at
from spark_cases import QUERIES, SECOND, Feed, Twin, definitions, stream_tables

if TYPE_CHECKING:
    from eddyline.bench.kafka_broker import KafkaBroker
    from postgres_server import PostgresServer

deltalake = pytest.importorskip("deltalake", reason="the extra 'delta' is not installed")
pytestmark = [pytest.mark.spark, pytest.mark.fault]

#: With retractions, whole changelogs, and windows of rows.
SELECTS = {name: QUERIES[name] for name in ("sums", "last")} | {
    "pairs": f"{QUERIES['pairs']} EMIT CHANGES"
}
FILES = 6
#: Number of a change, and the row of :func:`answer_at`.
Numbered = list[tuple[int, Row]]


class Job:
    """Each query has each sink, with ``seq``; functions of Python get what they are called with."""

    def __init__(
        self,
        spark: SparkSession,
        kafka: KafkaBroker,
        postgres: PostgresServer,
        place: Path,
        feeds: tuple[Feed, Feed],
    ) -> None:
        self.spark, self.kafka, self.postgres, self.place = spark, kafka, postgres, place
        self.feeds = feeds
        self.suffix = uuid.uuid4().hex[:12]
        self.rows = {"a": stream_tables(1, FILES), "b": stream_tables(2, FILES)}
        engine = Engine()
        engine.sql(definitions(dict.fromkeys("ab", "source = 'none'")))
        for name, select in SELECTS.items():
            engine.query(select, name=name)
        self.twin = Twin(engine, dict.fromkeys("ab", 5 * SECOND))
        self.called: dict[int, pa.Table] = {}

    def sinks(self, name: str) -> Mapping[str, dict[str, Any]]:
        """The options of the sinks of a query, by a word for each."""
        files = {kind: str(self.place / f"{kind}_{name}") for kind in ("parquet", "rolled", "orc")}
        kafka = {"kafka.bootstrap.servers": self.kafka.servers, "topic": f"{name}{self.suffix}"}
        table = f"{name}{self.suffix}"
        return {
            "parquet": {"sink": "parquet", "path": files["parquet"]},
            "rolled": {"sink": "parquet", "path": files["rolled"], "roll_interval": "1 hour"},
            "orc": {"sink": "orc", "path": files["orc"]},  # Spark writes it
            "kafka": {"sink": "kafka", **kafka},
            "postgres": {"sink": "postgres", "url": self.postgres.url, "table": table},
            "delta": {"sink": "delta", "path": str(self.place / f"delta_{name}")},
            "python": {"sink": self.call},
        }

    def call(self, batch: int, rows: pa.Table) -> None:
        """A function for all queries with this sink and these columns."""
        self.called[len(self.called)] = rows

    def run(self, files: slice, **more: Any) -> None:
        session = Session(self.spark, checkpoint=self.place / "checkpoint", **more)
        session.sql(definitions(dict(zip("ab", (f.source for f in self.feeds), strict=True))))
        for name, select in SELECTS.items():
            for kind, options in self.sinks(name).items():
                session.query(f"{name}_{kind}", select, seq="true", **options)
        for feed, name in zip(self.feeds, "ab", strict=True):
            feed.write(*self.rows[name][files])
        self.twin.process({name: tables[files] for name, tables in self.rows.items()})
        session.start(available_now=True).awaitTermination()

    def changes(self, name: str, kind: str) -> Numbered:
        """The changes of a query in a sink, in the order of ``_ts`` and ``_seq``."""
        names = ["_op", "_ts", "_exp", *self.twin.engine.queries[name].schema.names]
        if kind == "kafka":
            found = self._messages(name, names)
        else:
            table = self._table(name, kind)
            found = list(zip(table["_seq"].to_pylist(), rows_of(table.select(names)), strict=True))
        return sorted(found, key=lambda change: (change[1][1], change[0]))

    def _table(self, name: str, kind: str) -> pa.Table:
        if kind in ("parquet", "rolled", "orc"):
            path = self.place / f"{kind}_{name}"
            reader = self.spark.read.format("orc" if kind == "orc" else "parquet")
            return reader.load(str(path)).toArrow()
        if kind == "delta":
            return deltalake.DeltaTable(self.place / f"delta_{name}").to_pyarrow_table()
        if kind == "python":
            own = [t for t in self.called.values() if "python" in str(t["_query"][0])]
            parts = [t.filter(pa.compute.equal(t["_query"], f"{name}_python")) for t in own]
            parts = [t for t in parts if t.num_rows]
            seen = dict.fromkeys(n for t in parts for n in t["_seq"].to_pylist())
            whole = pa.concat_tables(parts)
            first = {n: i for i, n in reversed(list(enumerate(whole["_seq"].to_pylist())))}
            return whole.take(pa.array([first[n] for n in seen]))  # a repeated batch is there twice
        schema = pa.schema([("_seq", pa.int64()), *self.twin.engine.queries[name].change_schema])
        listed = ", ".join(schema.names)
        rows = self.postgres.rows(f"SELECT {listed} FROM {name}{self.suffix}")
        columns = [[row[i] for row in rows] for i in range(len(schema))]
        return pa.table([pa.array(c, f.type) for c, f in zip(columns, schema, strict=True)], schema)

    def _messages(self, name: str, names: list[str]) -> Numbered:
        by_number: dict[int, Row] = {}
        for message in self.kafka.messages(self.spark, f"{name}{self.suffix}"):
            value = json.loads(message["value"])
            for column in ("_ts", "_exp"):
                if column in value:
                    value[column] = plain(datetime.fromisoformat(value[column]))
            row = tuple(value.get(column) for column in names)
            assert by_number.setdefault(value["_seq"], row) == row, "a repeated message is the same"
        return list(by_number.items())

    def check(self) -> None:
        for name, query in self.twin.engine.queries.items():
            expected = [_in_ms(row) for row in self.twin.rows(name)]
            instants = sorted({row[1] for row in expected})
            assert len(instants) > 20
            answers = [Counter(answer_at(query, expected, at)) for at in instants]
            orders = set()
            for kind in self.sinks(name):
                changes = self.changes(name, kind)
                numbers = [number for number, _ in changes]
                assert numbers == sorted(set(numbers)), (name, kind)
                assert len({number >> PLACE_BITS for number in numbers}) > FILES // 2
                rows = [_in_ms(row) for _, row in changes]
                found = [Counter(answer_at(query, rows, at)) for at in instants]
                assert found == answers, (name, kind)
                _check_prefixes(rows, whole=query.emit.mode == "changes")
                orders.add(
                    repr([(n >> PLACE_BITS, row) for n, row in zip(numbers, rows, strict=True)])
                )
            assert len(orders) == 1, "the same order in all sinks"


def _in_ms(row: Row) -> Row:
    """A change with its times as in messages."""
    op, ts, exp, *values = row
    return op, ts // 1000 * 1000, None if exp is None else exp // 1000 * 1000, *values


def _check_prefixes(rows: list[Row], *, whole: bool) -> None:
    """What is taken back has been there before."""
    there: Counter[Row] = Counter()
    for op, _, _, *values in rows if whole else ():
        there[tuple(values)] += 1 if op == "+" else -1
        assert there[tuple(values)] >= 0, values


def test_replayed_changes_give_the_answers(
    spark: SparkSession,
    kafka: KafkaBroker,
    postgres: PostgresServer,
    tmp_path: Path,
    feeds: tuple[Feed, Feed],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Over two shards, a batch that is repeated, a restart, and a rescaling."""
    job = Job(spark, kafka, postgres, tmp_path, feeds)
    call, due = Delivery.call_followers, [1]

    def fail_once(self: Delivery, batch_id: int, *arguments: Any) -> None:
        call(self, batch_id, *arguments)
        if due and batch_id >= due[0]:
            due.pop()
            raise RuntimeError("killed behind the sinks")

    monkeypatch.setattr(Delivery, "call_followers", fail_once)
    with pytest.raises(Exception, match="killed behind the sinks"):
        job.run(slice(0, 3), shards=1, max_shards=2)
    job.run(slice(3, 3))
    rescale(tmp_path / "checkpoint", 2, spark)
    job.run(slice(3, FILES))
    assert not due
    job.check()
