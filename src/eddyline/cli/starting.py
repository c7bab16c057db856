"""Spark starts first, and meanwhile the rest is imported and the script checked.

So this module imports little.
"""

from __future__ import annotations

import gc
import tempfile
from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from eddyline.cli.job_log import logging_to
from eddyline.errors import DataError
from eddyline.spark.environment import starting_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class StartingSpark(NamedTuple):
    """A session that is being started, and the file of Spark's messages."""

    session: Future[SparkSession]
    log: Path


@contextmanager
def starting_spark(
    shards: int | None = None, log: Path | None = None, properties: Mapping[str, str] | None = None
) -> Iterator[StartingSpark]:
    """Start a session for a job, which runs in the block.

    Args:
        log: the file of Spark's messages; None: a temporary one, kept if the block fails.
        properties: of Spark; None: the default ones.

    Raises:
        SetupError: there is no Java, or it is too old.
    """
    # Millions of objects live as long as the job: modules, plans. To scan them takes CPU time.
    gc.set_threshold(100_000, 50, 50)
    if log is not None:
        with logging_to(log), starting_session(shards, log, properties) as session:
            yield StartingSpark(session, log)
        return
    with tempfile.NamedTemporaryFile(prefix="eddyline-", suffix=".log", delete=False) as file:
        log = Path(file.name)
    with starting_spark(shards, log, properties) as started:
        yield started
    log.unlink()


def read(file: Path) -> str:
    """The text of a script.

    Raises:
        DataError: there is no such file, or it is not text.
    """
    try:
        return file.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise DataError(f"there is no file '{file}'") from None
    except IsADirectoryError:
        raise DataError(f"'{file}' is a directory, not a script file") from None
    except UnicodeDecodeError:
        raise DataError(f"'{file}' is not UTF-8 text") from None
