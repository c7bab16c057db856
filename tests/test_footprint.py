"""What the embedded engine imports, and which kernels it loads: no more than it needs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import eddyline

#: Not needed to import the engine. PyArrow imports pandas when it converts the first values.
NEVER = {
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
import sys, numba, eddyline
engine = eddyline.Engine()
engine.sql("CREATE STREAM s (ts TIMESTAMP, x BIGINT) TIMESTAMP BY ts")
engine.query("SELECT x FROM s [RANGE 10 SECONDS] WHERE x > 1", name="big")
assert engine.push("s", {"ts": 2_000_000, "x": 3})["big"].num_rows == 1
kernels = {}
for name, module in list(sys.modules.items()):
    if name.startswith("eddyline.kernels."):
        values = vars(module).values()
        found = [v for v in values if isinstance(v, numba.core.dispatcher.Dispatcher)]
        kernels[name.rpartition(".")[2]] = (len(found), sum(bool(f.signatures) for f in found))
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
    assert not {*NEVER, "numba", "numpy", "pyarrow", "sqlglot", "eddyline.engine"} & {*loaded}


def test_the_engine_imports_what_it_needs() -> None:
    loaded = printed("import eddyline, sys; eddyline.Engine; print(*sys.modules)").split()
    assert not NEVER & {*loaded}
    assert {"numba", "pyarrow", "sqlglot", "eddyline.engine.engine"} <= {*loaded}


def test_a_filter_loads_no_kernel_of_others() -> None:
    kernels = eval(printed(FILTER))
    defined, loaded = (sum(counts) for counts in zip(*kernels.values(), strict=True))
    assert defined > 200 and loaded < 20
    for module in ("chains", "chain_probes", "grouped_filter", "aggregates", "treaps", "sessions"):
        assert kernels[module][0] and not kernels[module][1], module
