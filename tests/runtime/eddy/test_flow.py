"""Flows against each query's results found the plain way."""

from __future__ import annotations

import random
from typing import Any

import pytest

from eddyline.types import FOREVER
from flow_model import Model, Wanted, random_rows, random_wanted
from thinned import thinned

GRAPHS: dict[str, tuple[list[str], list[tuple[int, str, int, str]]]] = {
    "one": (["a"], []),
    "two": (["a", "b"], [(0, "k", 1, "k")]),
    "itself": (["a", "a"], [(0, "k", 1, "k")]),
    "itself by another column": (["a", "a"], [(0, "k", 1, "v")]),
    "two keys": (["a", "b"], [(0, "k", 1, "k"), (0, "v", 1, "v")]),
    "no key": (["a", "b"], []),
    "itself, no key": (["a", "a"], []),
    "chain": (["a", "b", "c"], [(0, "k", 1, "k"), (1, "v", 2, "v")]),
    "ring": (["a", "b", "c"], [(0, "k", 1, "k"), (1, "k", 2, "k"), (0, "k", 2, "k")]),
    "itself twice": (["a", "a", "a"], [(0, "k", 1, "k"), (1, "k", 2, "v")]),
    "star": (["a", "b", "a", "c"], [(0, "k", 1, "k"), (0, "k", 2, "v"), (0, "v", 3, "v")]),
}
#: Whose windows count rows, of the sources in turn.
KINDS = {"time": [False], "rows": [True], "both": [True, False]}
JOINS = [
    *((graph, "time") for graph in GRAPHS),
    *((graph, "rows") for graph in ("two", "itself", "no key", "chain", "itself twice", "star")),
    *((graph, "both") for graph in ("itself by another column", "two keys", "no key", "ring")),
]
#: How a flow runs must not matter.
RUNS: dict[str, dict[str, Any]] = {
    "tuples": {"chunk": 1},
    "small chunks": {"chunk": 7},
    "one chunk": {"chunk": 1000},
    "pull up": {"chunk": 7, "pull_up": True},
    "random": {"chunk": 20, "policy": "random"},
    "back-pressure": {"chunk": 20, "policy": "back-pressure"},
    "fixed": {"chunk": 20, "policy": "fixed"},
}
#: Which rows others find must not matter either; and what the windows of three sources count.
FEEDBACK: dict[str, dict[str, Any]] = {
    f"{feedback}, chunks of {chunk}": {"chunk": chunk, "feedback": feedback}
    for feedback in ("jit", "doe", "auto")
    for chunk in (1, 7, 1000)
}
MANY = [(graph, kind) for graph, kind in JOINS if len(GRAPHS[graph][0]) > 2]
CASES = [*thinned(2, JOINS, RUNS.values()), *thinned(2, MANY, FEEDBACK.values())]


def _counted(graph: str, kind: str) -> list[bool]:
    return [KINDS[kind][n % len(KINDS[kind])] for n, _ in enumerate(GRAPHS[graph][0])]


@pytest.mark.parametrize(("join", "run"), CASES, ids=str)
def test_every_result_is_made_once(join: tuple[str, str], run: dict[str, Any]) -> None:
    """Also rows of one chunk, of one instant, and of one stream under two names."""
    graph, kind = join
    chance = random.Random(graph)
    sources, edges = GRAPHS[graph]
    options = {o: value for o, value in run.items() if o != "chunk"}
    model = Model(sources, edges, counted=_counted(graph, kind), **options)
    queries = [random_wanted(chance, len(sources)) for _ in range(6)]
    rows = 15 * len(set(sources))
    bits = [model.admit(q) for q in queries]
    for start in (0, 20, 40):
        model.feed(random_rows(chance, sources, rows, start, start + 20), run["chunk"])
        answer = model.answer(bits)
        for bit, query in zip(bits, queries, strict=True):
            assert sorted(answer.get(bit, [])) == model.expected_answer(query)
    for bit, query in zip(bits, queries, strict=True):
        assert sorted(model.got[bit]) == model.expected(query), query
        assert sorted(model.taken[bit]) == model.expected_taken(query), query
    assert sum(map(len, model.got.values())) > 20
    assert any(model.taken.values()) == any(model.counted)


