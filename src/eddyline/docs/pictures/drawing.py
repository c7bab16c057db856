"""Drawings with a time axis as SVG: grey lines, and boxes that have their own background."""

from __future__ import annotations

from html import escape
from typing import Final

_LEFT: Final = 90
_MINUTE: Final = 44
_ROW: Final = 26
_LINE: Final = "#7d8794"
_INK: Final = "#14202b"
#: The fills of boxes by what they are.
FILLS: Final = {"row": "#d5e6f7", "result": "#cfe8cf", "ended": "#f6d5c8", "late": "#f6d5c8"}


class Drawing:
    """Rows of boxes and marks over minutes.

    Args:
        minutes: the length of the axis.
    """

    def __init__(self, minutes: int) -> None:
        self._minutes = minutes
        self._parts: list[str] = []
        self._height = 8

    def heading(self, text: str) -> None:
        """A line of text over the whole width."""
        self._height += 10
        self._text(8, self._height + 14, text, "start", "bold")
        self._height += 24

    def row(self, label: str) -> None:
        """Begin a row of boxes with a name on the left."""
        self._text(_LEFT - 12, self._height + 17, label, "end")
        self._height += _ROW

    def box(self, text: str, start: float, end: float | None, fill: str) -> None:
        """A box in the current row; without an end it goes on."""
        last = self._minutes + 0.4 if end is None else end
        width = max((last - start) * _MINUTE - 2, 8)
        y = self._height - _ROW + 4
        self._parts.append(
            f'<rect x="{_x(start):g}" y="{y}" width="{width:g}" height="18" rx="3" '
            f'fill="{FILLS[fill]}" stroke="{_LINE}"/>'
        )
        if width > 7 * len(text) + 8:
            ink = f'<text x="{_x(start) + 5:g}" y="{y + 13}" fill="{_INK}">{escape(text)}</text>'
            self._parts.append(ink)

    def mark(self, at: float, text: str) -> None:
        """A sign in the current row, on a line at an instant."""
        self._text(_x(at), self._height - 8, text, "middle")

    def line(self, points: list[tuple[float, float]]) -> None:
        """A line through points: minutes, and rows from the current one upwards."""
        places = " ".join(f"{_x(t):g},{self._height - 13 + row * _ROW:g}" for t, row in points)
        self._parts.append(
            f'<polyline points="{places}" fill="none" stroke="#c9772b" stroke-width="2"/>'
        )

    def axis(self) -> None:
        """The minutes below the rows."""
        y = self._height + 6
        self._parts.append(
            f'<line x1="{_x(0)}" y1="{y}" x2="{_x(self._minutes)}" y2="{y}" stroke="{_LINE}"/>'
        )
        for minute in range(self._minutes + 1):
            x = _x(minute)
            self._parts.append(f'<line x1="{x}" y1="{y}" x2="{x}" y2="{y + 4}" stroke="{_LINE}"/>')
            self._text(
                x, y + 17, f"{minute} min" if minute == self._minutes else str(minute), "middle"
            )
        self._height += 32

    def svg(self, title: str) -> str:
        """The whole drawing."""
        width = _x(self._minutes) + 50
        body = "\n".join(self._parts)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {self._height}" '
            f'width="{width}" height="{self._height}" '
            f'font-family="ui-sans-serif, sans-serif" font-size="12">\n'
            f"<title>{escape(title)}</title>\n{body}\n</svg>\n"
        )

    def _text(self, x: float, y: float, text: str, anchor: str, weight: str = "normal") -> None:
        self._parts.append(
            f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" font-weight="{weight}" '
            f'fill="{_LINE}">{escape(text)}</text>'
        )


def _x(minute: float) -> float:
    return _LEFT + minute * _MINUTE
