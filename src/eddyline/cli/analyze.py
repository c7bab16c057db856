"""``eddyline analyze``: rates and numbers of distinct values of a script's sources, by sampling."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

from pyspark.sql import SparkSession
from rich.console import Console

from eddyline.algebra.catalog import StreamDef, TableDef
from eddyline.cli.scripts import checked
from eddyline.engine.explain import aligned, number
from eddyline.engine.ingest.sampled import Sampled, as_options, of_changes, of_stream, of_table
from eddyline.engine.ingest.table_changes import is_live
from eddyline.errors import DataError
from eddyline.optimizer.compared import columns_compared
from eddyline.spark.environment import local_session
from eddyline.spark.script import Script
from eddyline.spark.sources.sampling import Sampler

Source = StreamDef | TableDef


def analyze_script(
    file: Path, properties: Mapping[str, str], *, rows: int, seconds: float, as_json: bool
) -> None:
    """Sample all sources of a script, and print the measured statistics.

    Args:
        properties: of Spark.

    Raises:
        EddylineError: the script is wrong, or a source cannot be read.
    """
    script = checked(file)
    console = Console(stderr=True, highlight=False)

    @cache
    def spark() -> SparkSession:
        console.print("starting Spark (some seconds) ...")
        with tempfile.NamedTemporaryFile(prefix="eddyline-", suffix=".log", delete=False) as log:
            return local_session(1, Path(log.name), properties)

    sampler = Sampler(spark, file.resolve().parent, rows, seconds)
    found: list[tuple[Source, Sampled]] = []
    sources: list[Source] = [*script.streams.values(), *script.tables.values()]
    for source in sources:
        console.print(f"reading {source.name} ...")
        found.append((source, _sampled(script, source, sampler)))
    if spark.cache_info().currsize:
        spark().stop()
    for line in _as_json(found) if as_json else _as_text(found):
        print(line)


def _sampled(script: Script, source: Source, sampler: Sampler) -> Sampled:
    columns = _columns(script, source)
    try:
        if isinstance(source, StreamDef):
            return of_stream(source, sampler.stream(source), columns)
        if is_live(source):
            return of_changes(source, sampler.changes(source), columns)
        return of_table(source, sampler.table(source), columns)
    except DataError as e:
        named = f"'{source.name}'" in str(e)
        raise (e if named else DataError(f"'{source.name}': {e}")) from None


def _columns(script: Script, source: Source) -> list[str]:
    """The columns that queries compare; without queries all but the timestamp."""
    if not script.queries:
        timestamp = source.timestamp if isinstance(source, StreamDef) else None
        return [f.name for f in source.schema if f.name != timestamp]
    compared = {c for query in script.queries.values() for c in columns_compared(query.plan)}
    return [f.name for f in source.schema if (source.name, f.name) in compared]


def _as_json(found: list[tuple[Source, Sampled]]) -> Iterator[str]:
    for source, sampled in found:
        sizes = sampled.sizes
        yield json.dumps(
            {
                "event": "source",
                "name": source.name,
                "kind": _kind(source),
                "sampled": sampled.rows,
                "bad": sampled.bad,
                "rate": sizes.rate,
                "rows": sizes.rows,
                "distinct": dict(sizes.distinct),
                "options": as_options(sizes),
            }
        )


def _as_text(found: list[tuple[Source, Sampled]]) -> Iterator[str]:
    head = ("source", "column", "rows sampled", "bad", "rows/s", "rows", "values")
    lines: list[Sequence[str]] = [head]
    for source, sampled in found:
        sizes = sampled.sizes
        shown = ("-" if n is None else number(n) for n in (sizes.rate, sizes.rows))
        lines.append((source.name, "", f"{sampled.rows:,}", f"{sampled.bad:,}", *shown, ""))
        lines += [("", c, "", "", "", "", number(n)) for c, n in sizes.distinct.items()]
    yield from aligned(lines, left=2)
    yield ""
    yield "to declare it, add to WITH (...):"
    yield from aligned([(source.name, as_options(s.sizes)) for source, s in found], left=2)


def _kind(source: Source) -> str:
    return "stream" if isinstance(source, StreamDef) else "table"
