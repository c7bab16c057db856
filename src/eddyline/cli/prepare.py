"""``eddyline prepare``: what the first job after an install would do, done once.

Python's modules are compiled, where the installer has not done so. Two processes compile the
kernels of a script with all kinds of operators, which Numba stores. Then the script runs as a small
job on Spark, at whose end Java writes an archive of the classes that it has loaded.
"""

from __future__ import annotations

import compileall
import subprocess
import tempfile
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark import SparkContext

import eddyline
from eddyline.cli.scripts import checked, warm_up
from eddyline.kernels.options import report_compilations
from eddyline.spark.class_archive import archive_file, make_options
from eddyline.spark.environment import local_session, require_java
from eddyline.spark.session import Session
from eddyline.sql.parser import parse
from eddyline.sql.statements import CreateQuery

SCRIPT: Final = Path(__file__).with_name("prepare.sql")
_STREAMS: Final = ("a", "b", "c", "d", "e", "f", "g", "h")
_ROWS: Final = 100
#: Java writes the archive when it ends.
_TIMEOUT_S: Final = 600.0


def prepare_machine(say: Callable[[str], object]) -> None:
    """Compile modules and kernels, and make the archive; an old one is replaced.

    Args:
        say: called with what happens.

    Raises:
        SetupError: there is no Java, or it is too old.
    """
    archive = archive_file(require_java())
    package = Path(eddyline.__file__).parent
    if not compileall.compile_dir(package, quiet=2):
        say(f"{package} cannot be written: each process compiles its modules")
    say(f"{compile_kernels()} kernels compiled")
    archive.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".prepare-", dir=archive.parent) as place:
        made, log = Path(place, "archive"), Path(place, "spark.log")
        _run_job(Path(place), made, log)
        if not made.exists():
            say(f"this Java makes no archive of classes: {log.read_text()[-2000:]}")
            return
        made.replace(archive)
    say(f"classes of Spark archived: {archive} ({archive.stat().st_size >> 20} MB)")


def compile_kernels() -> int:
    """Compile the kernels of the script, in two processes that begin with its first and its last
    query; each loads what the other has compiled.

    Returns:
        The number of kernels compiled.
    """
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        return sum(pool.map(_compile, (1, -1)))


def _compile(direction: int) -> int:
    """Compile what is not stored yet; -1: in the reverse order of the queries."""
    statements = parse(SCRIPT.read_text())
    queries = [s for s in statements if isinstance(s, CreateQuery)]
    others = [s for s in statements if not isinstance(s, CreateQuery)]
    compiled: list[str] = []
    with tempfile.TemporaryDirectory() as place:
        script = Path(place, SCRIPT.name)
        script.write_text(";\n".join(s.sql for s in [*others, *queries[::direction]]))
        with report_compilations(compiled.append):
            warm_up(checked(script))
    return len(compiled)


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
