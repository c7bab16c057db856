"""Views of a running job: a live table on a terminal, text lines elsewhere, or JSON lines."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from typing import Any, Final, Protocol

import pyarrow as pa
from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from eddyline.cli.bad_rows import BadRows, lines_of
from eddyline.optimizer.byte_sizes import bytes_text
from eddyline.spark.operation.progress import JobProgress
from eddyline.spark.sinks.printing import cell

_FIRST_ROWS: Final = 3
_SHOWN_QUERIES: Final = 20
_KERNELS_PER_LINE: Final = 10
_LEAST_CORES: Final = 0.001
"""Needs below this are not told apart."""


class JobView(Protocol):
    """The output of a job."""

    def phase(self, name: str) -> None:
        """Called when a phase begins."""

    def place(self, what: str, where: str) -> None:
        """Called with the address or the file of something, such as ``http``."""

    def compiling(self, kernel: str) -> None:
        """Called before a kernel is compiled, once per install."""

    def rows(self, label: str, rows: pa.Table, n: int) -> None:
        """Called with the first rows of a batch of a query, and the number of its rows."""

    def live(self) -> AbstractContextManager[None]:
        """A block in which ``update`` is called."""

    def update(self, progress: JobProgress) -> None:
        """Show the progress; called several times a second."""

    def summary(self, queries: Iterable[str], progress: JobProgress, bad: list[BadRows]) -> None:
        """Called when the job has ended, with its queries and all bad rows."""


def make_view(*, as_json: bool) -> JobView:
    """The view for standard output."""
    if as_json:
        return JsonView()
    return TextView(Console(highlight=False))


class TextView:
    """Tables and text lines."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._started = time.monotonic()
        self._first: dict[str, pa.Table] = {}
        self._first_result_s: float | None = None
        self._kernels = 0
        self._batch: int | None = None
        self._live: Live | None = None

    def phase(self, name: str) -> None:
        """Print the phase."""
        self._console.print(f"[dim]{self._elapsed():6.1f} s[/dim]  {name} ...")

    def place(self, what: str, where: str) -> None:
        """Print the place."""
        self._console.print(f"[dim]{self._elapsed():6.1f} s[/dim]  {what}: {where}", soft_wrap=True)

    def compiling(self, kernel: str) -> None:
        """Before the first kernel, print a phase; then every tenth one."""
        if not self._kernels:
            self.phase("compiling kernels (on the first start only, up to a minute)")
        self._kernels += 1
        if not self._kernels % _KERNELS_PER_LINE:
            self._console.print(f"          {self._kernels} ({kernel})", style="dim")

    def rows(self, label: str, rows: pa.Table, n: int) -> None:
        """Keep the first rows for the summary."""
        if self._first_result_s is None:
            self._first_result_s = self._elapsed()
        if label not in self._first:
            self._first[label] = rows

    @contextmanager
    def live(self) -> Iterator[None]:
        """On a terminal, a table that is redrawn."""
        if not self._console.is_terminal:
            yield
            return
        with Live(console=self._console, refresh_per_second=5) as self._live:
            yield
        self._live = None

    def update(self, progress: JobProgress) -> None:
        """Redraw the table; without a terminal, print a line for each new batch."""
        if self._live is not None:
            self._live.update(self._table(progress))
        elif progress.batch_id is not None and progress.batch_id != self._batch:
            self._batch = progress.batch_id
            self._console.print(self._line(progress), soft_wrap=True)

    def summary(self, queries: Iterable[str], progress: JobProgress, bad: list[BadRows]) -> None:
        """Totals, the first rows of each query, and the first reasons of bad rows."""
        if not self._console.is_terminal:
            self._console.print(self._table(progress))
        self._results({name: progress.rows_out.get(name, 0) for name in queries})
        self._bad_rows(bad)
        self._totals(progress)

    def _results(self, out: dict[str, int]) -> None:
        """The first rows of queries; ``out``: the number of results of each."""
        shown, others = _chosen(out, lambda name: (name in self._first, out[name]))
        for name in shown:
            self._console.print()
            self._console.print(self._first_rows(name, out[name]))
        if others:
            self._console.print(f"\n... and {len(others):,} more queries")

    def _bad_rows(self, found: list[BadRows]) -> None:
        for bad in found:
            self._console.print()
            for line in lines_of(bad):
                self._console.print(line, style="yellow", markup=False, soft_wrap=True)

    def _totals(self, progress: JobProgress) -> None:
        first = ""
        if self._first_result_s is not None:
            first = f"; first result after {self._first_result_s:.1f} s"
        self._console.print(
            f"\n{sum(progress.rows_in.values()):,} rows in, "
            f"{sum(progress.rows_out.values()):,} rows out, {self._elapsed():.1f} s{first}"
        )
        needs = cores_text(progress.cores)
        if needs:
            self._console.print(needs, markup=False, soft_wrap=True)
        if state := memory_text(progress.memory):
            self._console.print(state, markup=False, soft_wrap=True)

    def _elapsed(self) -> float:
        return time.monotonic() - self._started

    def _line(self, progress: JobProgress) -> str:
        return (
            f"{self._elapsed():8.1f} s  batch {progress.batch_id}: "
            f"{sum(progress.rows_in.values()):,} rows in "
            f"({progress.rows_per_second:,.0f}/s), {sum(progress.rows_out.values()):,} out, "
            f"{sum(progress.late.values()):,} late, {sum(progress.bad.values()):,} bad, "
            f"{sum(progress.dropped.values()):,} dropped"
        )

    def _table(self, progress: JobProgress) -> Group:
        streams = Table("stream", "rows in", "late", "bad", "dropped", box=None, pad_edge=False)
        for column in streams.columns[1:]:
            column.justify = "right"
        for name, n in progress.rows_in.items():
            aside = (progress.late, progress.bad, progress.dropped)
            streams.add_row(name, f"{n:,}", *(f"{rows.get(name, 0):,}" for rows in aside))
        queries = Table("query", "rows out", box=None, pad_edge=False)
        queries.columns[1].justify = "right"
        shown, others = _chosen(progress.rows_out, progress.rows_out.__getitem__)
        for name in shown:
            queries.add_row(name, f"{progress.rows_out[name]:,}")
        if others:
            rows = sum(progress.rows_out[name] for name in others)
            queries.add_row(f"{len(others):,} more", f"{rows:,}")
        side_by_side = Table.grid(padding=(0, 4))
        side_by_side.add_row(streams, queries)
        clocks = "; ".join(f"{g}: {instant(us)}" for g, us in progress.watermark_us.items())
        head = (
            f"{self._elapsed():.0f} s   {progress.rows_per_second:,.0f} rows/s   "
            f"watermark {clocks or 'unknown'}"
        )
        return Group(Text(head, style="bold"), side_by_side)

    def _first_rows(self, name: str, n: int) -> Table | Text:
        rows = self._first.get(name)
        if rows is None:
            where = "no rows" if not n else "see its sink"
            return Text.assemble((name, "bold"), f": {n:,} rows ({where})")
        table = Table(title=f"{name}: {n:,} rows", title_justify="left", title_style="bold")
        for column in rows.column_names:
            table.add_column(column)
        for row in rows.slice(0, _FIRST_ROWS).to_pylist(maps_as_pydicts="strict"):
            table.add_row(*(cell(value) for value in row.values()))
        if n > _FIRST_ROWS:
            table.add_row(*("..." for _ in rows.column_names))
        return table


