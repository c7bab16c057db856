"""FOR EACH ROW OF with groups, over shards."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pyarrow as pa
import pytest

from eddyline.types import TIMESTAMP
from sharded import Sharded

DDL = """
CREATE STREAM a (ts TIMESTAMP, k BIGINT, x BIGINT) TIMESTAMP BY ts;
CREATE TABLE rules (id BIGINT, k BIGINT, lo BIGINT) WITH (updates = 'retroactive');
"""
QUERIES = {
    "keyed": "SELECT rules.id, k, SUM(x) AS x FROM a [RANGE 3 SECONDS] WHERE x >= rules.lo "
    "GROUP BY k HAVING SUM(x) > rules.lo",
    "windows": "SELECT rules.id, k, COUNT(*) AS n FROM a [RANGE rules.lo SECONDS AT MOST 3 SECONDS]"
    " WHERE k <> rules.k GROUP BY k",
    "crossing": "SELECT rules.id, x, COUNT(*) AS n FROM a [RANGE 2 SECONDS] WHERE k <> rules.k "
    "GROUP BY x HAVING COUNT(*) > rules.lo EMIT CHANGES",
}
#: Whose layouts those have.
OTHERS = {
    "by_key": "SELECT k, COUNT(*) AS n FROM a [RANGE 3 SECONDS] GROUP BY k",
    "joined": "SELECT rules.id, a.x FROM a [RANGE 3 SECONDS], rules WHERE a.x > rules.lo",
    "all": "SELECT COUNT(*) AS n, MEDIAN(x) AS m FROM a [RANGE 3 SECONDS]",
}
SECOND = 1_000_000


@pytest.mark.parametrize("is_durable", [False, True])
def test_rules_with_groups(tmp_path: Path, is_durable: bool) -> None:
    random = Random(5)
    none = pa.table({name: pa.array([], pa.int64()) for name in ("id", "k", "lo")})
    tables = {"rules": none}
    job = Sharded(DDL, OTHERS, tables, shards=3, directory=tmp_path, is_durable=is_durable)
    for name, sql in QUERIES.items():
        assert job.add(name, sql, 3 * SECOND, rules="rules")
    live: list[tuple[int, int, int]] = []
    for second in range(1, 12):
        ts = sorted(second * SECOND + random.randrange(SECOND) for _ in range(12))
        rows = {
            "ts": pa.array(ts, pa.int64()).cast(TIMESTAMP),
            "k": [random.randrange(4) for _ in ts],
            "x": [random.randrange(3) for _ in ts],
        }
        changes = []
        if live and random.random() < 0.4:
            changes.append(("-", live.pop(random.randrange(len(live)))))
        if random.random() < 0.6:
            live.append((second, random.randrange(4), random.randrange(3)))
            changes.append(("+", live[-1]))
        data = {"a": pa.table(rows)}
        if changes:
            at = pa.array([second * SECOND] * len(changes), pa.int64()).cast(TIMESTAMP)
            columns = list(zip(*(row for _, row in changes), strict=True))
            names = dict(zip(("id", "k", "lo"), map(list, columns), strict=True))
            data["rules"] = pa.table({"_ts": at, "_op": [op for op, _ in changes], **names})
        job.process(data)
        if second % 4 == 0 and not is_durable:
            job.restart()
    if not is_durable:
        job.advance(60 * SECOND)
    job.check()
    assert all(job.found.changes[name] for name in QUERIES)
