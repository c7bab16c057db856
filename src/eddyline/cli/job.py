"""One run of a script from start to summary."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from pyspark.errors import StreamingQueryException
from pyspark.sql import SparkSession

from eddyline.cli.failures import JobFailedError, cause
from eddyline.cli.scripts import checked, read, warm_up
from eddyline.cli.view import View
from eddyline.errors import StateError
from eddyline.spark.environment import local_session
from eddyline.spark.run import Run
from eddyline.spark.session import Session

_REFRESH_S: Final = 0.2


@dataclass(frozen=True)
class Job:
    """What to run.

    Attributes:
        once: process what the sources hold now, then end.
        input_ends: afterwards let the rows that are held and all windows run out.
        capacity, keep: as of ``Session``. drop: queries to drop before anything is processed.
    """

    script: Path
    checkpoint: str | None = None
    once: bool = True
    input_ends: bool = True
    shards: int = 1
    capacity: float | None = None
    keep: Mapping[str, float] = field(default_factory=dict)
    drop: tuple[str, ...] = ()


def run_job(job: Job, view: View) -> None:
    """Run a job to its end, or until it is interrupted, which is a good end too.

    Raises:
        EddylineError: the script, a source or a sink is wrong.
        JobFailedError: the job failed.
    """
    with tempfile.NamedTemporaryFile(prefix="eddyline-", suffix=".log", delete=False) as file:
        log = Path(file.name)
    with ThreadPoolExecutor(2) as pool:
        view.say("checking the script")
        checked(job.script)
        view.say("starting Spark (some seconds)")
        starting: Future[SparkSession] = pool.submit(local_session, job.shards, log)
        warm_up(checked(job.script), view.compiling)
        session = Session(
            starting.result(),
            shards=job.shards,
            checkpoint=job.checkpoint,
            base=job.script.resolve().parent,
            printer=view.rows,
            capacity=job.capacity,
            keep=job.keep,
        )
        session.sql(read(job.script))
        view.say("starting the job")
        run = session.start(available_now=job.once, drop=job.drop)
        view.say("running")
        _watch(run, pool.submit(_to_the_end, run, job), view, log)
        view.summary(session, run)
        session.spark.stop()
    log.unlink()


def _to_the_end(run: Run, job: Job) -> None:
    if job.input_ends:
        run.finish()
    else:
        run.awaitTermination()


def _watch(run: Run, ending: Future[None], view: View, log: Path) -> None:
    try:
        with view.live():
            while not ending.done():
                view.update(run)
                time.sleep(_REFRESH_S)
            view.update(run)
        ending.result()
    except KeyboardInterrupt:
        view.say("stopping")
        run.stop()
        with suppress(StreamingQueryException):  # the stop itself may surface as one
            ending.result()
    except (StreamingQueryException, StateError) as e:
        log.write_text(f"{log.read_text()}\n{e}\n")
        raise JobFailedError(f"the job failed: {cause(e)}\nthe whole story: {log}") from None
