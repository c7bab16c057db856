"""Restarts the streaming query of a job after failures, if configured.

A failed batch is not committed, so the restarted query repeats it with the same rows and the same
effect: the guarantees are those of a restart of the process.
"""

from __future__ import annotations

import logging
import math
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from pyspark.errors import StreamingQueryException
from pyspark.sql.streaming.query import StreamingQuery

from eddyline.spark.root_cause import root_cause

_log = logging.getLogger(__name__)
_POLL_S: Final = 0.02
_HISTORY_POLL_S: Final = 0.1


@dataclass(frozen=True)
class Restart:
    """Whether a failed streaming query is restarted in this process.

    Attributes:
        limit: maximum number of restarts without a successful batch in between; 0: never.
        first_s: seconds to wait before the first restart, doubled before each further one.
        most_s: maximum number of seconds to wait.
    """

    limit: int = 0
    first_s: float = 1.0
    most_s: float = 60.0

    def __post_init__(self) -> None:
        if self.limit < 0 or self.first_s < 0 or self.most_s < 0:
            raise ValueError(f"limit and seconds of a restart cannot be negative: {self}")

    def wait_s(self, failures: int) -> float:
        """Seconds to wait after this number of failures in a row.

        >>> [Restart(9, first_s=1, most_s=5).wait_s(n) for n in (1, 2, 3, 4, 2000)]
        [1.0, 2.0, 4.0, 5, 5]
        """
        return min(self.first_s * 2.0 ** min(failures - 1, 60), self.most_s)


NEVER: Final = Restart()
ON_FAILURE: Final = Restart(limit=5)


class Supervisor:
    """Starts and restarts the streaming query of a job.

    Args:
        launch: starts it from the checkpoint; True: over the rows that the sources hold now.
        restart: limits of restarts. delivered: the id of the last delivered batch.
        reads_history: whether a query that is launched reads histories, and is followed by one
            over the live sources.

    Attributes:
        restarts: number of restarts after failures.
    """

    def __init__(
        self,
        launch: Callable[[bool], StreamingQuery],
        restart: Restart,
        delivered: Callable[[], int | None],
        reads_history: Callable[[], bool] = lambda: False,
    ) -> None:
        self.restarts = 0
        self._reads_history = reads_history
        self._in_history = False  # what the query reads
        self._error: Exception | None = None  # of the start behind the histories
        self._launch = launch
        self._restart = restart
        self._delivered = delivered
        self._stopping = threading.Event()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._query: StreamingQuery | None = None

    def begin(self, *, bounded: bool) -> None:
        """Start the query; none must be running."""
        self._stopping.clear()
        self._start(bounded)
        self._thread = None
        if self._restart.limit or self._in_history:
            self._thread = threading.Thread(
                target=self._watch, args=(bounded,), name="eddyline-restart", daemon=True
            )
            self._thread.start()

    def _start(self, bounded: bool) -> None:
        self._error = None
        self._in_history = self._reads_history()
        self._query = self._launch(bounded)

    @property
    def query(self) -> StreamingQuery:
        """The streaming query that was started last."""
        assert self._query is not None, "the job has begun"
        return self._query

    @property
    def is_active(self) -> bool:
        """Whether the query runs, or is going to be restarted."""
        return (self._thread is not None and self._thread.is_alive()) or self.query.isActive

    def wait(self, timeout_s: float | None = None) -> bool:
        """Wait until the query has ended and is not restarted; False after ``timeout_s``.

        Raises:
            StreamingQueryException: it failed.
        """
        until = None if timeout_s is None else time.monotonic() + timeout_s
        if self._thread is not None:
            self._thread.join(timeout_s)
            if self._thread.is_alive():
                return False
        if self._error is not None:
            raise self._error
        if until is None:
            self.query.awaitTermination()
            return True
        return bool(self.query.awaitTermination(max(1, math.ceil(until - time.monotonic()))))

    def process_all(self) -> None:
        """Wait until histories, and all rows that the sources hold now, have been processed and
        delivered.

        Raises:
            StreamingQueryException: the query failed and is not restarted.
        """
        while True:
            while self.is_active and self._in_history:
                time.sleep(_POLL_S)
            query = self.query
            try:
                query.processAllAvailable()
                return
            except StreamingQueryException:
                while self.query is query and self.is_active:
                    time.sleep(_POLL_S)
                if self.query is query:
                    raise

    def end_batch(self, timeout_s: float) -> bool:
        """Wait until the current batch is committed; False after ``timeout_s``."""
        until = time.monotonic() + timeout_s
        query = self.query
        before = _last_batch(query)
        while query.isActive and query.status["isTriggerActive"] and _last_batch(query) == before:
            if time.monotonic() > until:
                return False
            time.sleep(_POLL_S)
        return True

    def stop(self) -> None:
        """Stop the query, and do not restart it."""
        self._stopping.set()
        with self._lock:
            self.query.stop()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()

    def _watch(self, bounded: bool) -> None:
        """Restart the query after failures, up to the limit."""
        failures, last = 0, self._delivered()
        failure: Exception | None = self._failure(bounded)
        while failure is not None and not self._stopping.is_set():
            failures = failures + 1 if self._delivered() == last else 1
            last = self._delivered()
            if failures > self._restart.limit:
                return
            wait_s = self._restart.wait_s(failures)
            _log.warning(
                "the job failed; it is restarted in %g s (failure %d, limit %d): %s",
                wait_s,
                failures,
                self._restart.limit,
                root_cause(failure),
            )
            self._stopping.wait(wait_s)
            failure = self._restarted(bounded)

    def _restarted(self, bounded: bool) -> Exception | None:
        """Restart the query and wait for its end; its failure, None if it did not fail."""
        with self._lock:
            if self._stopping.is_set():
                return None
            try:
                self._start(bounded)
            except Exception as e:  # it is tried again
                return e
            self.restarts += 1
        return self._failure(bounded)

    def _failure(self, bounded: bool) -> Exception | None:
        """Wait until the query ends, and the one behind the histories; None if none failed."""
        try:
            self._read_histories(bounded)
            self.query.awaitTermination()
        except StreamingQueryException as e:
            return e
        return self._error

    def _read_histories(self, bounded: bool) -> None:
        """Wait until histories are read, then start the query over the live sources.

        Raises:
            StreamingQueryException: the query failed.
        """
        if not self._in_history:
            return
        while self._reads_history():
            if not self.query.isActive:
                self.query.awaitTermination()  # raises why it failed
                return
            time.sleep(_HISTORY_POLL_S)
        with self._lock:
            if self._stopping.is_set():
                return
            self.query.stop()
            try:
                self._start(bounded)
            except Exception as e:  # raised to those that wait
                self._error = e


def _last_batch(query: StreamingQuery) -> int | None:
    progress = query.lastProgress
    return None if progress is None else int(progress["batchId"])
