"""Files of several batches are written when they are due, also while no rows come."""

from __future__ import annotations

import logging
import threading
from typing import Final

from eddyline.errors import StateError
from eddyline.spark.sinks.rolling_files import RollingFiles

_POLL_S: Final = 1.0
_log = logging.getLogger(__name__)


class Roller:
    """A thread that looks at the rolling files of a job, if it has some."""

    def __init__(self) -> None:
        self._is_open = False
        self._files: dict[RollingFiles, None] = {}
        self._thread: threading.Thread | None = None
        self._closing = threading.Event()

    def add(self, files: RollingFiles) -> None:
        """Look at these files, too."""
        self._files = {**self._files, files: None}
        if self._is_open:
            self.open()

    def open(self) -> None:
        """Look at the files until :meth:`close`."""
        self._is_open = True
        if self._files and self._thread is None:
            self._closing.clear()
            self._thread = threading.Thread(target=self._serve, name="eddyline-roll", daemon=True)
            self._thread.start()

    def close(self, *, roll: bool) -> None:
        """End the thread.

        Args:
            roll: whether to write all files now, due or not.
        """
        self._is_open = False
        self._closing.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        for files in self._files if roll else ():
            try:
                files.roll()
            except StateError:  # the rows wait for the next start
                _log.warning("a file of several batches is not written", exc_info=True)

    def _serve(self) -> None:
        problems: dict[RollingFiles, str] = {}
        while not self._closing.wait(_POLL_S):
            for files in self._files:
                try:
                    files.roll_if_due()
                    problems.pop(files, None)
                except Exception as e:  # it is tried again
                    if problems.get(files) != str(e):
                        _log.warning("a file of several batches is not written", exc_info=True)
                    problems[files] = str(e)
