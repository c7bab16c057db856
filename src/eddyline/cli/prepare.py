"""``eddyline prepare``: what the first job after an install would do, done once.

A small job with all kinds of operators runs on Spark. It compiles the kernels, which Numba stores,
in the driver and in the workers; and Java writes an archive of the classes that it has loaded.
"""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark import SparkContext

from eddyline.cli.scripts import checked, warm_up
from eddyline.kernels.options import report_compilations
from eddyline.spark.class_archive import archive_file, make_options
from eddyline.spark.environment import local_session, require_java
from eddyline.spark.session import Session

SCRIPT: Final = Path(__file__).with_name("prepare.sql")
_STREAMS: Final = ("a", "b", "c", "d", "e", "f", "g", "h")
_ROWS: Final = 100
#: Java writes the archive when it ends.
_TIMEOUT_S: Final = 600.0


def prepare_machine(say: Callable[[str], object]) -> None:
    """Compile the kernels and make the archive; an old one is replaced.

    Args:
        say: called with what happens.

    Raises:
        SetupError: there is no Java, or it is too old.
    """
    archive = archive_file(require_java())
    kernels: list[str] = []
    with report_compilations(kernels.append):
        warm_up(checked(SCRIPT))
    say(f"{len(kernels)} kernels compiled")
    archive.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".prepare-", dir=archive.parent) as place:
        made, log = Path(place, "archive"), Path(place, "spark.log")
        with report_compilations(kernels.append):
            _run_job(Path(place), made, log)
        if not made.exists():
            say(f"this Java makes no archive of classes: {log.read_text()[-2000:]}")
            return
        made.replace(archive)
    say(f"classes of Spark archived: {archive} ({archive.stat().st_size >> 20} MB)")


def _run_job(place: Path, archive: Path, log: Path) -> None:
    """Run the script as a job, with files as sources and sinks, and wait for the end of Java."""
    for name in _STREAMS:
        (place / name).mkdir()
        pq.write_table(_rows(), place / name / "1.parquet")
    spark = local_session(2, log, java_options=make_options(archive))
    gateway = SparkContext._gateway
    session = Session(spark, checkpoint=place / "checkpoint", base=place, printer=_ignored)
    session.sql(SCRIPT.read_text())
    session.start(available_now=True).finish()
    spark.stop()
    process: subprocess.Popen[bytes] = gateway.proc  # type: ignore[union-attr]  # untyped
    assert process.stdin is not None, "see launch_gateway"
    process.stdin.close()  # ends Java
    process.wait(_TIMEOUT_S)


def _rows() -> pa.Table:
    numbers = pa.array(range(_ROWS), pa.int64())
    return pa.table(
        {
            "ts": pa.array([1_000_000 * i for i in range(_ROWS)]).cast(pa.timestamp("us", "UTC")),
            "k": [i % 7 for i in range(_ROWS)],
            "v": numbers,
            "x": numbers.cast(pa.float64()),
            "s": [f"s{i % 5}" for i in range(_ROWS)],
        }
    )


def _ignored(label: str, rows: pa.Table, n: int) -> None: ...
