"""What people see of a run: how far it is, and what became of the claims."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from eddyline.bench.figures.report import CLAIM_COLUMNS


def progress_bar() -> Progress:
    """On standard error; removed when it is full."""
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
    )


def show_claims(claims: Sequence[Mapping[str, Any]], points: int, out: Path) -> None:
    """The claims as a table, and where everything is."""
    table = Table(*CLAIM_COLUMNS, title="The paper and this machine")
    for claim in claims:
        table.add_row(*(claim[column] for column in CLAIM_COLUMNS))
    console = Console()
    console.print(table)
    console.print(f"{points} points, figures and claims: {out}")
