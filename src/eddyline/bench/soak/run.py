"""``eddyline bench soak``: one job for half an hour, while queries come and go and workers die.

A feeder in another process sends rows: trades to Kafka, if there is a broker and the connector,
otherwise to JSON files; quotes to Parquet files. Memory, disk, open files and times are sampled; at
the end the results are compared with those of an embedded engine over the same rows.
"""

from __future__ import annotations

import json as json_
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from pyspark.sql import SparkSession
from rich.console import Console
from rich.table import Table

from eddyline.bench.figures.plots import require_matplotlib
from eddyline.bench.kafka_broker import KafkaBroker
from eddyline.bench.measure import machine
from eddyline.bench.side_by_side import note, two_cores
from eddyline.bench.soak import feeder, program
from eddyline.bench.soak.check import Checked, check
from eddyline.bench.soak.churn import Churn
from eddyline.bench.soak.pictures import draw
from eddyline.bench.soak.samples import Sample, Sampler, write_samples
from eddyline.bench.soak.verdict import FLAT, MOST, REPORTED, Growth, growths, is_flat
from eddyline.errors import SetupError
from eddyline.spark.operation.supervisor import ON_FAILURE
from eddyline.spark.run import Run
from eddyline.spark.session import Session

_TOPIC: Final = "trades"
_SAMPLE_S: Final = 5.0
#: When workers are killed, as shares of the time: in the first half, see the verdict.
_KILLS: Final = (0.1, 0.2, 0.3, 0.4)
_COLLECTIONS: Final = 30
#: What a session has by default.
_DRIVER_MEMORY: Final = "2g"
_WAIT_S: Final = 600.0
#: They compile kernels.
_FIRST_BATCHES: Final = 3


def run_soak(
    *, minutes: float = 30.0, out: Path | None = None, files_only: bool = False, json: bool = False
) -> bool:
    """Run, write samples and pictures, and print the verdict; returns whether all holds.

    Args:
        minutes: of the run. out: directory of what is written, by default ``benchmarks/soak``.
        files_only: without Kafka. json: print one JSON object instead of tables.

    Raises:
        SetupError: Java or matplotlib is missing.
    """
    require_matplotlib()
    os.environ.setdefault("EDDYLINE_DRIVER_MEMORY", _DRIVER_MEMORY)
    out = out or Path("benchmarks") / "soak"
    out.mkdir(parents=True, exist_ok=True)
    with (
        tempfile.TemporaryDirectory(prefix="eddyline-soak-") as scratch,
        _broker(files_only) as broker,
        two_cores(out / "spark.log") as spark,
    ):
        soak = _Soak(spark, broker, Path(scratch), out, 60 * minutes)
        soak.run()
        draw(soak.samples, soak.kills, out)
        found = growths(soak.samples)
        note("; ".join(f"{name} {of.ratio:+.1%}" for name, of in found.items()))
        checked = soak.checked()
    errors = [] if soak.churn is None else soak.churn.errors
    holds = is_flat(found) and checked.is_equal and not errors
    figures = _figures(soak, found, checked, minutes) | {"holds": holds}
    (out / "soak.json").write_text(json_.dumps(figures, indent=2) + "\n")
    if json:
        print(json_.dumps(figures))
    else:
        _show(figures, found, checked, Console())
    return holds


