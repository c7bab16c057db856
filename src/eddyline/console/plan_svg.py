"""The running plan as SVG."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from html import escape
from typing import Final
from urllib.parse import quote

from eddyline.console.markup import amount, shortened, tag
from eddyline.console.plan_graph import Edge, Node, Placed, placed
from eddyline.console.rates import Rates

#: Pixels: of a box, and between boxes.
_WIDTH: Final = 196
_HEIGHT: Final = 58
_ROOM: Final = (116, 18)
_TEXT: Final = 27
_MARGIN: Final = 10
#: How much larger it is drawn where there is room.
_LARGER: Final = 1.12
#: Shares of a core below this are not shown.
_LEAST_BUSY: Final = 0.001


def plan_svg(
    nodes: Sequence[Node], rates: Rates, at: float, on_path: Collection[str] | None = None
) -> str:
    """The graph from the streams on the left to the queries on the right.

    Args:
        at: when the counters were read.
        on_path: the nodes of one query, which are drawn; None: all are.
    """
    if on_path is not None:
        nodes = [node for node in nodes if node.id in on_path]
    if not nodes:
        return tag("p", "There are no queries yet.", class_="empty")
    found = placed(nodes)
    by_id = {place.node.id: place for place in found}
    edges = "".join(
        _edge(edge, by_id[edge.source], place, number, rates, at)
        for place in found
        for number, edge in enumerate(_sorted(place.node.inputs, by_id))
    )
    boxes = "".join(_box(place, rates, at) for place in found)
    width = (max(p.column for p in found) + 1) * (_WIDTH + _ROOM[0]) - _ROOM[0] + 2 * _MARGIN
    height = (max(p.row for p in found) + 1) * (_HEIGHT + _ROOM[1]) + _MARGIN
    box = f"0 0 {round(width)} {round(height)}"
    size = {"width": round(width * _LARGER), "height": round(height * _LARGER)}
    return tag("svg", edges + boxes, class_="plan", role="img", viewBox=box, **size)


def _place(place: Placed) -> tuple[float, float]:
    x = _MARGIN + place.column * (_WIDTH + _ROOM[0])
    return x, _MARGIN + place.row * (_HEIGHT + _ROOM[1])


def _sorted(edges: Iterable[Edge], by_id: Mapping[str, Placed]) -> list[Edge]:
    """The edges into a node from those that are drawn, from the top."""
    known = [edge for edge in edges if edge.source in by_id]
    return sorted(known, key=lambda edge: by_id[edge.source].row)


def _edge(edge: Edge, source: Placed, target: Placed, number: int, rates: Rates, at: float) -> str:
    """An edge, the ``number``-th from the top into its target."""
    (x1, y1), (x2, y2) = _place(source), _place(target)
    x1, y1 = x1 + _WIDTH, y1 + _HEIGHT / 2
    y2 += _HEIGHT * (number + 1) / (len(target.node.inputs) + 1)
    middle = (x1 + x2) / 2
    rate = rates.rate(f"edge {edge.source} {target.node.id} {edge.label}", edge.rows, at)
    kinds = ["edge"]
    if edge.waiting:
        kinds.append("suspended")
    if source.node.keep < 1:
        kinds.append("shed")
    path = f"M{x1:.0f} {y1:.0f}C{middle:.0f} {y1:.0f} {middle:.0f} {y2:.0f} {x2:.0f} {y2:.0f}"
    thick = 1.2 if not rate else min(6.0, 1.2 + len(f"{rate:.0f}") * 0.7)
    title = f"{edge.rows:,} rows so far"
    if edge.waiting:
        title += f"; {edge.waiting:,} rows are suspended until they have matches"
    drawn = tag("path", tag("title", title), d=path, stroke_width=f"{thick:.1f}")
    at_x, at_y = x2 - 6, y2 - 4
    text = f"{amount(rate)}/s" if rate is not None else f"{amount(edge.rows)} rows"
    if edge.waiting:
        text = f"{amount(edge.waiting)} wait · {text}"
    if edge.label and edge.label != "[UNBOUNDED]":
        text += f" · {shortened(edge.label.strip('[]').removeprefix('RANGE '), 16).lower()}"
    label = tag("text", escape(text), x=round(at_x), y=round(at_y), text_anchor="end")
    return tag("g", drawn + label, class_=" ".join(kinds))


def _box(place: Placed, rates: Rates, at: float) -> str:
    node, (x, y) = place.node, _place(place)
    busy = rates.rate(f"node {node.id}", node.seconds, at)
    kinds = ["node", node.kind]
    if node.keep < 1:
        kinds.append("shed")
    if any(e.waiting for e in node.inputs):
        kinds.append("suspended")
    lines = [shortened(node.name, _TEXT), shortened(_subtitle(node), 32), _facts(node, busy)]
    texts = "".join(
        tag("text", escape(line), x=round(x + 10), y=round(y + 18 + 16 * i), class_=f"line{i}")
        for i, line in enumerate(lines)
        if line
    )
    frame = tag("rect", "", x=round(x), y=round(y), width=_WIDTH, height=_HEIGHT, rx=6)
    drawn = tag("g", tag("title", escape(_title(node))) + frame + texts, class_=" ".join(kinds))
    if node.kind != "query":
        return drawn
    target = f"#query/{quote(node.name, safe='')}" if node.queries == 1 else "#queries"
    return tag("a", drawn, href=target)


def _subtitle(node: Node) -> str:
    if node.kind == "stream" and node.keep < 1:
        return f"keeps {node.keep:.1%} of its rows"
    return node.detail or ("query" if node.kind == "query" else "")


def _facts(node: Node, busy: float | None) -> str:
    """Cost and state in one line."""
    parts = []
    if node.dropped:
        parts.append(f"{amount(node.dropped)} dropped")
    if busy is not None and busy >= _LEAST_BUSY:
        parts.append(f"CPU {100 * busy:.2g} %")
    if node.kept:
        parts.append(f"{amount(node.kept)} rows")
    if node.state:
        parts.append(amount(node.state, "B"))
    if node.queries > 1 and node.kind != "query":
        parts.append(f"{node.queries:,} queries")
    return " · ".join(parts)


def _title(node: Node) -> str:
    parts = [node.name, node.detail]
    if node.count > 1:
        parts.append(
            f"{node.count:,} equal parts of the plan, for queries that differ in constants"
        )
    if node.queries > 1:
        parts.append(f"read by {node.queries:,} queries")
    parts.append(f"{node.seconds:,.3f} s of CPU time so far")
    if node.keep < 1:
        parts.append(f"load shedding keeps {node.keep:.3g} of the rows")
    if node.why:
        parts.append(node.why)
    return "\n".join(p for p in parts if p)
