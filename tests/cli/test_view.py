"""Output of a run on a terminal with many queries."""

from __future__ import annotations

import io

import pyarrow as pa
from rich.console import Console

from eddyline.cli.view import TextView
from eddyline.spark import JobProgress


def summary(rows_out: dict[str, int], printed: list[str]) -> str:
    text = io.StringIO()
    view = TextView(Console(file=text, width=100))
    for name in printed:
        view.rows(name, pa.table({"x": [1]}), 1)
    view.summary(rows_out, JobProgress(3, {"s": 9}, rows_out), [])
    return text.getvalue()


def test_of_many_queries_some_are_shown() -> None:
    text = summary({f"q{i:02}": i for i in range(50)}, ["q03"])
    table, _, queries = text.partition("\n\n")
    assert "q49" in table and "q30" in table and "q29" not in table
    assert "30 more" in table and f"{sum(range(30))}" in table
    assert "q03:" in queries and "q31: 31 rows" in queries and "q30" not in queries
    assert "... and 30 more queries" in queries


def test_few_queries_are_all_shown() -> None:
    text = summary({"a": 1, "b": 0}, [])
    assert "more" not in text
    assert text.index("a: 1 rows") < text.index("b: 0 rows (no rows)")
