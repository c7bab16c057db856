"""DuckDB doing the same join offline: all rows at hand, one thread, its fastest form."""

from __future__ import annotations

import time
from typing import Any, Final

from eddyline.bench.measure import Figure, Sample, repeat
from eddyline.bench.workload import BenchLoad
from eddyline.errors import SetupError

#: Bucket widths to try, in windows.
_WIDTHS: Final = (1, 2, 4, 8, 16, 32)


def bucketed_joins(window_us: int) -> dict[str, str]:
    """Equivalent forms of the window join, all by time bucket: each row of ``b`` is repeated for
    every bucket that its partners can be in, so that DuckDB has an equi-join to hash.

    Either two hash keys or, for integers, key and bucket packed into one.
    """
    return {
        f"{how}, buckets of {width} windows": _select(window_us, width * window_us, how == "packed")
        for width in _WIDTHS
        for how in ("two keys", "packed")
    }


def _select(window_us: int, bucket_us: int, packed: bool) -> str:
    # one bucket more on both sides for integer division of negative times
    near = (
        f"unnest(range((ts - {window_us}) // {bucket_us}, (ts + {window_us}) // {bucket_us} + 1))"
    )
    offset = "k * 1000000 + " if packed else ""
    keys = "a.h = b.h" if packed else "a.k = b.k AND a.h = b.h"
    return f"""
        SELECT greatest(a.ts, b.ts) AS ts, least(a.ts, b.ts) + {window_us} AS exp, a.k, a.v, b.v
        FROM (SELECT *, {offset}ts // {bucket_us} AS h FROM a) AS a
        JOIN (SELECT *, {offset}{near} AS h FROM b) AS b
          ON {keys} AND b.ts > a.ts - {window_us} AND b.ts < a.ts + {window_us}"""


def duckdb_join() -> list[Figure]:
    """Measure the fastest form, from DuckDB's own tables (loading is not counted) to Arrow."""
    load = BenchLoad()
    connection = _loaded(load)

    def run_form(sql: str) -> Sample:
        begin = time.perf_counter()
        result = connection.sql(sql).to_arrow_table()
        return Sample(2 * load.rows, result.num_rows, time.perf_counter() - begin)

    forms = bucketed_joins(load.window_us)
    trials = {form: run_form(sql) for form, sql in forms.items()}
    assert len({t.results for t in trials.values()}) == 1, f"forms differ: {trials}"
    best = min(trials, key=lambda form: trials[form].seconds)
    return [repeat("DuckDB, offline", lambda: run_form(forms[best]), note=f"one thread, {best}")]


def _loaded(load: BenchLoad) -> Any:
    try:
        import duckdb
    except ImportError as missing:
        raise SetupError("this needs DuckDB: pip install 'eddyline[test]'") from missing
    connection = duckdb.connect(config={"threads": 1})
    for name, rows in (("a", load.a), ("b", load.b)):
        connection.register("arrived", rows)
        connection.execute(f"CREATE TABLE {name} AS SELECT epoch_us(ts) AS ts, k, v FROM arrived")
        connection.unregister("arrived")
    return connection
