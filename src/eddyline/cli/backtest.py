"""``eddyline backtest``: a script over history alone, with a summary of each query's results."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from rich.console import Console
from rich.table import Table

from eddyline.cli.failures import JobFailedError
from eddyline.cli.job import watch
from eddyline.cli.scripts import checked, warm_up
from eddyline.cli.starting import StartingSpark, read
from eddyline.cli.termination import termination_event
from eddyline.cli.view import JobView, instant
from eddyline.engine.settings import Settings
from eddyline.errors import DataError
from eddyline.kernels.deferred import report_compilations
from eddyline.spark.session import Session
from eddyline.spark.storage.directory import path_segment

_DAY_US: Final = 86_400_000_000


@dataclass(frozen=True)
class Period:
    """What is tested.

    Attributes:
        since_us, to_us: results in [since, to) count. warm_up_us: rows so long before are read.
    """

    since_us: int
    to_us: int
    warm_up_us: int = 0

    @property
    def days(self) -> float:
        """Its length."""
        return (self.to_us - self.since_us) / _DAY_US


@dataclass(frozen=True)
class Fired:
    """How often a query fired in a period.

    Attributes:
        inserted, deleted: rows with ``+`` and ``-``. instants: with at least one ``+``.
        per_day: ``+`` a day. first, last: instants of the first and the last ``+``.
        path: the file with the results; None: they are not kept.
    """

    name: str
    inserted: int
    deleted: int
    instants: int
    per_day: float
    first: str | None
    last: str | None
    path: str | None


def backtest_script(
    file: Path,
    period: Period,
    output: Path | None,
    settings: Settings,
    shards: int | None,
    view: JobView,
    spark: StartingSpark,
) -> list[Fired]:
    """Run a script over the histories of its streams, and write the results of each query to
    ``output/QUERY.parquet``.

    Raises:
        EddylineError: the script is wrong, or a history cannot be read.
        JobFailedError: the job failed, or was interrupted.
    """
    if output is not None:
        _make(output)
    view.phase("checking the script")
    with report_compilations(view.compiling):
        warm_up(checked(file, settings))
    view.phase("starting Spark (some seconds)")
    session = Session(
        spark.session.result(),
        shards=shards,
        base=file.resolve().parent,
        options=settings.options,
        strategy=settings.strategy,
    )
    session.sql(read(file))
    with tempfile.TemporaryDirectory(prefix=".eddyline-", dir=output) as scratch:
        view.phase("reading the histories' times")
        since = period.since_us - period.warm_up_us
        run = session.backtest(since, period.to_us, output=scratch)
        view.phase("running")
        with termination_event() as stop, ThreadPoolExecutor(1) as pool:
            if not watch(run, pool.submit(run.finish), view, spark.log, stop):
                raise JobFailedError("the backtest was interrupted: it has no results")
        view.phase("summing up")
        found = [
            fired_in(name, Path(scratch, path_segment(name)), period, output)
            for name in session.queries
        ]
    session.spark.stop()
    return found


def print_fired(found: list[Fired], *, as_json: bool) -> None:
    """Print the summary of each query on standard output."""
    if as_json:
        for of in found:
            print(json.dumps({"event": "query", **asdict(of)}))
        return
    table = Table(
        *("query", "+", "-", "instants", "+ a day", "first", "last"), box=None, pad_edge=False
    )
    for column in table.columns[1:5]:
        column.justify = "right"
    for of in found:
        counts = (f"{n:,}" for n in (of.inserted, of.deleted, of.instants))
        table.add_row(of.name, *counts, f"{of.per_day:,.2f}", of.first or "-", of.last or "-")
    Console(highlight=False).print(table)


def fired_in(name: str, results: Path, period: Period, output: Path | None) -> Fired:
    """Count the results of a query, and write them to one file.

    Args:
        results: the directory of its sink. output: that of the file; None: none is written.
    """
    if output is not None:
        _make(output)
    inserted = deleted = 0
    times: list[Any] = []
    written = None if output is None else output / f"{path_segment(name)}.parquet"
    part = None if written is None else written.with_suffix(".parquet.part")
    writer: pq.ParquetWriter | None = None
    try:
        for rows in _in_period(results, period):
            is_plus = pc.equal(rows.column("_op"), "+")
            plus = int(pc.sum(is_plus).as_py() or 0)
            inserted, deleted = inserted + plus, deleted + rows.num_rows - plus
            at = rows.column("_ts").filter(is_plus).cast(pa.int64()).to_numpy()
            times.append(np.unique(at))
            if part is not None:
                writer = writer or pq.ParquetWriter(part, rows.schema)
                writer.write_batch(rows)
    finally:
        if writer is not None:
            writer.close()
    if writer is not None and part is not None and written is not None:
        os.replace(part, written)
    elif written is not None:
        written.unlink(missing_ok=True)  # of an earlier backtest
        written = None
    at = np.unique(np.concatenate([np.zeros(0, np.int64), *times]))
    first, last = (instant(int(at[i])) if at.size else None for i in (0, -1))
    place = None if written is None else str(written)
    per_day = inserted / period.days
    return Fired(name, inserted, deleted, int(at.size), per_day, first, last, place)


def _in_period(results: Path, period: Period) -> Iterator[pa.RecordBatch]:
    """The results of a query in a period, in their order."""
    files = {int(d.name.rpartition("=")[2]): d for d in results.glob("eddyline_batch=*")}
    for batch in sorted(files):
        for path in sorted(files[batch].glob("*.parquet")):
            with pq.ParquetFile(path, coerce_int96_timestamp_unit="us") as file:
                for rows in file.iter_batches():
                    at = rows.column("_ts").cast(pa.int64())
                    since = pc.greater_equal(at, period.since_us)
                    inside = rows.filter(pc.and_(since, pc.less(at, period.to_us)))
                    if inside.num_rows:
                        yield inside


def _make(output: Path) -> None:
    try:
        output.mkdir(parents=True, exist_ok=True)
    except OSError as e:
        raise DataError(f"--output {output}: {e.strerror}") from None