class _Soak:
    """The job, what disturbs it, and what is measured.

    Attributes:
        kills: when workers were killed, in seconds. source: of the trades.
    """

    def __init__(
        self,
        spark: SparkSession,
        broker: KafkaBroker | None,
        folder: Path,
        out: Path,
        seconds: float,
    ) -> None:
        self._spark, self._broker, self._folder, self._seconds = spark, broker, folder, seconds
        self._out = out
        self._checkpoint = folder / "checkpoint"
        self.source = "files" if broker is None else "Kafka"
        self.kills: list[float] = []
        self.samples: list[Sample] = []
        self.churn: Churn | None = None
        self.ticks = self.restarts = 0

    def run(self) -> None:
        for name in (feeder.QUOTES, feeder.TRADES):
            (self._folder / name).mkdir()
        feeder.write_rules(self._folder)
        kafka = None if self._broker is None else self._broker.source(_TOPIC)
        with self._feeding():
            session = Session(
                self._spark,
                checkpoint=self._checkpoint,
                trigger="2 seconds",
                restart=ON_FAILURE,
            )
            session.sql(program.script(self._folder, kafka))
            run = session.start()
            try:
                self._watch(run)
            except BaseException:
                run.stop()
                raise
        self.ticks = int((self._folder / feeder.TICKS).read_text())
        note(f"the end of the input, {self.ticks} ticks")
        run.finish()

    def checked(self) -> Checked:
        """The results compared."""
        assert self.churn is not None, "it has run"
        return check(self._folder, self.ticks, self.churn.altered, self.churn.guests)

    def _watch(self, run: Run) -> None:
        until = time.monotonic() + _WAIT_S
        while (run.progress().batch_id or 0) < _FIRST_BATCHES:
            if not run.isActive or time.monotonic() > until:
                raise RuntimeError(f"the job does not begin: {run.exception()}")
            time.sleep(0.1)
        jvm = self._spark._jvm
        sampler = Sampler(run, jvm, self._checkpoint, self._seconds / _COLLECTIONS)
        self.samples = sampler.samples
        self.churn = Churn(run, self._folder, self._checkpoint)
        try:
            self._sample(run, sampler)
        finally:
            write_samples(self.samples, self._out / "samples.csv")
            self.churn.stop()
        self.restarts = run.restarts

    def _sample(self, run: Run, sampler: Sampler) -> None:
        rng, kills = random.Random(1), [share * self._seconds for share in _KILLS]
        sample_at = 0.0
        while (now := sampler.elapsed_s) < self._seconds:
            if not run.isActive:
                raise RuntimeError(f"the job has ended: {run.exception()}")
            if now >= sample_at:
                sample = sampler.take()
                sample_at = now + _SAMPLE_S
                if len(sampler.samples) % 12 == 1:
                    note(f"{sample}")
                    write_samples(self.samples, self._out / "samples.csv")
            if kills and now >= kills[0] and (workers := sampler.workers()):
                kills.pop(0)
                self.kills.append(now)
                with suppress(ProcessLookupError):
                    os.kill(rng.choice(workers), signal.SIGKILL)
            time.sleep(0.2)

    @contextmanager
    def _feeding(self) -> Iterator[None]:
        """The feeder runs; after the block it has ended."""
        command = [sys.executable, "-m", feeder.__name__, str(self._folder)]
        if self._broker is not None:
            command += [self._broker.servers, _TOPIC]
        environment = {n: v for n, v in os.environ.items() if n != "EDDYLINE_DRIVER_MEMORY"}
        with subprocess.Popen(command, env=environment) as process:
            try:
                second = self._folder / feeder.QUOTES / "000001.parquet"
                until = time.monotonic() + _WAIT_S
                while not second.exists():
                    if process.poll() is not None or time.monotonic() > until:
                        raise RuntimeError("the feeder sends nothing")
                    time.sleep(0.1)
                yield
                (self._folder / feeder.STOP).touch()
                if process.wait(_WAIT_S):
                    raise RuntimeError("the feeder has failed")
            finally:
                process.kill()


@contextmanager
def _broker(files_only: bool) -> Iterator[KafkaBroker | None]:
    try:
        broker = None if files_only else KafkaBroker()
    except SetupError as missing:
        note(f"files instead of Kafka: {missing}")
        broker = None
    try:
        yield broker
    finally:
        if broker is not None:
            broker.stop()


def _figures(
    soak: _Soak, found: dict[str, Growth], checked: Checked, minutes: float
) -> dict[str, Any]:
    assert soak.churn is not None, "it has run"
    return {
        "machine": machine(),
        "minutes": minutes,
        "source": soak.source,
        "rows": soak.samples[-1].rows,
        "batches": soak.samples[-1].batches,
        "requests": dict(soak.churn.sent),
        "errors": soak.churn.errors,
        "kills": len(soak.kills),
        "restarts": soak.restarts,
        "growth_percent": {name: round(100 * of.ratio, 2) for name, of in found.items()},
        "fit_percent": {name: round(100 * of.fit, 2) for name, of in found.items()},
        "results": checked.rows,
        "differences": checked.differences,
        "bad": checked.bad,
    }


def _show(
    figures: dict[str, Any], found: dict[str, Growth], checked: Checked, console: Console
) -> None:
    requests = sum(figures["requests"].values())
    title = (
        f"{figures['minutes']:g} minutes, {figures['rows']:,} rows, {figures['batches']:,} "
        f"batches, {requests} requests, {figures['kills']} workers killed"
    )
    table = Table(title=title)
    for column in ("", "third quarter", "last quarter", "growth", "fit", ""):
        table.add_column(
            column, justify="right" if "qu" in column or column in ("growth", "fit") else "left"
        )
    for names, asked in ((FLAT, True), (REPORTED, False)):
        for name, label in names.items():
            of = found[name]
            says = ("flat" if of.flat else "GROWS") if asked else ""
            table.add_row(
                label,
                f"{of.third:,.2f}",
                f"{of.last:,.2f}",
                f"{of.ratio:+.1%}",
                f"{of.fit:+.1%}",
                says,
            )
    console.print(table)
    wrong = {name: of for name, of in checked.differences.items() if any(of)}
    rows = sum(checked.rows.values())
    console.print(f"{rows:,} results: " + (f"DIFFER {wrong}" if wrong else "as of an engine"))
    console.print(f"bad rows: {checked.bad[0]:,} of {checked.bad[1]:,}")
    console.print(f"memory and disk flat within {MOST:.0%}: {is_flat(found)}")
