"""HTML and SVG for notebooks: plans as graphs, changes and rows as tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any, Final

import pyarrow as pa

from eddyline.algebra.plan import Plan

#: Rows of a table and characters of a cell, at most.
MOST_ROWS: Final = 10
_MOST_TEXT: Final = 60
#: Pixels: of a character, of a box, and between boxes.
_CHARACTER: Final = 7
_LINE: Final = 15
_BOX: Final = 2 * _LINE + 10
_ROOM: Final = (44, 14)
_LABEL_TEXT: Final = 36


def table_html(rows: pa.Table, caption: str = "") -> str:
    """The first rows of a table."""
    shown = rows.slice(0, MOST_ROWS)
    cells = zip(*(column.to_pylist() for column in shown.columns), strict=True)
    left = rows.num_rows - shown.num_rows
    more = f"<p>... and {left:,} more rows</p>" if left else ""
    return values_html(rows.column_names, cells, caption) + more


def values_html(heads: Sequence[str], rows: Iterable[Sequence[Any]], caption: str = "") -> str:
    """Values as a table."""
    head = "".join(f"<th>{escape(h)}</th>" for h in heads)
    lines = ("".join(f"<td>{_cell(value)}</td>" for value in row) for row in rows)
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    title = f"<caption>{escape(caption)}</caption>" if caption else ""
    return f"<table>{title}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(value: Any) -> str:
    return escape(shortened(str(value), _MOST_TEXT))


def shortened(text: str, most: int) -> str:
    """The text in one line of at most some characters."""
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 3] + "..."


@dataclass
class _Box:
    """A node of a plan, and where it is drawn: its column counted from the result, its row."""

    plan: Plan
    column: int
    inputs: list[_Box] = field(default_factory=list)
    row: float = -1.0

    @property
    def label(self) -> str:
        return shortened(self.plan.label, _LABEL_TEXT)

    @property
    def width(self) -> int:
        return _CHARACTER * max(len(type(self.plan).__name__), len(self.label), 4) + 16


def plan_svg(plan: Plan) -> str:
    """The plan as a graph: streams on the left, the result on the right.

    Equal sub-plans, which run once, are one box. Edges have the update pattern of their rows (Golab
    and Ozsu 2005, section 5.2).
    """
    boxes: dict[Plan, _Box] = {}
    _place(plan, 0, boxes)
    _set_rows(boxes[plan], 0)
    columns = range(max(box.column for box in boxes.values()) + 1)
    for column in columns:
        _part_boxes([box for box in boxes.values() if box.column == column])
    widths = [max(b.width for b in boxes.values() if b.column == c) for c in columns]
    left = [sum(widths[c + 1 :]) + _ROOM[0] * (len(widths) - 1 - c) for c in columns]
    height = round((max(box.row for box in boxes.values()) + 1) * (_BOX + _ROOM[1]))
    edges = [_edge(below, box, left) for box in boxes.values() for below in box.inputs]
    drawn = [_drawn(box, left[box.column]) for box in boxes.values()]
    style = 'fill="none" stroke="currentColor" font-family="monospace" font-size="11"'
    size = f'width="{left[0] + widths[0] + 2}" height="{height}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" {style}>'
        f"<title>plan</title>{''.join(edges)}{''.join(drawn)}</svg>"
    )


def _place(plan: Plan, column: int, boxes: dict[Plan, _Box]) -> _Box:
    """The box of a plan, as far to the left as any path to it asks."""
    box = boxes.get(plan)
    if box is None:
        box = boxes[plan] = _Box(plan, column)
        box.inputs = [_place(below, column + 1, boxes) for below in plan.inputs]
    elif column > box.column:
        box.column = column
        for below in plan.inputs:
            _place(below, column + 1, boxes)
    return box


def _set_rows(box: _Box, free: int) -> int:
    """Set the rows of a box and those below it; returns the next free row."""
    if box.row >= 0:
        return free
    if not box.inputs:
        box.row = free
        return free + 1
    for below in box.inputs:
        free = _set_rows(below, free)
    box.row = sum(below.row for below in box.inputs) / len(box.inputs)
    return free


def _part_boxes(column: list[_Box]) -> None:
    """Let the boxes of a column have rows of their own: several may read one box."""
    free = 0.0
    for box in sorted(column, key=lambda b: b.row):
        box.row = max(box.row, free)
        free = box.row + 1


def _drawn(box: _Box, x: int) -> str:
    y = _top(box)
    lines = "".join(
        f'<text x="{x + 9}" y="{y + 16 + _LINE * i}" fill="currentColor" stroke="none" '
        f'font-weight="{weight}">{escape(text)}</text>'
        for i, (text, weight) in enumerate(
            ((type(box.plan).__name__, "bold"), (box.label, "normal"))
        )
    )
    frame = f'<rect x="{x + 1}" y="{y}" width="{box.width}" height="{_BOX}" rx="4"/>'
    return f"<g><title>{escape(box.plan.label)}</title>{frame}{lines}</g>"


def _edge(below: _Box, above: _Box, left: Sequence[int]) -> str:
    x1, x2 = left[below.column] + below.width + 1, left[above.column] + 1
    y1, y2 = (_top(box) + _BOX // 2 for box in (below, above))
    middle = (x1 + x2) // 2
    path = f'<path d="M{x1} {y1}C{middle} {y1} {middle} {y2} {x2} {y2}" opacity="0.6"/>'
    text = f'<text x="{x1 + 5}" y="{y1 - 4}" font-size="9" fill="currentColor" stroke="none">'
    return f"{path}{text}{below.plan.pattern}</text>"


def _top(box: _Box) -> int:
    return round(box.row * (_BOX + _ROOM[1])) + 4
