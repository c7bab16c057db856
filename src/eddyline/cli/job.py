"""One run of a script from start to summary."""

from __future__ import annotations

import signal
import tempfile
import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pyspark.errors import StreamingQueryException
from pyspark.sql import SparkSession

from eddyline.cli.failures import JobFailedError
from eddyline.cli.scripts import checked, read, runnable, warm_up
from eddyline.cli.view import View
from eddyline.engine.options import DEFAULTS, EngineOptions
from eddyline.errors import StateError
from eddyline.spark.environment import local_session
from eddyline.spark.root_cause import root_cause
from eddyline.spark.run import Run
from eddyline.spark.session import Session
from eddyline.spark.supervisor import NEVER, Restart

_REFRESH_S: Final = 0.2


@dataclass(frozen=True)
class Job:
    """What to run.

    Attributes:
        once: process what the sources hold now, then end.
        input_ends: afterwards let the rows that are held and all windows run out.
        options, restart: as of ``Session``.
        drop: queries to drop before anything is processed.
    """

    script: Path
    checkpoint: str | None = None
    once: bool = True
    input_ends: bool = True
    shards: int = 1
    options: EngineOptions = DEFAULTS
    drop: tuple[str, ...] = ()
    restart: Restart = NEVER


def run_job(job: Job, view: View) -> None:
    """Run a job to its end, or until it is interrupted or told to end (SIGTERM), which are good
    ends too. Told to end, it processes the current batch to its end.

    Raises:
        EddylineError: the script, a source or a sink is wrong.
        JobFailedError: the job failed.
    """
    with tempfile.NamedTemporaryFile(prefix="eddyline-", suffix=".log", delete=False) as file:
        log = Path(file.name)
    with ThreadPoolExecutor(2) as pool:
        view.say("checking the script")
        runnable(job.script)
        view.say("starting Spark (some seconds)")
        starting: Future[SparkSession] = pool.submit(local_session, job.shards, log)
        warm_up(checked(job.script), view.compiling)
        session = Session(
            starting.result(),
            shards=job.shards,
            checkpoint=job.checkpoint,
            base=job.script.resolve().parent,
            printer=view.rows,
            options=job.options,
            restart=job.restart,
        )
        session.sql(read(job.script))
        view.say("starting the job")
        run = session.start(available_now=job.once, drop=job.drop)
        view.say("running")
        with termination_event() as told:
            _watch(run, pool.submit(_to_the_end, run, job), view, log, told)
            view.summary(session, run)
            session.spark.stop()
    log.unlink()


def _to_the_end(run: Run, job: Job) -> None:
    if job.input_ends:
        run.finish()
    else:
        run.awaitTermination()


def _watch(run: Run, ending: Future[None], view: View, log: Path, told: threading.Event) -> None:
    try:
        with view.live():
            while not ending.done() and not told.is_set():
                view.update(run)
                told.wait(_REFRESH_S)
            view.update(run)
        if told.is_set():
            view.say("stopping after the current batch")
            _stop(run, ending, after_batch=True)
        ending.result()
    except KeyboardInterrupt:
        view.say("stopping")
        _stop(run, ending)
    except (StreamingQueryException, StateError) as e:
        if told.is_set():  # who told this process may have told Spark's too
            return
        log.write_text(f"{log.read_text()}\n{e}\n")
        raise JobFailedError(f"the job failed: {root_cause(e)}\nthe whole story: {log}") from None


def _stop(run: Run, ending: Future[None], *, after_batch: bool = False) -> None:
    run.stop(after_batch=after_batch)
    with suppress(StreamingQueryException, StateError):  # the stop itself may surface as one
        ending.result()


@contextmanager
def termination_event() -> Iterator[threading.Event]:
    """In the block SIGTERM sets the event; a second one ends the process at once."""
    told = threading.Event()
    before = signal.getsignal(signal.SIGTERM)

    def tell(number: int, frame: object) -> None:
        signal.signal(signal.SIGTERM, before)
        told.set()

    if threading.current_thread() is not threading.main_thread():  # which alone hears signals
        yield told
        return
    signal.signal(signal.SIGTERM, tell)
    try:
        yield told
    finally:
        signal.signal(signal.SIGTERM, before)
