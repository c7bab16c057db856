"""What the embedded engine imports, and which kernels it loads: no more than it needs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import eddyline

#: Not needed to import the engine. PyArrow imports pandas when it converts the first values; the
#: first kernel that is called imports Numba.
NEVER = {
    "numba",
    "llvmlite",
    "asyncio",
    "pandas",
    "polars",
    "pyspark",
    "typer",
    "rich",
    "duckdb",
    "matplotlib",
    "IPython",
    "psycopg",
    "deltalake",
    "pyiceberg",
    "prometheus_client",
    "pyarrow.dataset",
    "pyarrow.parquet",
    "eddyline.spark",
    "eddyline.cli",
    "eddyline.testing",
    "eddyline.bench",
}

FILTER = """
import sys, eddyline
from eddyline.kernels.deferred import KERNELS
engine = eddyline.Engine()
engine.sql("CREATE STREAM s (ts TIMESTAMP, x BIGINT) TIMESTAMP BY ts")
engine.query("SELECT x FROM s [RANGE 10 SECONDS] WHERE x > 1", name="big")
assert engine.push("s", {"ts": 2_000_000, "x": 3})["big"].num_rows == 1
kernels = {}
for kernel, deferred in KERNELS.items():
    kernels.setdefault(kernel.__module__.rpartition(".")[2], []).append("made" in vars(deferred))
print(kernels)
"""


def printed(code: str) -> str:
    source = str(Path(eddyline.__file__).parent.parent)
    environment = {**os.environ, "PYTHONPATH": source}
    command = [sys.executable, "-c", code]
    return subprocess.run(
        command, capture_output=True, text=True, check=True, env=environment
    ).stdout


def test_the_package_imports_nothing_large() -> None:
    loaded = printed("import eddyline, sys; print(*sys.modules)").split()
    assert not {*NEVER, "numpy", "pyarrow", "sqlglot", "eddyline.engine"} & {*loaded}


def test_the_engine_imports_what_it_needs() -> None:
    loaded = printed("import eddyline, sys; eddyline.Engine; print(*sys.modules)").split()
    assert not NEVER & {*loaded}
    assert {"pyarrow", "sqlglot", "eddyline.engine.engine"} <= {*loaded}


def test_a_filter_loads_no_kernel_of_others() -> None:
    kernels = eval(printed(FILTER))
    assert sum(map(len, kernels.values())) > 200
    assert sum(sum(made) for made in kernels.values()) < 20
    for module in ("chains", "chain_probes", "grouped_filter", "aggregates", "treaps", "sessions"):
        assert kernels[module] and not any(kernels[module]), module
