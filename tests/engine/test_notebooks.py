"""What notebooks show: HTML of engines, queries and changes, plans as SVG."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from eddyline import Engine
from eddyline.engine.pictures import MOST_ROWS, plan_svg

DDL = """
    CREATE STREAM a (ts TIMESTAMP, k BIGINT, note STRING) TIMESTAMP BY ts;
    CREATE STREAM b (ts TIMESTAMP, k BIGINT) TIMESTAMP BY ts
"""
JOIN = "SELECT a.k, a.note FROM a [RANGE 10 SECONDS], b [RANGE 10 SECONDS] WHERE a.k = b.k"
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def engine() -> Engine:
    made = Engine()
    made.sql(DDL)
    made.query(f"{JOIN} AND a.k < 100", name="joined")
    made.query("SELECT k FROM a [NOW]", name="all_of_a")
    return made


def rows(count: int) -> dict[str, list[dict[str, object]]]:
    return {
        "a": [{"ts": i, "k": i, "note": "<b>&"} for i in range(count)],
        "b": [{"ts": i, "k": i} for i in range(count)],
    }


def test_changes(engine: Engine) -> None:
    html = engine.process(rows(MOST_ROWS + 3), watermark=100)._repr_html_()
    assert "<caption>joined</caption>" in html
    assert "<caption>all_of_a</caption>" in html
    assert "... and 3 more rows" in html
    assert "&lt;b&gt;&amp;" in html
    assert "<b>&" not in html
    bad = engine.push("a", {"ts": "soon", "k": 1, "note": ""})._repr_html_()
    assert "<caption>bad rows of a</caption>" in bad
    assert engine.process({})._repr_html_() == "<p>no changes</p>"


def test_a_query(engine: Engine) -> None:
    engine.process(rows(2), watermark=100)
    html = engine.queries["joined"]._repr_html_()
    assert html.startswith("<b>joined</b> (2 changes)<pre>SELECT a.k")
    assert "the answer now" in html
    assert "a.k &lt; 100" in html


def test_an_engine(engine: Engine) -> None:
    html = engine._repr_html_()
    for caption in ("streams", "queries"):
        assert f"<caption>{caption}</caption>" in html
    assert "tables" not in html
    assert repr(engine) == "Engine(2 streams, 2 queries)"
    assert Engine()._repr_html_() == "Engine(0 streams, 0 queries)"


def boxes(svg: str) -> list[tuple[float, ...]]:
    tree = ElementTree.fromstring(svg)
    names = ("x", "y", "width", "height")
    return [tuple(float(r.attrib[n]) for n in names) for r in tree.iter(f"{SVG}rect")]


@pytest.mark.parametrize(
    ("sql", "nodes", "edges"),
    [
        ("SELECT k FROM a [NOW]", 2, 1),
        (f"{JOIN} AND a.note <> 'x'", 5, 4),
        ("SELECT k FROM a [NOW] UNION ALL SELECT k + 1 FROM a [NOW]", 4, 4),
        (f"SELECT k, COUNT(*) AS n FROM ({JOIN}) AS j GROUP BY k HAVING COUNT(*) > 1", 6, 5),
    ],
)
def test_plans_are_graphs_without_overlaps(sql: str, nodes: int, edges: int) -> None:
    engine = Engine()
    engine.sql(DDL)
    svg = plan_svg(engine.query(sql).plan)
    drawn = boxes(svg)
    assert len(drawn) == nodes
    assert len(re.findall("<path ", svg)) == edges
    size = ElementTree.fromstring(svg).attrib
    for i, (x, y, width, height) in enumerate(drawn):
        assert x >= 0
        assert x + width <= float(size["width"])
        assert y + height <= float(size["height"])
        for u, v, w, h in drawn[:i]:
            assert x >= u + w or u >= x + width or y >= v + h or v >= y + height
