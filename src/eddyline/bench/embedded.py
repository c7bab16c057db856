"""The embedded engine: joins, grouping, and how flat the cost of a row stays."""

from __future__ import annotations

import time
from typing import Any, Final

import eddyline
from eddyline.bench.feeding import process_all
from eddyline.bench.measure import Figure, Sample, repeat
from eddyline.bench.workload import BenchLoad

_BATCH_ROWS: Final = 100_000
_FLAT_WINDOWS: Final = (10_000, 100_000, 1_000_000)
_PERCENTILE_WINDOWS: Final = (10_000, 100_000, 500_000)
_FLAT_ROWS: Final = 500_000  # per stream, after the windows are full


def join_engine(load: BenchLoad) -> eddyline.Engine:
    """An engine with the workload's two streams and its join as the query ``q``."""
    engine = eddyline.Engine()
    key = "STRING" if load.string_keys else "BIGINT"
    for name in ("a", "b"):
        engine.sql(f"CREATE STREAM {name} (ts TIMESTAMP, k {key}, v BIGINT) TIMESTAMP BY ts")
    engine.query(join_select(load), name="q")
    return engine


def join_select(load: BenchLoad) -> str:
    """The workload's join."""
    window = f"[RANGE {load.window_us // 1_000} MILLISECONDS]"
    return f"SELECT a.k, a.v, b.v FROM a {window}, b {window} WHERE a.k = b.k"


def feed(engine: eddyline.Engine, batches: list[dict[str, Any]]) -> Sample:
    """Process the batches; every change table is cut, as a consumer would."""
    rows = sum(table.num_rows for batch in batches for table in batch.values())
    results = 0
    begin = time.perf_counter()
    for batch in batches:
        results += process_all(engine, batch)["q"].num_rows
    return Sample(rows, results, time.perf_counter() - begin)


def integer_join() -> list[Figure]:
    """The join by an integer key, from Arrow to Arrow."""
    return [_join("engine, join", BenchLoad())]


def string_join() -> list[Figure]:
    """The join by a string key, from Arrow to Arrow."""
    return [_join("engine, join by string", BenchLoad(string_keys=True))]


def _join(name: str, load: BenchLoad) -> Figure:
    batches = load.batches(_BATCH_ROWS)
    return repeat(name, lambda: feed(join_engine(load), batches), note="batches of 100,000 rows")


_PATTERN: Final = """
    SELECT * FROM a MATCH_RECOGNIZE (
      PARTITION BY k ORDER BY ts MEASURES A.v AS first_v, C.v AS last_v
      PATTERN (A B+ C) WITHIN INTERVAL 10 MINUTES
      DEFINE A AS v % 10 < 3, B AS v % 10 BETWEEN 3 AND 5, C AS v % 10 > 5) AS m"""


_OVER: Final = "OVER (PARTITION BY k ORDER BY"
#: Queries of one stream with 10,000 keys and a thousand rows a second, with notes.
_GROUPED: Final = {
    "GROUP BY": (
        "SELECT k, SUM(v) AS total FROM a [RANGE 100 SECONDS] GROUP BY k",
        "window of 100,000 rows, 10,000 groups",
    ),
    "MATCH_RECOGNIZE": (_PATTERN, "A B+ C in 10,000 partitions"),
    "TUMBLE": (
        "SELECT k, window_end, COUNT(*) AS n FROM a [TUMBLE 100 SECONDS] GROUP BY k, window_start, "
        "window_end",
        "windows of 100,000 rows, 10,000 groups",
    ),
    "HOP": (
        "SELECT k, window_end, COUNT(*) AS n FROM a [HOP 100 SECONDS EVERY 50 SECONDS] GROUP BY k, "
        "window_start, window_end",
        "windows of 100,000 rows, 10,000 groups",
    ),
    "LAG": (f"SELECT k, v - LAG(v) {_OVER} ts) AS d FROM a", "10,000 partitions, no window"),
    "AVG of a frame": (
        f"SELECT k, AVG(v) {_OVER} ts RANGE INTERVAL '100' SECOND PRECEDING) AS a FROM a",
        "10,000 partitions, of 10 rows each",
    ),
    "top-2": (
        f"SELECT k, v FROM a [RANGE 100 SECONDS] QUALIFY ROW_NUMBER() {_OVER} v DESC) <= 2",
        "window of 100,000 rows, 10,000 partitions",
    ),
    "top-2 of all rows": (
        f"SELECT k, v FROM a QUALIFY ROW_NUMBER() {_OVER} v DESC) <= 2",
        "10,000 partitions, no window",
    ),
    **{
        f"percentile, window of {rows:,} rows": (
            f"SELECT k, percentile(v, 0.95) AS p FROM a [RANGE {rows // 1_000} SECONDS] GROUP BY k",
            "10,000 groups",
        )
        for rows in _PERCENTILE_WINDOWS
    },
}


def group_by() -> list[Figure]:
    """SUM by 10,000 groups over a sliding window of 100,000 rows."""
    return [_grouped("GROUP BY")]


def pattern() -> list[Figure]:
    """A pattern of three steps within ten minutes, in 10,000 partitions."""
    return [_grouped("MATCH_RECOGNIZE")]


def fixed_windows() -> list[Figure]:
    """Counts by 10,000 groups in windows between fixed instants."""
    return [_grouped("TUMBLE"), _grouped("HOP")]


def over() -> list[Figure]:
    """Values of rows by their place in 10,000 partitions, and the first rows of each."""
    names = ("LAG", "AVG of a frame", "top-2", "top-2 of all rows")
    return [_grouped(name) for name in names]


def percentiles() -> list[Figure]:
    """A percentile by 10,000 groups over sliding windows of several lengths."""
    return [_grouped(f"percentile, window of {rows:,} rows") for rows in _PERCENTILE_WINDOWS]


def _grouped(name: str) -> Figure:
    load = BenchLoad(window_rows=100_000)
    batches = [{"a": load.a.slice(at, _BATCH_ROWS)} for at in range(0, load.rows, _BATCH_ROWS)]
    sql, note = _GROUPED[name]

    def run() -> Sample:
        engine = eddyline.Engine()
        engine.sql("CREATE STREAM a (ts TIMESTAMP, k BIGINT, v BIGINT) TIMESTAMP BY ts")
        engine.query(sql, name="q")
        return feed(engine, batches)

    return repeat(f"engine, {name}", run, note=note)


def flat_small() -> list[Figure]:
    """The join with full windows of 10,000 rows per stream."""
    return [_flat(_FLAT_WINDOWS[0])]


def flat_middle() -> list[Figure]:
    """The join with full windows of 100,000 rows per stream."""
    return [_flat(_FLAT_WINDOWS[1])]


def flat_large() -> list[Figure]:
    """The join with full windows of 1,000,000 rows per stream."""
    return [_flat(_FLAT_WINDOWS[2])]


def _flat(window_rows: int) -> Figure:
    """As many keys as the window has rows: one match per arriving row at every size."""
    # By then rows expire, and every place of the stores' buffers has been written to once: what is
    # measured is the steady state, not the system zeroing fresh pages.
    full = 5 * window_rows
    load = BenchLoad(full + _FLAT_ROWS, keys=window_rows, window_rows=window_rows)
    filling = load.batches(_BATCH_ROWS, end=full)
    measured = load.batches(_BATCH_ROWS, begin=full)

    def run() -> Sample:
        engine = join_engine(load)
        feed(engine, filling)
        return feed(engine, measured)

    return repeat(f"engine, window of {window_rows:,} rows", run, note="once the windows are full")
