"""``eddyline bench kafka``: the same rows as messages of Kafka, as JSON files and as Parquet files.

Three queries read one stream: a filter, a GROUP BY over a window, and a join. The sources run in
turns in one Spark session, each over prepared batches; the first round, and the first batch of each
run, warm up and do not count. The broker runs on the same two cores.
"""

from __future__ import annotations

import json as json_
import os
import statistics
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyspark.sql import SparkSession
from rich.console import Console
from rich.table import Table

from eddyline.bench.kafka_broker import KafkaBroker
from eddyline.bench.measure import machine
from eddyline.bench.side_by_side import CORES, FILES, note, two_cores
from eddyline.spark.session import Session

#: Asked of Kafka: this part of the rate of Parquet files.
ASKED: Final = 0.5
KAFKA, JSON, PARQUET = "Kafka, JSON", "JSON files", "Parquet files"
_TOPIC: Final = "trades"
_WARM: Final = 1
_TIMED: Final = 3
_PATHS: Final = {"symbol": "$.order.symbol", "price": "$.order.price", "ms": "$.at.ms"}
_TYPES: Final = {"id": "BIGINT", "symbol": "STRING", "price": "DOUBLE", "ms": "BIGINT"}
_QUERIES: Final = {
    "filtered": "SELECT id, symbol, price FROM trades [NOW] WHERE price > 990",
    "grouped": "SELECT symbol, COUNT(*) AS n, MAX(price) AS top FROM trades [RANGE 10 SECONDS] "
    "GROUP BY symbol",
    "joined": "SELECT a.id, b.id AS other FROM trades [RANGE 10 SECONDS] AS a, "
    "trades [RANGE 10 SECONDS] AS b "
    "WHERE a.symbol = b.symbol AND a.price = b.price AND a.id < b.id",
}
#: 2026, in milliseconds.
_BEGIN_MS: Final = 1_767_225_600_000


@dataclass
class Timed:
    """The batches of a source that count.

    Attributes:
        seconds: of each, from trigger to commit. results: rows of each query, of one run.
    """

    seconds: list[float] = field(default_factory=list)
    results: dict[str, int] = field(default_factory=dict)


def run_kafka(*, rounds: int = 3, rows: int = 500_000, json: bool = False) -> None:
    """Measure, and print a table and the verdict.

    Args:
        rounds: measured runs of each source. rows: of a batch.
        json: print one JSON object instead.

    Raises:
        SetupError: Java, the connector or the broker is missing.
    """
    with (
        tempfile.TemporaryDirectory(prefix="eddyline-bench-") as scratch,
        two_cores(Path(scratch, "spark.log")) as spark,
    ):
        broker = KafkaBroker()
        try:
            found = measured(spark, broker, Path(scratch), rounds, rows)
        finally:
            broker.stop()
    if json:
        print(json_.dumps({"machine": machine(), "asked": ASKED, **found}, indent=2))
    else:
        _show(found, Console())


def measured(
    spark: SparkSession, broker: KafkaBroker, folder: Path, rounds: int, rows: int
) -> dict[str, Any]:
    """The medians of the sources.

    Raises:
        AssertionError: the results of the sources differ.
    """
    note("rows")
    _write(spark, broker, folder, rows)
    sources = {
        KAFKA: f"{broker.source(_TOPIC)}, format = 'json', maxOffsetsPerTrigger = {rows}",
        JSON: f"source = 'json', path = '{folder / 'json'}', maxFilesPerTrigger = {FILES}",
        PARQUET: f"source = 'parquet', path = '{folder / 'parquet'}', maxFilesPerTrigger = {FILES}",
    }
    timed = {name: Timed() for name in sources}
    for round_ in range(1 + rounds):
        for name, source in sources.items():
            note(f"round {round_}, {name}")
            _run(spark, name, source, timed[name] if round_ else Timed())
    assert len({tuple(sorted(of.results.items())) for of in timed.values()}) == 1, (
        f"results: {timed}"
    )
    return _report(timed, rows)


