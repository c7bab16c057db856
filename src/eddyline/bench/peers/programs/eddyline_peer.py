"""Eddyline, embedded: each call's changes are read by the consumer, which adds up their hashes."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

import eddyline
from eddyline.bench.peers.bags import Bag, bag_of, plain
from eddyline.bench.peers.cases import LINKED, Case, key_texts, read_case, read_columns
from eddyline.bench.peers.programs.serve import serve
from eddyline.types import TIMESTAMP

#: How one may write the queries of a case; the fastest form counts.
FORMS: Final = {"rules": ("queries", "for each row"), "queries": ("queries",)}
_PLAIN: Final = ("query",)


def forms(case: Case) -> tuple[str, ...]:
    """The names of the forms of a case."""
    return FORMS.get(case.kind, _PLAIN)


def main(folder: Path) -> None:
    """Serve the case in a folder."""
    case = read_case(folder)
    tables = {stream: table_of(case, folder, stream) for stream in case.streams}
    calls = calls_of(case, tables)

    def prepare(form: str) -> Callable[[], Bag]:
        engine = engine_of(case, folder, form)
        return lambda: run(case, engine, calls)

    serve(prepare)


def table_of(case: Case, folder: Path, stream: str) -> pa.Table:
    """The rows of a stream."""
    columns = read_columns(folder, stream, ("ts", *case.columns))
    made: dict[str, Any] = {name: pa.array(values) for name, values in columns.items()}
    made["ts"] = made["ts"].cast(TIMESTAMP)
    if case.string_keys:
        made["k"] = pa.array(key_texts(np.arange(case.keys))).take(made["k"])
    return pa.table(made)


def calls_of(case: Case, tables: dict[str, pa.Table]) -> list[tuple[dict[str, pa.Table], int]]:
    """The rows of each call, and the instant after the last of them, in microseconds."""
    calls = []
    several = len(case.streams)
    for at in range(0, case.all_rows, case.call_rows):
        rows = {}
        for number, (stream, table) in enumerate(tables.items()):
            # row i of the stream is row ``i * several + number`` of all
            first, end = (-(-(n - number) // several) for n in (at, at + case.call_rows))
            if part := table.slice(max(first, 0), end - max(first, 0)):
                rows[stream] = part
        newest = max(pc.max(part["ts"]).cast(pa.int64()).as_py() for part in rows.values())
        calls.append((rows, newest + 1))
    return calls


def engine_of(case: Case, folder: Path, form: str) -> eddyline.Engine:
    """An engine with the streams and queries of a case."""
    engine = eddyline.Engine()
    for stream in case.streams:
        columns = "".join(
            f", {name} {'STRING' if name == 'k' and case.string_keys else 'BIGINT'}"
            for name in case.columns
        )
        engine.sql(f"CREATE STREAM {stream} (ts TIMESTAMP{columns}) TIMESTAMP BY ts")
    if form == "for each row":
        rules = read_columns(folder, "rules", ("x0", "x1", "y0", "y1"))
        number = np.arange(case.count)
        engine.sql("CREATE TABLE rules (id BIGINT, x0 BIGINT, x1 BIGINT, y0 BIGINT, y1 BIGINT)")
        engine.table("rules", pa.table({"id": number, **rules}))
    engine.sql(";".join(statements(case, folder, form)))
    return engine


def statements(case: Case, folder: Path, form: str) -> list[str]:
    """The queries of a case."""
    window = f"[RANGE {case.window_us} MICROSECONDS]"
    if case.kind == "rules":
        return _rules(case, folder, form)
    if case.kind == "queries":
        rules = read_columns(folder, "rules", ("window_us", "x"))
        return [
            f"CREATE QUERY q{i} AS SELECT a.v AS av, b.v AS bv FROM a [RANGE {w} MICROSECONDS], "
            f"b [RANGE {w} MICROSECONDS] WHERE a.k = b.k AND a.x < {x}"
            for i, (w, x) in enumerate(zip(rules["window_us"], rules["x"], strict=True))
        ]
    if case.kind in LINKED:
        return [f"CREATE QUERY q AS {_chain(case, window)}"]
    texts = {
        "join": f"SELECT a.k, a.v AS av, b.v AS bv FROM a {window}, b {window} WHERE a.k = b.k",
        "groups": f"SELECT k, COUNT(*) AS n, SUM(v) AS t FROM s {window} GROUP BY k",
        "absent": f"SELECT a.v FROM a {window} WHERE NOT EXISTS "
        f"(SELECT 1 FROM b {window} WHERE b.k = a.k) EMIT CHANGES",
        "over": f"SELECT ts, k, COUNT(*) OVER w AS n, SUM(v) OVER w AS t FROM s {_frame(case)}",
        "distinct": f"SELECT DISTINCT k FROM s {window} EMIT CHANGES",
    }
    return [f"CREATE QUERY q AS {texts[case.kind]}"]


def _frame(case: Case) -> str:
    return (
        "WINDOW w AS (PARTITION BY k ORDER BY ts RANGE BETWEEN "
        f"INTERVAL {case.window_us} MICROSECONDS PRECEDING AND CURRENT ROW)"
    )


def _chain(case: Case, window: str) -> str:
    streams = case.streams
    values = ", ".join(f"{s}.v AS {s}v" for s in streams)
    windows = ", ".join(f"{s} {window}" for s in streams)
    return f"SELECT {values} FROM {windows} WHERE {case.equal_keys()}"


def _rules(case: Case, folder: Path, form: str) -> list[str]:
    window = f"[RANGE {case.window_us} MICROSECONDS]"
    if form == "for each row":
        return [
            f"CREATE QUERY q FOR EACH ROW OF rules AS SELECT rules.id, v FROM s {window} "
            "WHERE x BETWEEN rules.x0 AND rules.x1 AND y BETWEEN rules.y0 AND rules.y1"
        ]
    rules = read_columns(folder, "rules", ("x0", "x1", "y0", "y1"))
    return [
        f"CREATE QUERY q{i} AS SELECT v FROM s {window} "
        f"WHERE x BETWEEN {x0} AND {x1} AND y BETWEEN {y0} AND {y1}"
        for i, (x0, x1, y0, y1) in enumerate(zip(*rules.values(), strict=True))
    ]


def run(case: Case, engine: eddyline.Engine, calls: list[tuple[dict[str, pa.Table], int]]) -> Bag:
    """All rows through an engine; every value of every result is read."""
    total = Bag(0, 0)
    of_many = case.kind in ("rules", "queries")
    for rows, after in calls:
        changes = engine.process(rows, watermark=after)
        for batch in changes.batches() if of_many else (changes["q"],):
            if batch.num_rows:
                total += _bag(case, batch)
    return total


def _bag(case: Case, batch: Any) -> Bag:
    if case.kind in ("distinct", "absent"):
        value = batch["k" if case.kind == "distinct" else "v"]
        return bag_of([batch["_ts"], value], _added(batch))
    if case.kind == "groups":
        columns = [plain(batch[name]) for name in ("_ts", "k", "n", "t")]
        added = _added(batch)
        if not added.all():  # a group that has become empty
            columns = [values[added] for values in columns]
        return bag_of(columns)
    columns = [batch[name] for name in batch.schema.names if name[0] != "_"]
    if case.kind in ("rules", "queries") and "id" not in batch.schema.names:
        columns.insert(0, _numbers(batch["_query"]))
    return bag_of(columns)


def _added(batch: Any) -> Any:
    return pc.equal(batch["_op"], "+").to_numpy(zero_copy_only=False)


def _numbers(names: Any) -> Any:
    """The numbers of queries that are called ``q0``, ``q1``, ..."""
    if isinstance(names, pa.ChunkedArray):
        names = names.combine_chunks()
    numbers = pc.utf8_slice_codeunits(names.dictionary, 1).cast(pa.int64())
    return numbers.take(names.indices)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
