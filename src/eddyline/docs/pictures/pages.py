"""The pictures of the page about concepts."""

from __future__ import annotations

from typing import Final

from eddyline import Engine
from eddyline.docs.pictures.drawing import Drawing
from eddyline.docs.pictures.lifespans import MINUTE_US, Rows, Span, spans

_LENGTH: Final = 12
_ONE: Final[Rows] = {"s": [(0, "a"), (1, "b"), (4, "c"), (5, "d")]}
_WINDOWS: Final = (
    "[RANGE 3 MINUTES]",
    "[ROWS 2]",
    "[NOW]",
    "[UNBOUNDED]",
    "[TUMBLE 5 MINUTES]",
    "[HOP 6 MINUTES EVERY 3 MINUTES]",
)
_JOIN: Final = (
    "SELECT a.id || b.id AS id FROM a [RANGE 5 MINUTES] AS a, b [RANGE 2 MINUTES] AS b "
    "WHERE a.k = b.k"
)
_TWO: Final[Rows] = {"a": [(0, "a1"), (3, "a2")], "b": [(1, "b1"), (4, "b2")]}
#: Query, rows, and the update pattern that the plan has.
_PATTERNS: Final[tuple[tuple[str, str, Rows, str], ...]] = (
    ("Monotonic: results stay", "SELECT id FROM s", _ONE, "MONOTONIC"),
    (
        "Weakest non-monotonic (WKS): they end in the order in which they came",
        "SELECT id FROM s [RANGE 3 MINUTES]",
        _ONE,
        "WKS",
    ),
    (
        "Weak non-monotonic (WK): in another order, at a time that is known when they come",
        _JOIN,
        {"a": [(0, "a1"), (3, "a2")], "b": [(4, "b1"), (4.5, "b2")]},
        "WK",
    ),
    (
        "Strict non-monotonic (STR): another row may end them, by a negative tuple",
        "SELECT id FROM a [RANGE 5 MINUTES] WHERE k NOT IN (SELECT k FROM b [RANGE 2 MINUTES])",
        {"a": [(0, "a1"), (1, "a2"), (6, "a3")], "b": [(2, "b1")]},
        "STR",
    ),
)


def pictures() -> dict[str, str]:
    """The pictures by their paths below ``docs``."""
    return {
        "pictures/windows.svg": _windows(),
        "pictures/join.svg": _join(),
        "pictures/patterns.svg": _patterns(),
        "pictures/changes.svg": _changes(),
        "pictures/watermark.svg": _watermark(),
    }


def _windows() -> str:
    drawing = Drawing(_LENGTH)
    for window in _WINDOWS:
        drawing.heading(window)
        _draw(drawing, spans(f"SELECT id FROM s {window}", _ONE, _LENGTH)[0], "row")
    drawing.axis()
    return drawing.svg("From when to when rows are in windows")


def _join() -> str:
    drawing = Drawing(_LENGTH)
    for stream, window in (("a", "[RANGE 5 MINUTES]"), ("b", "[RANGE 2 MINUTES]")):
        drawing.heading(f"{stream} {window}")
        rows = {stream: _TWO[stream]}
        _draw(drawing, spans(f"SELECT id FROM {stream} {window}", rows, _LENGTH)[0], "row")
    drawing.heading("Results of the join")
    _draw(drawing, spans(_JOIN, _TWO, _LENGTH)[0], "result")
    drawing.axis()
    return drawing.svg("Results of a join are valid while both rows are")


def _patterns() -> str:
    drawing = Drawing(_LENGTH)
    for heading, sql, rows, expected in _PATTERNS:
        found, pattern = spans(sql, rows, _LENGTH)
        assert pattern == expected, f"{heading}: {pattern}"
        drawing.heading(heading)
        _draw(drawing, found, "result")
    drawing.axis()
    return drawing.svg("Update patterns")


def _draw(drawing: Drawing, found: list[Span], fill: str) -> None:
    for span in found:
        drawing.row(span.text)
        drawing.box(span.text, span.start, span.end, "ended" if span.taken_back else fill)
        if span.taken_back and span.end is not None:
            drawing.mark(span.end + 0.15, "-")


def _changes() -> str:
    drawing = Drawing(_LENGTH)
    _, sql, rows, _ = _PATTERNS[-1]
    drawing.heading("Results")
    found, _ = spans(sql, rows, _LENGTH)
    _draw(drawing, found, "result")
    for emit in ("EMIT INSERTS", "EMIT CHANGES"):
        drawing.heading(emit)
        for span in found:
            drawing.row(span.text)
            drawing.mark(span.start, "+")
            if span.end is not None and (span.taken_back or emit == "EMIT CHANGES"):
                drawing.mark(span.end, "-")
    drawing.axis()
    return drawing.svg("What is emitted of results that end")


def _watermark() -> str:
    """Rows in the order in which they come, one below the other, and the watermark after each."""
    engine = Engine()
    engine.sql("CREATE STREAM s (ts TIMESTAMP, id STRING) TIMESTAMP BY ts LATENESS 2 MINUTES")
    engine.query("SELECT id FROM s [NOW]", name="q")
    drawing = Drawing(_LENGTH)
    drawing.heading("Rows in the order in which they come, at their event time")
    before = None
    for minute, name in ((3, "a"), (5, "b"), (4, "c"), (8, "d"), (5.5, "e"), (10, "f")):
        out = engine.push("s", {"ts": int(minute * MINUTE_US), "id": name})
        late = out.late["s"].num_rows > 0 if "s" in out.late else False
        drawing.row("late" if late else "")
        drawing.box(name, minute, minute + 0.5, "late" if late else "row")
        now = engine.watermark / MINUTE_US
        drawing.line([(now if before is None else before, -0.5), (now, -0.5), (now, 0.5)])
        before = now
    drawing.axis()
    return drawing.svg("The watermark follows the largest time, less LATENESS")
