"""The log of ``eddyline run``: messages of Eddyline, and what Spark writes to standard error.

A line has time (UTC), level, component and message; a stack trace follows its line.
"""

from __future__ import annotations

import logging
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from eddyline.errors import DataError, EddylineError
from eddyline.spark.storage.directory import LocalDirectory, local_path

#: In the checkpoint.
LOG_FILE: Final = "eddyline.log"
_log = logging.getLogger(__name__)
_FORM: Final = "%(asctime)s.%(msecs)03dZ %(levelname)s %(name)s: %(message)s"


def log_file(checkpoint: str | None) -> Path:
    """The log of a job, which other runs may have begun; for its owner only. It is in the
    checkpoint if that is on a local disk; otherwise it is a new temporary file.

    Raises:
        StateError, DataError: it cannot be created.
    """
    if checkpoint is None or ("://" in checkpoint and not checkpoint.startswith("file:")):
        with tempfile.NamedTemporaryFile(prefix="eddyline-", suffix=".log", delete=False) as file:
            return Path(file.name)
    directory = local_path(checkpoint).absolute()
    LocalDirectory(directory).make()
    try:
        os.close(os.open(directory / LOG_FILE, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600))
    except OSError as e:
        raise DataError(f"the log {directory / LOG_FILE} cannot be written: {e.strerror}") from None
    return directory / LOG_FILE


@contextmanager
def logging_to(file: Path) -> Iterator[None]:
    """Append the messages of Eddyline, and the error that ends the block, to a file. Warnings are
    written to standard error, too, if they would be without the file; commands print their errors.
    """
    to_file = logging.FileHandler(file, encoding="utf-8")
    form = logging.Formatter(_FORM, "%Y-%m-%dT%H:%M:%S")
    form.converter = time.gmtime
    to_file.setFormatter(form)
    handlers: list[logging.Handler] = [to_file]
    log = logging.getLogger("eddyline")
    if not log.hasHandlers():
        to_stderr = logging.StreamHandler(sys.stderr)
        to_stderr.setLevel(logging.WARNING)
        to_stderr.addFilter(lambda record: not record.name.startswith("eddyline.cli"))
        handlers.append(to_stderr)
    before = log.level
    log.setLevel(logging.INFO)
    for handler in handlers:
        log.addHandler(handler)
    try:
        yield
    except EddylineError as e:
        _log.error("%s", e)
        raise
    finally:
        for handler in handlers:
            log.removeHandler(handler)
            handler.close()
        log.setLevel(before)
