"""Runs a script as one job, from the check to the summary."""

from __future__ import annotations

import logging
import os
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pyspark.errors import StreamingQueryException

from eddyline.cli.bad_rows import bad_rows_of
from eddyline.cli.failures import JobFailedError
from eddyline.cli.scripts import runnable, warm_up
from eddyline.cli.starting import StartingSpark, read
from eddyline.cli.termination import termination_event
from eddyline.cli.view import JobView
from eddyline.engine.settings import DEFAULT_SETTINGS, Settings
from eddyline.errors import StateError
from eddyline.kernels.deferred import report_compilations
from eddyline.spark.operation.supervisor import NEVER, Restart
from eddyline.spark.root_cause import root_cause
from eddyline.spark.run import Run
from eddyline.spark.session import Session
from eddyline.version import VERSION

if TYPE_CHECKING:
    from eddyline.spark.operation.http_server import HttpServer

_REFRESH_S: Final = 0.2
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Job:
    """A script and the options of its run.

    Attributes:
        once: process the rows that the sources hold now, then end.
        input_ends: then process the rows held for the watermark, and expire all windows.
        shards, max_shards, restart: as of ``Session``.
        settings: options and strategy of the ``Session``.
        drop: queries to drop before the first batch.
        http: serves health and metrics of the job; None: nothing does.
    """

    script: Path
    checkpoint: str | None = None
    once: bool = True
    input_ends: bool = True
    shards: int | None = None
    max_shards: int | None = None
    settings: Settings = DEFAULT_SETTINGS
    drop: tuple[str, ...] = ()
    restart: Restart = NEVER
    http: HttpServer | None = None


def run_job(job: Job, view: JobView, spark: StartingSpark) -> None:
    """Run a job to its end, or until SIGINT, or SIGTERM, which lets it finish the current batch.

    Raises:
        EddylineError: the script, a source or a sink is wrong.
        JobFailedError: the job failed.
    """
    _log.info("eddyline %s begins with %s, process %d", VERSION, job.script, os.getpid())
    with report_compilations(view.compiling):
        _run(job, view, spark)


def _run(job: Job, view: JobView, spark: StartingSpark) -> None:
    view.phase("checking the script")
    warm_up(runnable(job.script, job.settings))
    view.phase("starting Spark (some seconds)")
    session = Session(
        spark.session.result(),
        shards=job.shards,
        max_shards=job.max_shards,
        checkpoint=job.checkpoint,
        base=job.script.resolve().parent,
        printer=view.rows,
        options=job.settings.options,
        strategy=job.settings.strategy,
        restart=job.restart,
    )
    session.sql(read(job.script))
    view.phase("starting the job")
    run = session.start(available_now=job.once, drop=job.drop)
    if job.http is not None:
        job.http.serve(run)
    view.phase("running")
    _log.info("the job runs: %d queries, checkpoint %s", len(run.queries), job.checkpoint)
    with termination_event() as terminated, ThreadPoolExecutor(1) as pool:
        watch(run, pool.submit(_wait, run, job), view, spark.log, terminated)
        progress = run.progress()
        view.summary(session.queries, progress, list(bad_rows_of(session, run)))
        rows_in, rows_out = sum(progress.rows_in.values()), sum(progress.rows_out.values())
        last = progress.batch_id
        _log.info("the job has ended: last batch %s, %d rows in, %d out", last, rows_in, rows_out)
        session.spark.stop()


def _wait(run: Run, job: Job) -> None:
    if job.input_ends:
        run.finish()
    else:
        run.awaitTermination()


def watch(
    run: Run, end: Future[None], view: JobView, log: Path, terminated: threading.Event
) -> bool:
    """Show the progress of a job until it ends; False: SIGINT or SIGTERM have stopped it.

    Raises:
        JobFailedError: it failed.
    """
    try:
        with view.live():
            while not end.done() and not terminated.is_set():
                view.update(run.progress())
                terminated.wait(_REFRESH_S)
            view.update(run.progress())
        if terminated.is_set():
            view.phase("stopping after the current batch")
            _stop(run, end, after_batch=True)
        end.result()
        return not terminated.is_set()
    except KeyboardInterrupt:
        view.phase("stopping")
        _stop(run, end)
        return False
    except (StreamingQueryException, StateError) as e:
        if terminated.is_set():  # Spark's process may have received SIGTERM, too
            return False
        _log.error("the job failed: %s", e)
        raise JobFailedError(f"the job failed: {root_cause(e)}\nfull log: {log}") from None


def _stop(run: Run, end: Future[None], *, after_batch: bool = False) -> None:
    run.stop(after_batch=after_batch)
    with suppress(StreamingQueryException, StateError):  # may be raised by the stop
        end.result()
