"""``eddyline prepare``: what the first use after an install would do, done once.

Python's modules are compiled, where the installer has not done so. Two processes compile the
kernels of a script with all kinds of operators, which Numba stores. With PySpark, the script then
runs as a small job, at whose end Java archives its classes (``prepare_spark.py``).
"""

from __future__ import annotations

import compileall
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path
from typing import Final

import pyarrow as pa

import eddyline
from eddyline.algebra.drains import drain_us
from eddyline.cli.two_rows import two_rows
from eddyline.engine.engine import Engine
from eddyline.kernels.deferred import report_compilations
from eddyline.sql.parser import parse
from eddyline.sql.statements import CreateQuery

SCRIPT: Final = Path(__file__).with_name("prepare.sql")
_ROWS: Final = 100


def prepare_machine(say: Callable[[str], object]) -> None:
    """Compile modules and kernels, and make the archive; an old one is replaced.

    Args:
        say: called with what happens.

    Raises:
        SetupError: there is PySpark, and no Java, or it is too old.
    """
    has_spark = find_spec("pyspark") is not None
    if has_spark:
        from eddyline.spark.environment import require_java

        require_java()  # kernels take minutes
    package = Path(eddyline.__file__).parent
    if not compileall.compile_dir(package, quiet=2):
        say(f"not all modules in {package} can be stored: each process compiles the others")
    say("compiling kernels that are not stored yet: up to some minutes ...")
    say(f"{len(compile_kernels())} kernels compiled")
    if not has_spark:
        say("PySpark is not installed: there are no classes to archive")
        return
    from eddyline.cli.prepare_spark import archive_classes

    of_job: list[str] = []
    with report_compilations(of_job.append):
        archive_classes(SCRIPT.read_text(), _rows(), say)
    if of_job:
        say(f"{len(of_job)} more kernels compiled for the job")


def compile_kernels() -> list[str]:
    """Compile the kernels of the script, in two processes that begin with its first and its last
    query; each loads what the other has compiled.

    Returns:
        The names of the kernels that were not stored.
    """
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        return [name for names in pool.map(_compile, (1, -1)) for name in names]


def _compile(direction: int) -> list[str]:
    """Compile what is not stored yet; -1: in the reverse order of the queries."""
    statements, engine = parse(SCRIPT.read_text()), Engine()
    queries = [s for s in statements if isinstance(s, CreateQuery)]
    compiled: list[str] = []
    with report_compilations(compiled.append):
        for statement in statements:
            if not isinstance(statement, CreateQuery):
                engine.execute(statement)
        for name, table in engine.catalog.tables.items():
            engine.table(name, _rows().select([column.name for column in table.schema]))
        for query in queries[::direction]:
            engine.execute(query)
        engine.process(two_rows(engine.catalog.streams, engine.catalog.tables))
        engine.process(dict.fromkeys(engine.catalog.streams, _rows()))
        drained = max(drain_us(query.plan) for query in engine.queries.values())
        engine.advance(1_000_000 * _ROWS + drained)
    return compiled


def _rows() -> pa.Table:
    """Different rows for each stream of the script, one a second."""
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