def _chosen(queries: Iterable[str], worth: Callable[[str], Any]) -> tuple[list[str], list[str]]:
    """The queries to show, in their order, and the others: at most 20, those of highest worth."""
    names = list(queries)
    best = set(sorted(names, key=worth, reverse=True)[:_SHOWN_QUERIES])
    return [n for n in names if n in best], [n for n in names if n not in best]


class JsonView:
    """One JSON object per line on standard output."""

    def __init__(self) -> None:
        self._batch: int | None = None

    def phase(self, name: str) -> None:
        """An object ``{"event": "phase"}``."""
        self._write("phase", phase=name)

    def place(self, what: str, where: str) -> None:
        """An object ``{"event": "http"}`` with the place as ``at``."""
        self._write(what, at=where)

    def compiling(self, kernel: str) -> None:
        """An object ``{"event": "compiling"}``."""
        self._write("compiling", kernel=kernel)

    def rows(self, label: str, rows: pa.Table, n: int) -> None:
        """An object ``{"event": "rows"}`` with the first rows of a batch."""
        self._write("rows", query=label, count=n, rows=rows.to_pylist())

    def live(self) -> AbstractContextManager[None]:
        """Does nothing."""
        return nullcontext()

    def update(self, progress: JobProgress) -> None:
        """An object ``{"event": "progress"}`` per batch."""
        if progress.batch_id != self._batch:
            self._batch = progress.batch_id
            self._write("progress", **asdict(progress))

    def summary(self, queries: Iterable[str], progress: JobProgress, bad: list[BadRows]) -> None:
        """Objects ``{"event": "bad_rows"}`` with reasons, and ``{"event": "end"}`` with the
        totals.
        """
        for of in bad:
            self._write("bad_rows", **of._asdict())
        self._write("end", **asdict(progress))

    def _write(self, event: str, **content: Any) -> None:
        print(json.dumps({"event": event, **content}, default=jsonable), flush=True)


