"""DuckDB with the rules as a table: all rows at hand, one thread, its fastest form."""

from __future__ import annotations

import time

from eddyline.bench.measure import Figure
from eddyline.bench.queries.rules import RuleWorkload, points
from eddyline.errors import SetupError

#: Rows for a form that compares each with every rule, and for one that does not.
_FEW, _MANY = 20_000, 1_000_000
_IN_SQUARE = "s.x BETWEEN r.x0 AND r.x1 AND s.y BETWEEN r.y0 AND r.y1"


def duckdb_rules(count: int, repeats: int) -> list[Figure]:
    """The join as it is written first, and by cells of a grid that was laid by hand."""
    try:
        import duckdb
    except ImportError as missing:
        raise SetupError("this needs DuckDB: pip install 'eddyline[test]'") from missing
    rules = RuleWorkload(count)
    connection = duckdb.connect(config={"threads": 1})
    connection.register("given", rules.table)
    connection.execute("CREATE TABLE rules AS SELECT * FROM given")
    side = rules.side

    def run(name: str, sql: str, rows: int) -> Figure:
        connection.register("arrived", points(0, rows))
        connection.execute("CREATE OR REPLACE TABLE s AS SELECT * FROM arrived")
        seconds, found = [], 0
        for _ in range(repeats):
            began = time.perf_counter()
            found = connection.sql(sql).to_arrow_table().num_rows
            seconds.append(time.perf_counter() - began)
        note = f"one thread, {rows:,} rows at once"
        return Figure(name, rows, found, tuple(seconds), note=note)

    output = "r.id, s.ts, s.ts + INTERVAL 10 SECONDS AS exp, s.k, s.x, s.y"
    written = f"SELECT {output} FROM s JOIN rules r ON {_IN_SQUARE}"
    cells = f"""
        WITH cells AS (
          SELECT *, unnest(range((x0 // {side})::INT, (x1 // {side})::INT + 1)) AS cx FROM rules),
        squares AS (
          SELECT *, unnest(range((y0 // {side})::INT, (y1 // {side})::INT + 1)) AS cy FROM cells)
        SELECT {output} FROM s JOIN squares r
          ON (s.x // {side})::INT = r.cx AND (s.y // {side})::INT = r.cy AND {_IN_SQUARE}"""
    return [
        run(f"DuckDB, {count:,} rules", written, _FEW),
        run(f"DuckDB, {count:,} rules, grid", cells, _MANY),
    ]
