"""The demo in this process, by an embedded engine: it needs neither PySpark nor Java."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from itertools import zip_longest
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from eddyline.algebra.drains import drain_us
from eddyline.cli.bad_rows import BadRows
from eddyline.cli.termination import termination_event
from eddyline.cli.view import JobView
from eddyline.engine.changes import Changes
from eddyline.engine.engine import Engine
from eddyline.kernels.deferred import report_compilations
from eddyline.spark.operation.progress import JobProgress
from eddyline.sql.parser import parse
from eddyline.sql.statements import CreateStream, CreateTable

#: Rows of a query that the view gets.
_FIRST_ROWS: Final = 10
#: Seconds between files while the console is served, so that there is something to look at.
_PAUSE_S: Final = 2.0


class DemoHere:
    """Plays the files of the streams, one of each stream per call of ``process``.

    Args:
        script: the demo's script. view: gets the results and the progress.
    """

    def __init__(self, script: Path, view: JobView) -> None:
        self._script = script
        self._view = view
        self._engine = Engine()
        self._files: dict[str, list[Path]] = {}
        self._reasons: dict[str, Counter[str]] = {}
        self._calls = 0
        self._began = 0.0

    def run(self, *, console: bool) -> None:
        """Play all files.

        Args:
            console: whether to serve the console, and to play slowly, until SIGINT or SIGTERM.
        """
        view, pause_s = self._view, _PAUSE_S if console else 0.0
        with ExitStack() as block:
            block.enter_context(report_compilations(view.compiling))
            block.enter_context(suppress(KeyboardInterrupt))
            terminated = block.enter_context(termination_event())
            view.phase("adding the queries")
            self._add_queries()
            if console:
                view.place("console", block.enter_context(self._engine.console()).url)
            view.phase("running")
            self._began = time.monotonic()
            with view.live():
                for rows in self._pieces():
                    self._show(self._engine.process(rows))
                    if terminated.wait(pause_s):
                        return
                self._show(self._engine.advance(self._end_us()))
            progress = self._progress()
            view.summary(self._engine.queries, progress, self._bad_rows())
            if console:
                view.phase("serving the console until interrupted")
                terminated.wait()

    def _add_queries(self) -> None:
        place = self._script.parent
        for statement in parse(self._script.read_text(encoding="utf-8")):
            self._engine.execute(statement)
            match statement:
                case CreateStream(definition=made):
                    files = (place / made.options["path"]).glob("*.parquet")
                    self._files[made.name] = sorted(files)
                case CreateTable(definition=made):
                    self._engine.table(made.name, pq.read_table(place / made.options["path"]))

    def _pieces(self) -> Iterator[dict[str, pa.Table]]:
        for files in zip_longest(*self._files.values()):
            named = zip(self._files, files, strict=True)
            yield {name: pq.read_table(file) for name, file in named if file is not None}

    def _end_us(self) -> int:
        """When all rows have left their windows."""
        newest = self._engine.newest
        assert newest is not None, "the streams have rows"
        return newest + max(drain_us(query.plan) for query in self._engine.queries.values())

    def _show(self, changes: Changes) -> None:
        self._calls += 1
        for name in changes.active():
            rows = changes[name]
            self._view.rows(name, rows.slice(0, _FIRST_ROWS), rows.num_rows)
        for stream, rows in changes.bad.items():
            self._reasons.setdefault(stream, Counter()).update(rows["_reason"].to_pylist())
        self._view.update(self._progress())

    def _progress(self) -> JobProgress:
        stats: dict[str, Any] = self._engine.stats()
        streams = stats["streams"]
        rows_in = {name: counts["rows_in"] for name, counts in streams.items()}
        return JobProgress(
            batch_id=self._calls - 1,
            rows_in=rows_in,
            rows_out={name: of["rows_out"] for name, of in stats["queries"].items()},
            late={name: counts["late"] for name, counts in streams.items()},
            bad={name: counts["bad"] for name, counts in streams.items()},
            watermark_us={", ".join(g["members"]): g["watermark"] for g in stats["groups"]},
            rows_per_second=sum(rows_in.values()) / (time.monotonic() - self._began),
            cores=stats["cores"],
        )

    def _bad_rows(self) -> list[BadRows]:
        return [
            BadRows(f"bad:{stream}", reasons.total(), reasons.most_common(), None)
            for stream, reasons in self._reasons.items()
        ]