@pytest.mark.parametrize(
    ("kind", "graph", "nested", "feedback"),
    thinned(
        2,
        KINDS,
        ["two", "itself", "itself, no key", "chain", "itself twice"],
        [True, False],
        ["off", "jit"],
    ),
)
def test_queries_without_predicates(graph: str, kind: str, nested: bool, feedback: str) -> None:
    """Where windows are nested, results have levels instead of lineage."""
    chance = random.Random(f"{graph} {kind} {nested}")
    sources, edges = GRAPHS[graph]
    model = Model(sources, edges, counted=_counted(graph, kind), feedback=feedback)
    everything = (None,) * len(sources)
    queries = [Wanted(everything, (n,) * len(sources)) for n in (4, 1, 8, 4, 2)]
    if not nested:
        queries.append(Wanted(everything, (1, *(9,) * (len(sources) - 1))))
    bits = [model.admit(q) for q in queries]
    for start in (0, 20, 40):
        model.feed(random_rows(chance, sources, 25, start, start + 20), chance.choice([1, 4, 30]))
        answer = model.answer(bits)
        for bit, query in zip(bits, queries, strict=True):
            assert sorted(answer.get(bit, [])) == model.expected_answer(query)
    for bit, query in zip(bits, queries, strict=True):
        assert sorted(model.got[bit]) == model.expected(query), query
        assert sorted(model.taken[bit]) == model.expected_taken(query), query


