"""The partitionings of queries of all kinds, as EXPLAIN shows them: the golden file."""

from __future__ import annotations

import re
from pathlib import Path

from eddyline.spark.layouts.explain import partitionings
from eddyline.spark.script import Script
from golden import check_golden

GOLDEN = Path(__file__).parent / "golden" / "partitionings.sql"
COLUMNS = "ts TIMESTAMP, k BIGINT, x {}, y STRING, v DOUBLE"


def declarations(rates: dict[str, str], distinct: dict[str, dict[str, str]]) -> str:
    lines = []
    for name, x in (("a", "INT"), ("b", "INT"), ("c", "BIGINT"), ("d", "BIGINT")):
        options = [f"rate = '{rates[name]}'"] if name in rates else []
        if name in distinct:
            known = ", ".join(f"{c}: {n}" for c, n in distinct[name].items())
            options.append(f"distinct = '{known}'")
        sizes = f" WITH ({', '.join(options)})" if options else ""
        lines.append(f"CREATE STREAM {name} ({COLUMNS.format(x)}) TIMESTAMP BY ts{sizes};")
    lines.append(f"CREATE STREAM w ({COLUMNS.format('INT')}) TIMESTAMP BY ts")
    lines.append("WITH (lateness_by = 'row');")
    lines.append("CREATE TABLE t (k BIGINT, name STRING);")
    lines.append("CREATE TABLE n (k BIGINT, name STRING) WITH (updates = 'non-retroactive');")
    lines.append("CREATE TABLE r (k BIGINT, lo DOUBLE) WITH (updates = 'retroactive');")
    columns = "k BIGINT, x BIGINT, name STRING, lo DOUBLE"
    for name, updates in (("p", "static"), ("m", "non-retroactive"), ("o", "retroactive")):
        lines.append(
            f"CREATE TABLE {name} ({columns}) WITH (updates = '{updates}', rows = 3000000);"
        )
    return "\n".join(lines)


def explained(case: str) -> str:
    """The partitioning of each query of a case; comments give rates, values and shards."""
    rates = dict(re.findall(r"(\w) (\d+)", (re.search(r"-- rates: (.*)", case) or [""])[0]))
    known: dict[str, dict[str, str]] = {}
    values = (re.search(r"-- distinct: (.*)", case) or [""])[0]
    for stream, column, n in re.findall(r"(\w)\.(\w) (\d+)", values):
        known.setdefault(stream, {})[column] = n
    shards = re.search(r"-- shards: (\d+)", case)
    queries = [line for line in case.splitlines() if not line.startswith("--")]
    script = Script.of([declarations(rates, known)])
    for i, query in enumerate(queries):
        sql = query if query.startswith("CREATE") else f"CREATE QUERY q{i} AS {query}"
        assert len(list(script.run(sql))) == 1
    found = partitionings(script, int(shards[1]) if shards else 8)
    return "\n".join(found[name] for name in script.queries)


def test_partitionings() -> None:
    check_golden(GOLDEN, explained)
