"""``eddyline prepare``: what it makes is what later starts use."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

import eddyline
from eddyline.cli.prepare import SCRIPT
from eddyline.shipped import examples

SOURCE = str(Path(eddyline.__file__).parent.parent)


def run(*arguments: str, **variables: str) -> str:
    done = subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": SOURCE, **variables},
        timeout=1_500,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def compiled(script: Path, cache: Path) -> list[str]:
    """The kernels that a new process compiles for a script."""
    code = (
        "from pathlib import Path\n"
        "from eddyline.cli.scripts import checked, warm_up\n"
        "from eddyline.kernels.deferred import report_compilations\n"
        f"with report_compilations(print): warm_up(checked(Path('{script}')))"
    )
    return run("-c", code, NUMBA_CACHE_DIR=str(cache)).split()


#: Statements as users type them, with other columns and constants than those of the script.
COMMON: Final = """
CREATE STREAM orders (ts TIMESTAMP, customer BIGINT, country STRING, price DOUBLE, items BIGINT)
  TIMESTAMP BY ts WITH (source = 'parquet', path = 'orders');
CREATE STREAM payments (ts TIMESTAMP, customer BIGINT, price DOUBLE)
  TIMESTAMP BY ts WITH (source = 'parquet', path = 'payments');
CREATE QUERY per_minute AS SELECT country, window_start, COUNT(*) AS n, SUM(price) AS price
  FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
  GROUP BY country, window_start, window_end;
CREATE QUERY sliding AS SELECT customer, AVG(price) AS price, MAX(items) AS items
  FROM HOP(orders, ts, INTERVAL '1' MINUTE, INTERVAL '10' MINUTE)
  GROUP BY customer, window_start, window_end;
CREATE QUERY sessions AS SELECT customer, window_start, window_end, COUNT(*) AS n
  FROM orders [SESSION 10 MINUTES BY customer] GROUP BY customer, window_start, window_end;
CREATE QUERY rises AS SELECT customer, price - LAG(price) OVER w AS
  more, AVG(price) OVER (w ROWS 4 PRECEDING) AS mean
  FROM orders WINDOW w AS (PARTITION BY customer ORDER BY ts);
CREATE QUERY biggest AS SELECT customer, price FROM orders [RANGE 1 HOUR]
  QUALIFY ROW_NUMBER() OVER (PARTITION BY country ORDER BY price DESC) <= 3;
CREATE QUERY middle AS SELECT country, MEDIAN(price) AS price FROM orders [RANGE 1 HOUR]
  GROUP BY country;
CREATE QUERY paid AS SELECT o.customer, p.price FROM orders AS o ASOF JOIN payments AS p
  ON o.customer = p.customer AND o.ts >= p.ts;
CREATE QUERY unpaid AS SELECT customer FROM orders [RANGE 1 HOUR] WHERE NOT EXISTS
  (SELECT 1 FROM payments [RANGE 2 HOURS] WHERE payments.customer = orders.customer);
CREATE QUERY many AS SELECT customer, COUNT(*) AS n FROM orders [RANGE 5 MINUTES] WHERE price > 10
  GROUP BY customer HAVING COUNT(*) > 3;
"""


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """A directory with the kernels of the script, and their names."""
    cache = tmp_path_factory.mktemp("kernels")
    code = "from eddyline.cli.prepare import compile_kernels\nprint(*compile_kernels())"
    return cache, run("-c", code, NUMBA_CACHE_DIR=str(cache)).split()


@pytest.mark.long
def test_the_demo_compiles_no_kernel_afterwards(prepared: tuple[Path, list[str]]) -> None:
    cache, kernels = prepared
    assert len(kernels) > 20
    assert compiled(SCRIPT, cache) == []
    assert compiled(examples() / "demo.sql", cache) == []


@pytest.mark.long
def test_common_statements_compile_no_kernel_afterwards(
    prepared: tuple[Path, list[str]], tmp_path: Path
) -> None:
    script = tmp_path / "common.sql"
    script.write_text(COMMON)
    assert compiled(script, prepared[0]) == []


@pytest.mark.long
def test_kernels_of_each_kind_of_statement_are_compiled(
    prepared: tuple[Path, list[str]],
) -> None:
    """Also while the script is checked, which tries operators without rows."""
    _, kernels = prepared
    of_kinds = {
        "probe": "joins",
        "run_lists": "the first rows",
        "compute": "values of a row's place in a window",
        "earlier_rows": "LAG of rows that only come",
        "run_picks": "MEDIAN",
        "run_moments": "AVG",
        "latest_before": "ASOF",
        "assign": "SESSION",
        "go_on": "MATCH_RECOGNIZE",
        "values_at": "paths of JSON",
    }
    assert {kind for name, kind in of_kinds.items() if name not in kernels} == set()


@pytest.mark.long
@pytest.mark.spark
def test_java_uses_the_archive(tmp_path: Path) -> None:
    """And modules are compiled, where Python does not do it by itself."""
    modules = tmp_path / "modules"
    variables = {"PYTHONPYCACHEPREFIX": str(modules), "PYTHONDONTWRITEBYTECODE": "1"}
    output = run("-m", "eddyline", "prepare", XDG_CACHE_HOME=str(tmp_path), **variables)
    assert "classes of Spark archived" in output
    names = {file.name.partition(".")[0] for file in modules.rglob("*.pyc")}
    assert {"daemon", "engine", "rowstore"} <= names
    (archive,) = (tmp_path / "eddyline").iterdir()
    assert archive.suffix == ".jsa"
    code = (
        "from pathlib import Path\n"
        "from eddyline.spark import environment\n"
        "from eddyline.spark.class_archive import use_options\n"
        "options = use_options(environment.require_java())\n"
        "log = Path(r'{place}', 'classes')\n"
        "options = (*options, f'-Xlog:class+load:file={{log}}')\n"
        "spark = environment.local_session(1, Path(r'{place}', 'log'), java_options=options)\n"
        "lines = log.read_text().splitlines()\n"
        "shared = [line for line in lines if 'shared objects file (top)' in line]\n"
        "print(len(shared) > 0.5 * len(lines), len(shared), len(lines))\n"
        "spark.stop()"
    )
    used = run("-c", code.format(place=tmp_path), XDG_CACHE_HOME=str(tmp_path))
    assert used.startswith("True"), used