@pytest.mark.parametrize(
    ("join", "feedback", "pull_up"),
    [
        *thinned(2, JOINS, ["off"], [False, True]),
        *thinned(2, MANY, ["jit", "doe", "auto"], [False, True]),
    ],
)
def test_queries_are_added_and_removed(join: tuple[str, str], feedback: str, pull_up: bool) -> None:
    """A late one sees the rows that another one keeps; bits and lineage are used again."""
    graph, kind = join
    chance = random.Random(f"{graph} {pull_up}")
    sources, edges = GRAPHS[graph]
    counted = _counted(graph, kind)
    model = Model(sources, edges, counted=counted, pull_up=pull_up, feedback=feedback)
    keeper = Wanted((None,) * len(sources), (8,) * len(sources))
    there = {model.admit(keeper): (keeper, 0)}
    used = set(there)
    for step in range(12):
        for bit in chance.sample(list(there)[1:], chance.randrange(len(there))):
            query, since = there.pop(bit)
            assert sorted(model.got[bit]) == model.expected(query, since), query
            assert sorted(model.taken[bit]) == model.expected_taken(query, since), query
            model.flow.dismiss(bit)
        if step % 3 == 0:
            model.flow.recycle()
        for _ in range(chance.randrange(5)):
            query = random_wanted(chance, len(sources))
            bit = model.admit(query)
            assert bit not in there
            there[bit] = (query, len(model.rows))
            used.add(bit)
            held = model.answer([bit])
            assert sorted(held.get(bit, [])) == model.expected_answer(query)
        model.feed(
            random_rows(chance, sources, 10, 4 * step, 4 * step + 4), chance.choice([1, 3, 8])
        )
        if step % 4 == 1:
            model.flow.restore({})
        some = chance.sample(list(there), 1 + len(there) // 3)
        answer = model.answer(some)
        for bit in some:
            assert sorted(answer.get(bit, [])) == model.expected_answer(there[bit][0])
    for bit, (query, since) in there.items():
        assert sorted(model.got[bit]) == model.expected(query, since), query
        assert sorted(model.taken[bit]) == model.expected_taken(query, since), query
    assert len(used) < 30, "bits are given out again"


@pytest.mark.parametrize("graph", ["one", "two", "itself twice"])
def test_lineage_grows_while_rows_are_held(graph: str) -> None:
    """Past one word and two: old rows keep their bits, new queries find them."""
    chance = random.Random(graph)
    sources, edges = GRAPHS[graph]
    model = Model(sources, edges)
    there: dict[int, tuple[Wanted, int]] = {}
    for step, count in enumerate((60, 10, 70, 130)):
        for _ in range(count):
            query = random_wanted(chance, len(sources))
            query = Wanted(query.least, (8, *query.windows[1:]), query.rise)
            there[model.admit(query)] = (query, len(model.rows))
        model.feed(random_rows(chance, sources, 10, 5 * step, 5 * step + 5), 4)
    assert sorted(there) == list(range(270))
    for bit in chance.sample(sorted(there), 60):
        query, since = there[bit]
        assert sorted(model.got[bit]) == model.expected(query, since), query


def test_a_lineage_bit_is_reused_when_no_result_has_it() -> None:
    model = Model(*GRAPHS["two"])
    first, second = (model.admit(Wanted((None, None), (8, 8))) for _ in range(2))
    model.feed([("a", 1, 1, 1), ("b", 1, 1, 4)], 2)
    model.flow.dismiss(first)
    third = model.admit(Wanted((None, 9), (8, 8)))
    assert len({first, second, third}) == 3
    model.flow.recycle()
    assert model.admit(Wanted((2, None), (8, 8))) == first
    assert (model.flow.members, model.flow.predicates_of(first)) == (3, 1)
    model.feed([("b", 2, 1, 3), ("a", 2, 1, 3)], 2)
    assert sorted(model.got[first]) == [((3, 1), 2, 9), ((3, 2), 2, 10)], "not with the first row"
    assert model.got[third] == []


def test_rows_without_queries_do_not_probe_and_are_not_found() -> None:
    model = Model(*GRAPHS["two"])
    for least in (2, 3):
        model.admit(Wanted((least, least), (8, 8)))
    model.feed([("a", t, 1, v) for t, v in enumerate([1, 2, 3, 4])], 4)
    model.feed([("b", 5, 1, v) for v in (0, 3, 4)], 3)
    probed = {(min(joined), to): counts for (joined, to), counts in model.flow.fan_outs.items()}
    assert probed == {(0, 1): (2, 0), (1, 0): (2, 4)}
    assert [sorted(r[0] for r in model.got[bit]) for bit in (0, 1)] == [
        [(2, 5), (2, 6), (3, 5), (3, 6)],
        [(3, 6)],
    ]


def test_rows_are_kept_as_long_as_a_window_contains_them() -> None:
    model = Model(*GRAPHS["two"])
    short, long = (model.admit(Wanted((None, None), (us, us))) for us in (2, 9))
    model.flow.hold((4, 5))

    def kept(ts: int) -> tuple[int, int]:
        model.feed([(s, t, 0, 0) for t in range(model.clock + 1, ts + 1) for s in "ab"], 6)
        return len(model.stems["a"]), len(model.stems["b"])

    assert kept(20) == (9, 9)
    model.flow.dismiss(long)
    assert kept(30) == (4, 5)
    model.flow.dismiss(short)
    assert kept(40) == (4, 5)
    late = Wanted((None, None), (9, 3))
    bit = model.admit(late)
    assert len(model.answer([bit])[bit]) == 12, "all rows that are there"
    model.flow.dismiss(bit)
    model.flow.let_go((4, 5))
    assert kept(50) == (0, 0)


def test_rows_of_an_unbounded_stream_pass_if_they_are_not_joined() -> None:
    model = Model(*GRAPHS["one"])
    endless, short = model.admit(Wanted((None,), (FOREVER,))), model.admit(Wanted((None,), (3,)))
    model.feed([("a", t, 0, 0) for t in range(10)], 2)
    assert len(model.stems["a"]) == 3
    assert model.got[endless][-1] == ((9,), 9, FOREVER)
    model.flow.dismiss(short)
    model.feed([("a", 10, 0, 0)], 1)
    assert len(model.stems["a"]) == 0
    assert len(model.got[endless]) == 11


def test_a_query_added_at_the_end_of_a_chunk_gets_its_rows() -> None:
    """Queries move between trees and flows before the chunk's rows count as old."""
    model = Model("ab", [(0, "k", 1, "k")])
    model.admit(Wanted((5, None), (10, 10)))
    late: list[int] = []
    purge = model.stems["a"].purge

    def admit_first(clock: int) -> None:
        if not late:
            late.append(model.admit(Wanted((3, None), (10, 10))))
        purge(clock)

    model.stems["a"].purge = admit_first  # type: ignore[method-assign]
    model.feed([("a", 1, 7, 4)], 1)
    model.feed([("b", 2, 7, 0)], 1)
    assert model.got[late[0]] == [((0, 1), 2, 11)]