def trades(first: int, rows: int) -> pa.Table:
    """Rows of the stream, 1,000 per second: 100 symbols, and 4,000 prices with two decimals."""
    rng = np.random.default_rng(first)
    number = np.arange(first, first + rows, dtype=np.int64)
    symbols = pa.array([f"S{i:02}" for i in range(100)])
    return pa.table(
        {
            "id": number,
            "symbol": symbols.take(pa.array(rng.integers(0, 100, rows))),
            "price": rng.integers(0, 4_000, rows) / 4,
            "ms": number + _BEGIN_MS,
        }
    )


def messages(rows: pa.Table) -> pa.Array:
    """The rows as messages of about 85 bytes."""
    id_, symbol, price, ms = (column.cast(pa.string()).combine_chunks() for column in rows.columns)
    parts = (
        '{"id":',
        id_,
        ',"order":{"symbol":"',
        symbol,
        '","price":',
        price,
        '},"at":{"ms":',
        ms,
    )
    return pc.binary_join_element_wise(*parts, "}}", "")


def _write(spark: SparkSession, broker: KafkaBroker, folder: Path, rows: int) -> None:
    for kind in ("json", "parquet"):
        (folder / kind).mkdir()
    part = rows // FILES
    for file in range((_WARM + _TIMED) * FILES):
        table = trades(file * part, part)
        text = folder / "json" / f"{file:03}.json"
        text.write_bytes(_lines(messages(table)))
        parquet = folder / "parquet" / f"{file:03}.parquet"
        pq.write_table(table, parquet)
        for path in (text, parquet):
            os.utime(path, (1e9 + file, 1e9 + file))
        to = f"'{_TOPIC}' AS topic", f"{file % FILES} AS partition"
        broker.write(spark.read.text(str(text)).coalesce(1).selectExpr("value", *to))


def _lines(texts: pa.Array) -> bytes:
    return "\n".join([*texts.to_pylist(), ""]).encode()


def _run(spark: SparkSession, name: str, source: str, timed: Timed) -> None:
    """Run the queries over the whole source."""
    paths = {} if name == PARQUET else {column: f" PATH '{at}'" for column, at in _PATHS.items()}
    columns = ", ".join(f"{c} {type_}{paths.get(c, '')}" for c, type_ in _TYPES.items())
    session = Session(spark, shards=CORES)
    session.sql(
        f"CREATE STREAM trades ({columns}, ts TIMESTAMP AS (timestamp_millis(ms))) "
        f"TIMESTAMP BY ts WITH ({source})"
    )
    for query, select in _QUERIES.items():
        session.query(query, select, sink="noop")
    run = session.start(available_now=True)
    run.awaitTermination()
    batches = [p for p in run.recentProgress if p.numInputRows]
    timed.seconds += [p.batchDuration / 1_000 for p in batches[_WARM : _WARM + _TIMED]]
    run.finish()
    timed.results = dict(run.progress().rows_out)


def _report(timed: Mapping[str, Timed], rows: int) -> dict[str, Any]:
    medians = {name: statistics.median(of.seconds) for name, of in timed.items()}
    return {
        "batch_rows": rows,
        "batches": len(timed[KAFKA].seconds),
        "rows_per_s": {name: round(rows / s) for name, s in medians.items()},
        "of_parquet": {name: round(medians[PARQUET] / s, 2) for name, s in medians.items()},
    }


def verdict(figures: Mapping[str, Any]) -> str:
    """What was asked, and whether it holds."""
    ratio = figures["of_parquet"][KAFKA]
    text = f"Kafka: {ratio:.2f} of the rate of Parquet files (asked {ASKED})"
    return f"{text}: {'holds' if ratio >= ASKED else 'does not hold'}"


def _show(found: Mapping[str, Any], console: Console) -> None:
    title = f"Three queries on two cores: medians of {found['batches']} batches"
    table = Table(title=f"{title} of {found['batch_rows']:,} rows")
    for column in ("", "rows/s", "of Parquet"):
        table.add_column(column, justify="left" if not column else "right")
    for name, rate in found["rows_per_s"].items():
        table.add_row(name, f"{rate:,}", f"{found['of_parquet'][name]:.2f}")
    console.print(table)
    console.print(verdict(found))
