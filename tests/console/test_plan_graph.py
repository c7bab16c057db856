"""The graph of the console: sums over shards, summaries, places."""

from __future__ import annotations

from eddyline.console.plan_graph import Edge, Node, added, below, node_id, placed, summarised
from eddyline.console.plan_svg import plan_svg
from eddyline.console.rates import Rates


def chain(query: str, rows: int = 3) -> list[Node]:
    """A stream, its SteM, a filter and a query."""
    return [
        Node("s", "stream", "trades"),
        Node("m", "stem", "trades", "SteM", (Edge("s", rows),), kept=rows),
        Node(f"f{query}", "filter", "Filter", f"x > {query}", (Edge("m", rows, "[ROWS 5]"),), 0.5),
        Node(f"q{query}", "query", query, "", (Edge(f"f{query}", 1),), queries=1),
    ]


def test_counters_of_shards_are_added() -> None:
    (stream, stem, filtered, query) = added([chain("a", 3), chain("a", 5)])
    assert (stream.id, stem.kept, stem.inputs) == ("s", 8, (Edge("s", 8),))
    assert filtered.inputs == (Edge("m", 8, "[ROWS 5]"),) and filtered.seconds == 1.0
    assert query.queries == 1, "the same query in both"


def test_equal_parts_become_one_node() -> None:
    nodes = added(chain(str(i)) for i in range(1000))
    few, drawn = summarised(nodes, most=50)
    assert [n.name for n in few] == ["trades", "trades", "1,000 x Filter", "1,000 queries"]
    filters, queries = few[2:]
    assert filters.inputs == (Edge("m", 3 * 1000),) and filters.count == 1000
    assert queries.queries == 1000 and queries.inputs == (Edge(filters.id, 1000),)
    assert drawn["q7"] == queries.id and drawn["m"] == "m"
    assert below(few, [drawn["q7"]]) == {"s", "m", filters.id, queries.id}


def test_a_small_graph_stays_as_it_is() -> None:
    few, drawn = summarised(chain("a"))
    assert [n.id for n in few] == [n.id for n in chain("a")] and drawn["fa"] == "fa"
    assert [n.queries for n in few] == [1, 1, 1, 1], "the queries that read each"


def test_nodes_stand_behind_their_inputs_and_queries_below_each_other() -> None:
    direct = Node("q", "query", "direct", "", (Edge("m", 3),), queries=1)
    found = {p.node.id: p for p in placed(list(reversed([*chain("a"), direct])))}
    assert [found[i].column for i in ("s", "m", "fa", "qa", "q")] == [0, 1, 2, 3, 3]
    assert found["qa"].row != found["q"].row


def test_ids_depend_on_all_parts() -> None:
    assert node_id("a", "b") == node_id("a", "b") != node_id("a", "c")


def test_nodes_survive_json() -> None:
    nodes = chain("a")
    assert [Node.of(n.as_dict()) for n in nodes] == nodes


def test_the_drawing_has_rates_and_escapes_names() -> None:
    rates = Rates()
    nodes = [*chain("<b>&", 10)]
    plan_svg(nodes, rates, at=1.0)
    svg = plan_svg([*chain("<b>&", 30)], rates, at=2.0)
    assert "20/s" in svg and "&lt;b&gt;&amp;" in svg and "<b>" not in svg
    assert 'href="#query/%3Cb%3E%26"' in svg
    assert "There are no queries yet" in plan_svg([], rates, at=3.0)


def test_load_shedding_and_suspended_rows_can_be_seen() -> None:
    stream = Node("s", "stream", "trades", keep=0.25, dropped=70, why="all queries need 4 cores")
    stem = Node("m", "stem", "trades", "SteM", (Edge("s", 30),))
    join = Node("j", "join", "Join", "a = b", (Edge("m", 30, waiting=12),))
    svg = plan_svg([stream, stem, join], Rates(), at=1.0)
    assert "keeps 25.0%" in svg and "70 dropped" in svg and "all queries need 4 cores" in svg
    assert 'class="edge suspended"' in svg and "12 wait" in svg and 'class="edge shed"' in svg
