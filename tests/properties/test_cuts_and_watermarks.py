"""Random rows of streams with random rules of time, cut in random ways: what is late, what is bad,
and that the answer is right, by the oracle's own account of the rules.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from hypothesis import event, given
from hypothesis import strategies as st

from eddyline import Engine
from eddyline.testing import rows_of
from eddyline.testing.script import Script
from eddyline.types import TIMESTAMP

SECOND = 1_000_000
STREAMS = "abc"
SCHEMA = pa.schema([("ts", TIMESTAMP), ("x", pa.int64())])
#: Which streams are read together.
QUERIES = {
    "alone": "SELECT x FROM a [RANGE 4 SECONDS]",
    "pair": "SELECT a.x, b.x AS y FROM a [RANGE 3 SECONDS], b [RANGE 5 SECONDS] WHERE a.x = b.x",
    "count": "SELECT COUNT(*) AS n FROM b [RANGE 3 SECONDS]",
    "other": "SELECT x, COUNT(*) AS n FROM c [RANGE 3 SECONDS] GROUP BY x EMIT CHANGES",
    "all": "SELECT b.x FROM b [RANGE 2 SECONDS], c [RANGE 9 SECONDS] WHERE b.x < c.x",
}
#: A stream, the timestamp of its row in seconds, and a value.
Row = tuple[str, float | None, int]


@dataclass(frozen=True)
class Rules:
    """What is declared of a stream."""

    lateness: int = 0
    idle: int | None = None
    ahead: int | None = None
    by: str = "batch"

    def ddl(self, name: str) -> str:
        idle = "" if self.idle is None else f" IDLE AFTER {self.idle} SECONDS"
        ahead = "" if self.ahead is None else f" AHEAD AT MOST {self.ahead} SECONDS"
        return (
            f"CREATE STREAM {name} (ts TIMESTAMP, x BIGINT) TIMESTAMP BY ts LATENESS "
            f"{self.lateness} SECONDS{idle}{ahead} WITH (lateness_by = '{self.by}');"
        )


RULES = st.builds(
    Rules,
    lateness=st.sampled_from([0, 0, 2, 5]),
    idle=st.sampled_from([None, None, 0, 3, 10]),
    ahead=st.sampled_from([None, 0, 5, 20]),
    by=st.sampled_from(["batch", "row"]),
)
#: Rows in order of time, by and large.
ROWS = st.lists(
    st.tuples(
        st.sampled_from(STREAMS),
        st.sampled_from([-6, -3, -1, 0, 0, 0.5, 4, 40, None]),
        st.integers(0, 2),
    ),
    min_size=1,
    max_size=40,
).map(
    lambda drawn: [
        (name, None if off is None else max(0, i / 2 + off), x)
        for i, (name, off, x) in enumerate(drawn)
    ]
)


def tables(rows: list[Row]) -> dict[str, pa.Table]:
    """The rows by stream."""
    found = {}
    for name in STREAMS:
        mine = [(None if s is None else round(s * SECOND), x) for n, s, x in rows if n == name]
        ts = pa.array([us for us, _ in mine], pa.int64()).cast(TIMESTAMP)
        found[name] = pa.table([ts, pa.array([x for _, x in mine], pa.int64())], schema=SCHEMA)
    return found


def cuts(size: int) -> st.SearchStrategy[list[int]]:
    """Places at which rows are cut into batches, with both ends."""
    return st.sets(st.integers(1, max(size - 1, 1))).map(lambda s: sorted({0, size, *s} - {-1}))


@given(
    st.tuples(RULES, RULES, RULES),
    ROWS,
    st.sets(st.sampled_from(sorted(QUERIES)), min_size=1),
    st.data(),
)
def test_late_and_bad_rows_are_those_of_the_rules(
    rules: tuple[Rules, ...], rows: list[Row], names: set[str], data: st.DataObject
) -> None:
    ddl = "\n".join(r.ddl(n) for n, r in zip(STREAMS, rules, strict=True))
    script = Script(ddl, {n: QUERIES[n] for n in sorted(names)})
    bounds = data.draw(cuts(len(rows)))
    now = 0
    for start, end in itertools.pairwise(bounds):
        now += data.draw(st.sampled_from([0, 1, 4, 12]))
        script.at(now * SECOND).process(**tables(rows[start:end]))
        turn = data.draw(st.sampled_from(["nothing", "nothing", "restart", "add", "drop", "say"]))
        if turn == "restart":
            script.restart()
        elif turn == "say":
            script.advance(round(start / 2 * SECOND))
        elif turn == "add" and (absent := sorted(QUERIES.keys() - script.tracked.keys())):
            script.add(absent[0], QUERIES[absent[0]])
        elif turn == "drop" and len(script.tracked) > 1:
            script.drop(sorted(script.tracked)[0])
        script.check()
    groups = script.engine.stats()["groups"]
    ours = {tuple(sorted(g["members"])): max(g["watermark"], -1) for g in groups}
    theirs = {tuple(sorted(g.names)): max(g.clock_us, -1) for g in script.ingest.groups}
    assert ours == theirs
    late = sum(t.num_rows for t in script.ingest.late.values())
    event("late rows" if late else "no late rows")
    script.advance(100 * SECOND).finish()


@given(
    st.tuples(*[st.builds(Rules, lateness=st.sampled_from([0, 2, 5]), by=st.just("row"))] * 3),
    ROWS,
    st.data(),
)
def test_by_row_no_cut_into_batches_changes_what_is_late_or_any_answer(
    rules: tuple[Rules, ...], rows: list[Row], data: st.DataObject
) -> None:
    ddl = "\n".join(r.ddl(n) for n, r in zip(STREAMS, rules, strict=True))

    def run(bounds: list[int]) -> dict[str, Any]:
        engine = Engine()
        engine.sql(ddl)
        for name, sql in QUERIES.items():
            engine.query(sql, name=name)
        outs = [engine.process(tables(rows[a:b])) for a, b in itertools.pairwise(bounds)]
        outs.append(engine.advance(100 * SECOND))
        said = {
            n: sorted(map(repr, itertools.chain(*(rows_of(o[n]) for o in outs)))) for n in QUERIES
        }
        late = {s: [r for o in outs if s in o.late for r in rows_of(o.late[s])] for s in STREAMS}
        return {**said, "late": late}

    whole = run([0, len(rows)])
    assert run(data.draw(cuts(len(rows)))) == whole
    event("late rows" if any(whole["late"].values()) else "no late rows")


#: Rows by arrival: seconds since the one before, stream, value, and delay beyond the usual one.
ARRIVALS = st.lists(
    st.tuples(
        st.sampled_from([0, 0, 1, 2, 7, 12]),
        st.sampled_from(STREAMS),
        st.integers(0, 2),
        st.sampled_from([0, 0.5, 2]),
    ),
    min_size=1,
    max_size=15,
)
ABSENCE = {
    "absent": "SELECT x FROM a [RANGE 9 SECONDS] AS o WHERE NOT EXISTS "
    "(SELECT 1 FROM b [RANGE 4 SECONDS] AS i WHERE i.x = o.x)",
    "regular": "SELECT COUNT(*) AS n FROM c [RANGE 5 SECONDS] EMIT SNAPSHOT EVERY 4 SECONDS",
}


@given(ARRIVALS, st.sampled_from([-3, 0, 10]), st.integers(0, 9), st.data())
def test_calls_without_rows_change_no_answer(
    arrivals: list[tuple[int, str, int, float]], delay: int, idle: int, data: st.DataObject
) -> None:
    """Rows arrive ``delay`` after their timestamps, and at most LATENESS later."""
    ddl = "\n".join(Rules(lateness=2, idle=idle).ddl(name) for name in STREAMS)
    instants = list(itertools.accumulate((a[0] for a in arrivals), initial=1_000))[1:]
    rows: dict[int, list[Row]] = {}  # at one instant, in the order of the names of streams
    for now, (_, name, x, more) in zip(instants, arrivals, strict=True):
        rows.setdefault(now, []).append((name, now - delay - more, x))
    end = instants[-1] + 30

    def run(ticks: set[int], cut: set[int]) -> dict[str, Any]:
        engine = Engine()
        engine.sql(ddl)
        for name, sql in (QUERIES | ABSENCE).items():
            engine.query(sql, name=name)
        outs = []
        for now in sorted({*rows, *ticks, end}):
            at_once = sorted(rows.get(now, []), key=lambda row: row[0])
            parts = [[row] for row in at_once] if now in cut else [at_once]
            outs += [engine.process(tables(part), now=now * SECOND) for part in parts]
        assert not any(out.late for out in outs)
        changes = {
            name: sorted(map(repr, itertools.chain(*(rows_of(o[name]) for o in outs))))
            for name in QUERIES | ABSENCE
        }
        return changes | {"groups": engine.groups(now=end * SECOND)}

    some = data.draw(st.sets(st.integers(1_000, end)))
    cut = data.draw(st.sets(st.sampled_from(instants)))
    assert run(some, cut) == run(set(range(1_000, end)), set())
