"""The archive of classes of ``eddyline prepare``: Java writes it at the end of a small job."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark import SparkContext

from eddyline.spark.class_archive import archive_file, make_options
from eddyline.spark.environment import local_session, require_java
from eddyline.spark.session import Session

_STREAMS: Final = ("a", "b", "c", "d", "e", "f", "g", "h")
#: Java writes the archive when it ends.
_TIMEOUT_S: Final = 600.0


def archive_classes(script: str, rows: pa.Table, say: Callable[[str], object]) -> None:
    """Make the archive; an old one is replaced.

    Args:
        script: text of the job's script. rows: of each stream. say: called with what happens.

    Raises:
        SetupError: there is no Java, or it is too old.
    """
    archive = archive_file(require_java())
    archive.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".prepare-", dir=archive.parent) as place:
        made, log = Path(place, "archive"), Path(place, "spark.log")
        _run_job(script, rows, Path(place), made, log)
        if not made.exists():
            say(f"this Java makes no archive of classes: {log.read_text()[-2000:]}")
            return
        made.replace(archive)
    say(f"classes of Spark archived: {archive} ({archive.stat().st_size >> 20} MB)")


def _run_job(script: str, rows: pa.Table, place: Path, archive: Path, log: Path) -> None:
    """Run the script as a job, with files as sources and sinks, and wait for the end of Java."""
    for name in _STREAMS:
        (place / name).mkdir()
        pq.write_table(rows, place / name / "1.parquet")
    spark = local_session(2, log, java_options=make_options(archive))
    gateway = SparkContext._gateway
    session = Session(spark, checkpoint=place / "checkpoint", base=place, printer=_ignored)
    session.sql(script)
    session.start(available_now=True).finish()
    spark.stop()
    process: subprocess.Popen[bytes] = gateway.proc  # type: ignore[union-attr]  # untyped
    assert process.stdin is not None, "see launch_gateway"
    process.stdin.close()  # ends Java
    process.wait(_TIMEOUT_S)


def _ignored(label: str, rows: pa.Table, n: int) -> None: ...
