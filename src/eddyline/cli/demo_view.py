"""The view of the demo: says what the streams are, what was found, and why rows are bad."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pyarrow as pa
from rich.console import Console
from rich.padding import Padding
from rich.table import Table

from eddyline.cli.bad_rows import BadRows, lines_of
from eddyline.cli.demo_findings import CANCELLED, NO_DEPARTURE, STREAMS, SUBJECTS
from eddyline.cli.view import TextView
from eddyline.spark.operation.progress import JobProgress

#: The query whose rows are shown as a table.
_SHOWN: Final = "same_place_same_time"
#: Columns in front of a sentence: those of a phase.
_MARGIN: Final = 10


class DemoView(TextView):
    """Sentences for findings, as they arrive and at the end.

    Args:
        script: the demo's script, for the user to read and run. months: of the departures.
        where: what runs the queries.
    """

    def __init__(
        self, console: Console, script: Path, months: str, where: str = "in one Spark job"
    ) -> None:
        super().__init__(console)
        self._script = script
        console.print("Recorded streams are played as fast as this machine can:")
        streams = Table.grid(padding=(0, 2))
        for names, what in STREAMS:
            streams.add_row("", ", ".join(names), what.format(months=months))
        console.print(streams)
        console.print(f"{len(SUBJECTS)} queries watch them, {where}.\n")

    def rows(self, label: str, rows: pa.Table, n: int) -> None:
        """Say the first finding of each query."""
        is_first = label not in self._first
        super().rows(label, rows, n)
        found = next((r for r in rows.to_pylist() if r["_op"] == "+"), None)
        if is_first and found is not None and label in SUBJECTS:
            self._say(f"[dim]{self._elapsed():6.1f} s[/dim]", SUBJECTS[label].sentence(found))

    def update(self, progress: JobProgress) -> None:
        """On a terminal, redraw the table; elsewhere the findings are enough."""
        if self._live is not None:
            super().update(progress)

    def _results(self, out: dict[str, int]) -> None:
        self._console.print("\nAll that was found:")
        table = Table.grid(padding=(0, 2))
        table.add_column(justify="right")
        for name, n in out.items():
            table.add_row(f"{n:,}", name, SUBJECTS[name].results if name in SUBJECTS else "")
        self._console.print(table)
        self._console.print(
            "\nResults are rows with the time from which and until which they hold:"
        )
        self._console.print(self._first_rows(_SHOWN, out[_SHOWN]))

    def _bad_rows(self, found: list[BadRows]) -> None:
        explained = [b for b in found if [reason for reason, _ in b.reasons] == [NO_DEPARTURE]]
        if explained:
            streams = ", ".join(f"{b.label} {b.rows:,}" for b in explained)
            self._console.print(
                f"\n{sum(b.rows for b in explained):,} bad rows {CANCELLED}\n  {streams}\n"
                "It is deleted with this demo; to keep it, in DIR/bad, run",
                style="yellow",
                markup=False,
            )
            command = f"  eddyline run {self._script} --checkpoint DIR"
            self._console.print(command, style="yellow", markup=False, soft_wrap=True)
        for bad in found:
            if bad not in explained:
                for line in lines_of(bad):
                    self._console.print(line, style="yellow", markup=False, soft_wrap=True)

    def _totals(self, progress: JobProgress) -> None:
        super()._totals(progress)
        self._console.print(
            f"\nThe queries: {self._script}\nFor your own data: eddyline new FILE",
            markup=False,
            soft_wrap=True,
        )

    def _say(self, when: str, sentence: str) -> None:
        line = Table.grid(padding=0)
        line.add_column(width=_MARGIN)
        line.add_row(when, sentence)
        self._console.print(Padding(line, 0))
