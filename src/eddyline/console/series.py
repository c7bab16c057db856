"""Answers as time series: which columns are drawn, and the drawing."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from eddyline.console.markup import amount, instant_text, tag

#: Lines of a plot, and points of a line, at most.
_MOST_LINES: Final = 3
_MOST_POINTS: Final = 2_000
_LEAST_POINTS: Final = 3
_WIDTH: Final = 640
_HEIGHT: Final = 150
_LEFT: Final = 56
_BOTTOM: Final = 22


def plot_svg(rows: pa.Table, leave_out: Sequence[str] = ()) -> str:
    """A plot of the columns of numbers over the first column of timestamps; empty if there is no
    such column, or too few rows.

    Args:
        leave_out: columns that are not drawn.
    """
    names = [f.name for f in rows.schema if pa.types.is_timestamp(f.type)]
    measures = [
        f.name
        for f in rows.schema
        if f.name not in leave_out and (pa.types.is_integer(f.type) or pa.types.is_floating(f.type))
    ][:_MOST_LINES]
    if not names or not measures or rows.num_rows < _LEAST_POINTS:
        return ""
    rows = rows.slice(max(0, rows.num_rows - _MOST_POINTS)).sort_by(names[0])
    times = pc.cast(rows[names[0]].cast(pa.timestamp("us")), pa.int64())
    us = times.to_numpy(zero_copy_only=False).astype(np.float64)
    if not np.isfinite(us).all() or us[0] == us[-1]:
        return ""
    return "".join(_line(name, us, rows[name], number) for number, name in enumerate(measures))


def _line(name: str, us: np.ndarray, column: pa.ChunkedArray, number: int) -> str:
    values = column.cast(pa.float64()).to_numpy(zero_copy_only=False)
    known = np.isfinite(values)
    if known.sum() < _LEAST_POINTS:
        return ""
    low, high = float(values[known].min()), float(values[known].max())
    span = (high - low) or 1.0
    x = _LEFT + (us - us[0]) / (us[-1] - us[0]) * (_WIDTH - _LEFT - 8)
    y = 8 + (high - values) / span * (_HEIGHT - _BOTTOM - 12)
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x[known], y[known], strict=True))
    base = _HEIGHT - _BOTTOM
    texts = [
        tag("text", escape(amount(high)), x=_LEFT - 6, y=14, text_anchor="end"),
        tag("text", escape(amount(low)), x=_LEFT - 6, y=base, text_anchor="end"),
        tag("text", instant_text(int(us[0])), x=_LEFT, y=_HEIGHT - 5),
        tag("text", instant_text(int(us[-1])), x=_WIDTH - 8, y=_HEIGHT - 5, text_anchor="end"),
    ]
    frame = tag("path", d=f"M{_LEFT} 4V{base}H{_WIDTH - 8}", class_="axis")
    drawn = frame + tag("polyline", points=points, class_=f"line{number}") + "".join(texts)
    head = tag("figcaption", escape(name))
    size = {"viewBox": f"0 0 {_WIDTH} {_HEIGHT}", "width": _WIDTH, "height": _HEIGHT}
    return tag("figure", head + tag("svg", drawn, class_="plot", role="img", **size))
