"""Queries of NEXMark in one Spark job: their answers are those of DuckDB over the same rows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from eddyline.bench.nexmark.generator import Auctions
from eddyline.bench.nexmark.workload import (
    NAMES,
    batches_of,
    definitions,
    engine_of,
    text,
    views,
    write,
)
from eddyline.spark import Session
from eddyline.testing.bags import difference, rows_of
from net_changes import answer_at
from nexmark_answers import Facts

pytestmark = pytest.mark.spark

EVENTS: Final = 3_000
BATCH: Final = 1_000
LOAD: Final = Auctions(seed=5, events_per_s=60)
#: A filter, joins, groups of groups, windows, a view, a top-n, sessions, a function of the user.
SOME: Final = ("q2", "q3", "q4", "q5", "q8", "q11", "q12", "q13", "q14", "q19")


@pytest.mark.parametrize(
    "names", [SOME, pytest.param(NAMES, marks=pytest.mark.long)], ids=["some", "all"]
)
def test_queries_in_one_job(spark: SparkSession, tmp_path: Path, names: Sequence[str]) -> None:
    write(LOAD, EVENTS, BATCH, tmp_path / "in")
    session = Session(spark, shards=2)
    session.sql(definitions(tmp_path / "in"))
    for name in names:
        to = str(tmp_path / "out" / name)
        session.sql(views(name))
        session.query(name, text(name), sink="parquet", path=to, seq="true")
    session.start(available_now=True).finish()
    parts = [rows for rows, _ in batches_of(LOAD, EVENTS, BATCH)]
    facts = Facts({stream: pa.concat_tables(p[stream] for p in parts) for stream in parts[0]})
    queries = engine_of({name: text(name) for name in names}).queries
    for name in names:
        changes = pq.read_table(tmp_path / "out" / name)
        changes = changes.sort_by("_seq")
        columns = ["_op", "_ts", "_exp", *queries[name].schema.names]
        rows = rows_of(changes.select(columns))
        found = answer_at(queries[name], rows, LOAD.time_us(2 * EVENTS))
        assert not any(difference(facts.answer(name), found)), name
