"""Output of the sink ``print`` on standard output."""

from __future__ import annotations

from typing import Any, Final

import pyarrow as pa

_WIDEST: Final = 32


def print_rows(label: str, rows: pa.Table, n: int) -> None:
    """Write the first rows of a batch under the name of their query."""
    print(format_rows(label, rows, n), flush=True)


def print_omitted(queries: int, rows: int) -> None:
    """Write the number of queries whose rows of a batch are not printed, and of these rows."""
    print(f"{count(queries, 'more query', 'more queries')}: {count(rows, 'row')}", flush=True)


def format_rows(label: str, rows: pa.Table, n: int) -> str:
    """Rows as an aligned table, below the label and the number of rows ``n`` of the batch."""
    cells = [rows.column_names, *([cell(v) for v in row.values()] for row in rows.to_pylist())]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = ["  " + "  ".join(map(str.ljust, row, widths)).rstrip() for row in cells]
    more = n - rows.num_rows
    shown = f", the first {rows.num_rows}" if more else ""
    return "\n".join([f"{label}: {count(n, 'row')}{shown}", *lines])


def count(n: int, one: str, many: str = "") -> str:
    """A number with its noun in singular or plural."""
    return f"{n:,} {one if n == 1 else many or f'{one}s'}"


def cell(value: Any) -> str:
    """A value as text: timestamps in UTC without a suffix, long values truncated."""
    if value is None:
        return "-"
    if hasattr(value, "isoformat"):
        text = value.isoformat(sep=" ") if hasattr(value, "hour") else value.isoformat()
        return str(text.removesuffix("+00:00"))
    if isinstance(value, float):
        return f"{value:.6g}"
    text = str(value)
    return text if len(text) <= _WIDEST else text[: _WIDEST - 1] + "…"
