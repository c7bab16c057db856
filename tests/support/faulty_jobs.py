"""A job to which things happen, and an embedded engine with the same input without faults."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
from pyspark.sql import SparkSession

from eddyline import Engine
from eddyline.spark import Session
from spark_cases import QUERIES, SECOND, Feed, Twin, bag, definitions, stream_tables

#: Those whose tables are files that all processes can read.
NAMES = tuple(name for name in QUERIES if name != "named")
_ROWS = 40


class FaultyJob:
    """Queries over two feeds, whose sinks are Parquet files.

    Args:
        place: of everything. seed, files: of the streams.
    """

    def __init__(
        self,
        spark: SparkSession | None,
        place: Path,
        seed: int,
        files: int,
        *,
        checkpoint: Path | None = None,
        sinks: Path | None = None,
    ) -> None:
        self.spark = spark
        self.checkpoint = checkpoint or place / "checkpoint"
        self.sinks = sinks or place / "out"
        self.feeds = {name: Feed(place / name) for name in "ab"}
        self._rows = {
            name: stream_tables(2 * seed + i, files, _ROWS) for i, name in enumerate("ab")
        }
        self._written = 0
        engine = Engine()
        engine.sql(definitions(dict.fromkeys("ab", "source = 'none'")))
        for name in NAMES:
            engine.query(QUERIES[name], name=name)
        self._twin = Twin(engine, dict.fromkeys("ab", 5 * SECOND))
        self.script = place / "script.sql"
        self.script.write_text(
            definitions({name: feed.source for name, feed in self.feeds.items()})
            + "".join(
                f"CREATE QUERY {name} AS {QUERIES[name]} "
                f"WITH (sink = 'parquet', path = '{self.sinks}/{name}');"
                for name in NAMES
            )
        )

    @property
    def files(self) -> int:
        """Files of each stream that are written."""
        return self._written

    def session(self, **options: Any) -> Session:
        session = Session(self.spark, checkpoint=self.checkpoint, shards=2, **options)
        session.sql(self.script.read_text())
        return session

    def write(self, files: int = 1) -> None:
        """Write the next files of each stream."""
        part = slice(self._written, self._written + files)
        assert part.stop <= len(self._rows["a"]), "there are more files"
        for name, feed in self.feeds.items():
            feed.write(*self._rows[name][part])
        self._twin.process({name: rows[part] for name, rows in self._rows.items()})
        self._written = part.stop

    def run_over_all(self) -> None:
        """Start it, and process all that is there."""
        self.session().start(available_now=True).awaitTermination()

    def check(self) -> None:
        """All is delivered that the engine has emitted, once."""
        expected, found = self._twin.changes(), self.delivered()
        for name in NAMES:
            assert found[name] == expected[name], name
        assert self._written < 8 or all(expected.values()), "each query has something to say"

    def finish(self) -> None:
        """Process the rest, to the end of the input, and check."""
        self.session().start(available_now=True).finish()
        self._twin.end()
        self.check()

    def delivered(self) -> dict[str, list[tuple[Any, ...]]]:
        """What is in the files of the sinks."""
        return {name: read_bag(self.sinks / name) for name in NAMES}

    def batches(self, log: str) -> int:
        """The number of batches in a log of Spark, ``offsets`` or ``commits``, that have begun."""
        directory = self.checkpoint / "spark" / log
        return max((int(f.name) + 1 for f in directory.glob("[0-9]*")), default=0)


def read_bag(directory: Path) -> list[tuple[Any, ...]]:
    """The rows of a sink of files."""
    if not list(directory.glob("*/*.parquet")):
        return []
    relation: Any = duckdb.sql(
        f"SELECT * EXCLUDE eddyline_batch FROM read_parquet('{directory}/*/*.parquet')"
    )
    rows: pa.Table = relation.arrow().read_all()
    return bag(rows)