def cores_text(cores: Mapping[str, Any]) -> str:
    """What the queries need of the CPU cores that they have; empty if it is not known.

    >>> cores_text({"had": 2.0, "needed": 0.314, "largest": {"spikes": 0.25, "reading s": 0.06}})
    'the queries need 0.314 of 2 cores; most: spikes 0.25, reading s 0.06'
    >>> cores_text({"had": 2.0, "needed": 4e-07, "largest": {"spikes": 3e-07}})
    'the queries need less than 0.001 of 2 cores'
    """
    if not cores or cores["needed"] is None:
        return ""
    if cores["needed"] < _LEAST_CORES:
        return f"the queries need less than {_LEAST_CORES:g} of {cores['had']:g} cores"
    parts = [(what, need) for what, need in cores["largest"].items() if need >= _LEAST_CORES]
    largest = ", ".join(f"{what} {need:.3g}" for what, need in parts[:3])
    most = f"; most: {largest}" if largest else ""
    return f"the queries need {cores['needed']:.3g} of {cores['had']:g} cores{most}"


def memory_text(memory: Mapping[str, Any]) -> str:
    """What the queries need of the memory that they may have; empty if there is no limit, or if it
    is not known.

    >>> memory_text({"had": 4e9, "needed": 3.14e9, "used": 2.5e9, "largest": {"rows of s": 3e9}})
    'the queries need 3.14 GB of 4 GB of state, and have 2.5 GB; most: rows of s 3 GB'
    """
    if not memory or memory["had"] is None or memory["needed"] is None:
        return ""
    largest = ", ".join(f"{w} {bytes_text(n)}" for w, n in list(memory["largest"].items())[:3])
    have = "" if memory["used"] is None else f", and have {bytes_text(memory['used'])}"
    needs = f"{bytes_text(memory['needed'])} of {bytes_text(memory['had'])} of state"
    return f"the queries need {needs}{have}" + (f"; most: {largest}" if largest else "")


def instant(us: int | None) -> str:
    """An instant in us (years 1 to 9999) as text; None: the watermark is not defined yet."""
    if us is None:
        return "waits for the first row of each stream"
    at = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=us)
    return f"{at:%Y-%m-%d %H:%M:%S}"


def jsonable(value: Any) -> str:
    """Text for a value without a JSON type."""
    return str(value.isoformat() if hasattr(value, "isoformat") else value)
