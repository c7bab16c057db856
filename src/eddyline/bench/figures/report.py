"""Points and claims as JSON and Markdown."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from eddyline.bench.figures.points import Point

#: Of the table of claims: what a paper says, when that holds, what was measured, and the verdict.
CLAIM_COLUMNS: Final = ("source", "claim", "asked", "measured", "holds")


def point_as_dict(point: Point) -> dict[str, Any]:
    """A point for machines: the median, and every stretch beside it."""
    return {
        "trace": point.trace,
        "case": point.case,
        "window": point.window,
        "contender": point.contender,
        "rows": point.rows,
        "chunk_rows": point.chunk_rows,
        "ms_per_1000": round(point.median_ms, 4),
        "least_ms": round(min(point.ms_per_1000), 4),
        "most_ms": round(max(point.ms_per_1000), 4),
        "stretches": len(point.ms_per_1000),
        "state_rows": round(point.state_rows),
        "answer_rows": point.answer_rows,
        "inserted": point.inserted,
        "taken_back": point.taken_back,
    }


def today() -> str:
    """When a report is made, as ISO 8601."""
    return datetime.now(UTC).date().isoformat()


def write_json(content: Any, file: Path) -> None:
    """Write an indented JSON file."""
    file.write_text(json.dumps(content, indent=2) + "\n")


def markdown_table(rows: Sequence[Mapping[str, Any]], columns: Iterable[str]) -> str:
    """Rows of plain values as a table; the columns' names head it."""
    names = list(columns)
    lines = [names, ["---"] * len(names), *([_cell(row[n]) for n in names] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cell(value: Any) -> str:
    return str(value).replace("|", "\\|")
