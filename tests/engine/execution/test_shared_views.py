"""Materialised answers of queries that share a flow: what is kept, and what reading it costs."""

from __future__ import annotations

import io

import pyarrow as pa
import pytest

from eddyline import Engine, EngineOptions, StrategyOptions
from eddyline.testing import rows_of

SECOND = 1_000_000
DDL = """
CREATE STREAM a (ts TIMESTAMP, k BIGINT, v BIGINT) TIMESTAMP BY ts;
CREATE STREAM b (ts TIMESTAMP, k BIGINT, v BIGINT) TIMESTAMP BY ts;
"""
FILTER = "SELECT k, v FROM a [RANGE {w} SECONDS] WHERE v >= {n}"
JOIN = "SELECT a.v, b.v AS w FROM a [RANGE {w} SECONDS], b [RANGE {w} SECONDS] WHERE a.k = b.k"
ROWS = "SELECT a.v, b.v AS w FROM a [ROWS {w}], b [RANGE 3 SECONDS] WHERE a.k = b.k AND a.v >= {n}"


def engine(views: bool = True, latency: str | None = None) -> Engine:
    options = EngineOptions() if latency is None else EngineOptions(latency=latency, chunk_rows=16)
    made = Engine(options, StrategyOptions(views=views, executor="eddy"))
    made.sql(DDL)
    return made


def feed(to: Engine, second: int, rows: int = 100) -> None:
    """Rows of both streams, evenly over a second, of ten keys."""
    ts = [second * SECOND + i * SECOND // rows for i in range(rows)]
    columns = {"ts": ts, "k": [i % 10 for i in range(rows)], "v": [i % 7 for i in range(rows)]}
    to.process(dict.fromkeys("ab", pa.table(columns)), watermark=ts[-1])


def kept(eng: Engine) -> int:
    """Results that are kept for all queries."""
    flows = eng.parts.queries.execution.flows.values()
    return sum(len(view) for shared in flows for view in shared.views)


@pytest.mark.parametrize("sql", [FILTER, JOIN, ROWS])
def test_a_result_is_kept_once_for_all_queries_and_as_long_as_one_has_it(sql: str) -> None:
    """Where results are taken back, once per query."""
    eng, plain = engine(), engine(views=False)
    for i in range(6):
        for each in (eng, plain):
            each.query(sql.format(w=i % 3 + 1, n=i // 3), name=f"q{i}")
    for second in range(40):
        for each in (eng, plain):
            feed(each, second)
        answers = [[rows_of(e.queries[f"q{i}"].snapshot()) for i in range(6)] for e in (eng, plain)]
        assert [sorted(a) for a in answers[0]] == [sorted(a) for a in answers[1]]
        sizes = [len(answer) for answer in answers[0]]
        most = sum(sizes) if sql == ROWS else max(sizes)
        assert kept(eng) <= 2 * most + 2_000 + 1_024
    assert kept(plain) == 0


def test_reading_an_answer_neither_filters_nor_joins() -> None:
    tests, probes = [], []
    for views in (True, False):
        eng = engine(views)
        for i in range(6):
            eng.query(FILTER.format(w=2, n=i), name=f"f{i}")
            eng.query(JOIN.format(w=2) + f" AND a.v >= {i}", name=f"j{i}")
        feed(eng, 0)
        flows = [shared.flow for shared in eng.parts.queries.execution.flows.values()]
        before = sum(f.visits for f in flows), [f.fan_outs for f in flows]
        for query in eng.queries.values():
            assert query.snapshot().num_rows
        tests.append(sum(f.visits for f in flows) - before[0])
        probes.append([f.fan_outs for f in flows] != before[1])
    assert tests[0] == 0 and tests[1] >= 500
    assert probes == [False, True]


def test_a_query_that_gets_the_bit_of_another_has_its_own_answer() -> None:
    eng = engine()
    eng.query(FILTER.format(w=30, n=0), name="stays")
    for n in range(1, 9):
        eng.query(FILTER.format(w=30, n=n % 7), name=f"q{n}")
        feed(eng, n)
        assert all(v >= n % 7 for _, v in rows_of(eng.queries[f"q{n}"].snapshot()))
        assert eng.queries[f"q{n}"].snapshot().num_rows
        eng.drop(f"q{n}")
    assert eng.queries["stays"].snapshot().num_rows == 800


def test_a_checkpoint_needs_no_room_for_answers() -> None:
    sizes, answers = [], []
    for views in (True, False):
        eng = engine(views)
        for i in range(3):
            eng.query(JOIN.format(w=2 + i), name=f"q{i}")
        feed(eng, 0)
        saved = io.BytesIO()
        eng.save(saved)
        sizes.append(len(saved.getvalue()))
        saved.seek(0)
        eng = Engine.load(saved)
        answers.append([sorted(rows_of(q.snapshot())) for q in eng.queries.values()])
        assert (kept(eng) > 0) == views
    assert abs(sizes[0] - sizes[1]) < 100
    assert answers[0] == answers[1]


def test_rows_that_wait_are_in_the_answer() -> None:
    """A latency lets rows of a join wait for the next call: then its answer is assembled."""
    eng, plain = engine(latency="1 microsecond"), engine(views=False)
    for each in (eng, plain):
        for i in range(3):
            each.query(JOIN.format(w=1 + i), name=f"q{i}")
    waited = False
    for second in range(3):
        feed(eng, second)
        feed(plain, second)
        waited |= eng.parts.queries.execution.waiting
        for name in eng.queries:
            found, expected = (e.queries[name].snapshot() for e in (eng, plain))
            assert sorted(rows_of(found)) == sorted(rows_of(expected))
    assert waited


def test_explain_and_stats_say_where_the_answer_is() -> None:
    eng = engine()
    queries = [eng.query(FILTER.format(w=5, n=n), name=f"q{n}") for n in (0, 3)]
    feed(eng, 0)
    text = queries[1].explain(analyze=True)
    assert "runs in an eddy, with 1 other queries: it shares the flow of its signature" in text
    assert (
        "answer: among 100 results of 2 queries in a list that drops expired rows when they may be "
        "half of it" in text
    )
    assert queries[1].stats()["rows_kept"] == 100
    plain = engine(views=False).query(FILTER.format(w=5, n=1), name="q")
    assert "answer: " not in plain.explain(analyze=True)


def test_set_views() -> None:
    eng = Engine()
    eng.sql(f"SET views = TRUE; {DDL}")
    for n in (0, 3):
        eng.query(FILTER.format(w=5, n=n), name=f"q{n}")
    feed(eng, 0)
    assert kept(eng) == 100
