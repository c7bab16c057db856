"""Sinks that fail: their batches wait in the checkpoint, in order, and are tried again."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final

import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from eddyline.engine.explain import bytes_text
from eddyline.errors import StateError
from eddyline.spark.delivery.collected import CollectedBatch
from eddyline.spark.delivery.result_latencies import ResultLatencies
from eddyline.spark.delivery.sink_factory import SinkFactory
from eddyline.spark.delivery.sink_rows import SinkRows
from eddyline.spark.delivery.sink_uses import SinkUse
from eddyline.spark.delivery.undelivered import (
    DEAD_LETTERS,
    DIRECTORY,
    Undelivered,
    UndeliveredBatches,
    content_of,
    split,
)
from eddyline.spark.root_cause import root_cause
from eddyline.spark.sinks.failure_policy import RefusedError
from eddyline.spark.sinks.sink_bases import DriverSink, SparkSink
from eddyline.spark.storage import files

#: Time before the second attempt, doubled before each further one up to the maximum.
_FIRST_S: Final = 1.0
_MOST_S: Final = 60.0
_POLL_S: Final = 0.2
#: How long sinks that fail are tried at the end of a run over the input that is there now.
END_S: Final = 10.0

_log = logging.getLogger(__name__)


class SinkQueue:
    """Delivers the batches of one sink, in order.

    A batch is written at once, by the thread that runs the batches. If that fails, it and all that
    follow wait until another thread has delivered them by :meth:`retry`.

    Args:
        waiting: batches of an earlier start. dead_letters: path of those that are given up.
    """

    def __init__(
        self,
        sink: DriverSink | SparkSink,
        use: SinkUse,
        waiting: UndeliveredBatches,
        spark: SparkSession,
        dead_letters: str,
        latencies: ResultLatencies,
    ) -> None:
        self._sink = sink
        self._use = use
        self._waiting = waiting
        self._spark = spark
        self._dead_letters = dead_letters
        self._latencies = latencies
        self._files = threading.Lock()  # of the batches that wait
        self._writing = threading.Lock()
        self._next = 0.0
        self._late = 0  # batches delivered since the first failure
        self._state = Undelivered(use.name, "it has not been tried since the start", 0, 0, "", 0)
        if len(waiting):
            self._state = self._now(self._state.cause, 0)

    @property
    def waits(self) -> bool:
        """Whether batches wait."""
        return len(self._waiting) > 0

    @property
    def state(self) -> Undelivered:
        """What waits, and why."""
        return self._state

    @property
    def labels(self) -> Sequence[str]:
        """Of the queries and side outputs with this sink."""
        return self._use.all

    def deliver(self, rows: SinkRows) -> None:
        """Write the rows of the next batch, or let them wait.

        Raises:
            StateError: too much waits, or the checkpoint cannot be written.
            Exception: of the sink, if the job is to fail with it.
        """
        if self._use.policy.on_failure == "fail":
            with self._writing:
                while self._deliver_first():
                    pass
                self._write(rows)
            return
        error: Exception | None = None
        if not self.waits:
            try:
                self._write(rows)
                return
            except Exception as e:  # of any client, or of Java
                error = e
            if self._is_given_up(error):
                self._give_up(rows, error)
                return
        self._keep(rows, error)
        if error is not None:
            self._failed(error)

    def retry(self, stop: threading.Event, *, at_once: bool = False) -> None:
        """Deliver the batches that wait, if it is time for the next attempt.

        Args:
            stop: ends it between two batches.
        """
        if not at_once and time.monotonic() < self._next:
            return
        with self._writing:
            try:
                while self._deliver_first() and not stop.is_set():
                    pass
            except Exception as e:  # of any client: it is tried again
                self._failed(e)
                self._give_up_the_oldest(e)

    def hand_over(self, query: str, to: SinkQueue, stop: threading.Event) -> None:
        """Let another sink have what waits of a query, if the next attempt fails, too."""
        self.retry(stop, at_once=True)
        with self._writing:
            moved = 0
            for batch_id in self._waiting.ids:
                packed, emptied = self._waiting.read(batch_id)
                own, others = split(packed, query)
                is_emptied = query in emptied
                if not own.num_rows and not is_emptied:
                    continue
                moved += 1
                to.take(batch_id, content_of(own, [query] if is_emptied else []))
                rest = [name for name in emptied if name != query]
                if others.num_rows or rest:
                    with self._files:
                        self._waiting.add(batch_id, content_of(others, rest))
                else:
                    self._remove(batch_id)
        if moved:
            name = to.state.sink
            _log.info("%s: %d batches of '%s' go to '%s'", self._who, moved, query, name)

    def take(self, batch_id: int, content: pa.Buffer) -> None:
        """Let a batch of a former sink wait for this one."""
        with self._files:
            self._waiting.add(batch_id, content)
        self._state = self._now(self._state.cause, self._state.attempts)

    def _deliver_first(self) -> bool:
        """Deliver the oldest batch that waits; False if none does."""
        batch_id = self._waiting.first
        if batch_id is None:
            return False
        rows = self._read(batch_id)
        try:
            self._write(rows)
        except Exception as e:  # of any client
            if not self._is_given_up(e):
                raise
            self._give_up(rows, e)
        self._remove(batch_id)
        self._late += 1
        if not self.waits:
            _log.info("%s: the sink works again; %d batches delivered", self._who, self._late)
            self._late = 0
            self._next = 0.0
        return True

    def _write(self, rows: SinkRows) -> None:
        rows.write(self._spark)
        self._latencies.delivered(rows.batch_id, self._use.all)

    def _read(self, batch_id: int) -> SinkRows:
        packed, emptied = self._waiting.read(batch_id)
        batch = CollectedBatch(packed)
        return SinkRows(self._sink, batch_id, batch.with_rows(), batch, None, emptied)

    def _keep(self, rows: SinkRows, error: Exception | None) -> None:
        """Let a batch wait.

        Raises:
            StateError: there is no room.
        """
        content = content_of(rows.kept(), rows.emptied)
        policy = self._use.policy
        with self._files:
            total = self._waiting.nbytes + content.size
            if total > policy.max_bytes and policy.on_failure == "wait":
                cause = self._state.cause if error is None else self._cause(error)
                raise StateError(
                    f"{self._who}: the results that wait for the sink would be "
                    f"{bytes_text(total)}, above max_waiting_bytes = {policy.max_bytes}: {cause}. "
                    "Mend the sink and start the job again, or set a larger max_waiting_bytes, or "
                    "on_failure = 'dead_letter'"
                ) from error
            self._waiting.add(rows.batch_id, content)
        self._state = self._now(self._state.cause, self._state.attempts)

    def _remove(self, batch_id: int) -> None:
        with self._files:
            self._waiting.remove(batch_id)
        self._state = self._now(self._state.cause, 0)

    def _failed(self, error: Exception) -> None:
        """Note a failed attempt, and when the next one is."""
        cause, before = self._cause(error), self._state
        attempts = before.attempts + 1
        wait_s = min(_FIRST_S * 2.0 ** min(attempts - 1, 60), _MOST_S)
        self._next = time.monotonic() + wait_s
        if attempts == 1 or cause != before.cause:
            _log.warning(
                "%s: %s; its results wait in the checkpoint, and other queries go on; "
                "next attempt in %g s",
                self._who,
                cause,
                wait_s,
            )
        self._state = self._now(cause, attempts)

    def _now(self, cause: str, attempts: int) -> Undelivered:
        since = self._state.since if attempts > 1 or self._state.batches else ""
        since = since or datetime.now(UTC).isoformat(timespec="seconds")
        waiting = self._waiting
        return Undelivered(self._use.name, cause, len(waiting), waiting.nbytes, since, attempts)

    def _is_given_up(self, error: Exception) -> bool:
        return self._use.policy.on_failure == "dead_letter" and isinstance(error, RefusedError)

    def _give_up(self, rows: SinkRows, error: Exception) -> None:
        """Write rows to the dead letters."""
        cause = self._cause(error)
        rows.write_dead_letters(self._spark, self._dead_letters, cause)
        where = self._dead_letters
        _log.warning("%s: batch %d is in %s: %s", self._who, rows.batch_id, where, cause)

    def _give_up_the_oldest(self, error: Exception) -> None:
        """Make room for what waits, if the rest is to be dead letters."""
        policy = self._use.policy
        while policy.on_failure == "dead_letter" and self._waiting.nbytes > policy.max_bytes:
            batch_id = self._waiting.first
            assert batch_id is not None, "it has a size"
            self._give_up(self._read(batch_id), error)
            self._remove(batch_id)

    def _cause(self, error: Exception) -> str:
        """Why an attempt failed, in one line, without what :attr:`_who` says."""
        text = root_cause(error) if isinstance(error, PySparkException) else str(error)
        text = " ".join(text.split()) or type(error).__name__
        for label in self._use.all:
            text = text.removeprefix(f"'{label}': ")
        return text.removeprefix(f"sink '{self._use.name}'").lstrip(",: ")

    @property
    def _who(self) -> str:
        return f"{self._use.described}, sink '{self._use.name}'"


class SinkQueues:
    """The sinks of a job with their batches that wait.

    Args:
        sinks: all that the checkpoint has batches of are opened. checkpoint: its path.

    Attributes:
        latencies: of the results that sinks have.

    Raises:
        StateError: the checkpoint cannot be read.
    """

    def __init__(self, spark: SparkSession, sinks: SinkFactory, checkpoint: str) -> None:
        self._spark = spark
        self._sinks = sinks
        self._checkpoint = checkpoint
        self._directory = files.directory(spark, f"{checkpoint}/{DIRECTORY}")
        self.latencies = ResultLatencies()
        self._queues: dict[DriverSink | SparkSink, SinkQueue] = {}
        self._wake = threading.Event()
        self._closing = threading.Event()
        self._thread: threading.Thread | None = None
        found = set(self._directory.names())
        for sink, use in sinks.uses.items():
            if use.place in found:
                self._of(sink)

    def deliver(self, rows: SinkRows) -> None:
        """See :meth:`SinkQueue.deliver`; an error of a sink that never waits is raised."""
        sink = rows.sink
        if isinstance(sink, DriverSink) and not sink.waits:
            rows.write(self._spark)
            return
        queue = self._of(sink)
        for former, query in self._sinks.before.get(sink, ()):
            old, use = self._queues.get(former), self._sinks.uses[former]
            if old is not None and old.waits:
                old.hand_over(query, queue, self._closing)
            if query in use.former:
                use.former.remove(query)
        queue.deliver(rows)
        self._wake.set()

    def undelivered(self) -> dict[str, Undelivered]:
        """By query or side output, what waits for its sink."""
        waiting = [queue for queue in list(self._queues.values()) if queue.waits]
        return {label: queue.state for queue in waiting for label in queue.labels}

    def open(self) -> None:
        """Try the sinks that fail again, and write files that are due, in threads, until
        :meth:`close`.
        """
        self._sinks.roller.open()
        if self._thread is None:
            self._closing.clear()
            self._thread = threading.Thread(
                target=self._serve, name="eddyline-delivery", daemon=True
            )
            self._thread.start()

    def finish(self, seconds: float = END_S) -> None:
        """After the last batch: deliver what waits.

        Raises:
            StateError: a sink has failed for this time.
        """
        until = time.monotonic() + seconds
        self._try_all(at_once=True)
        while (waiting := self.undelivered()) and time.monotonic() < until:
            time.sleep(_POLL_S)
            self._try_all()
        if waiting:
            texts = [f"'{label}': {state.text}" for label, state in waiting.items()]
            raise StateError(
                f"{'; '.join(texts)}. They are delivered when the job is started again from "
                "its checkpoint"
            )

    def close(self, *, has_checkpoint: bool = True) -> None:
        """End the threads, and close the sinks.

        Args:
            has_checkpoint: whether no other job has taken it.
        """
        self._closing.set()
        self._wake.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None
            for label, state in self.undelivered().items():
                _log.warning("'%s': %s; the checkpoint keeps them", label, state.text)
        self._sinks.close(roll=has_checkpoint)

    def _of(self, sink: DriverSink | SparkSink) -> SinkQueue:
        found = self._queues.get(sink)
        if found is None:
            use = self._sinks.uses[sink]
            waiting = UndeliveredBatches(self._directory.below(use.place))
            dead = f"{self._checkpoint}/{DEAD_LETTERS}/{use.segment}"
            found = self._queues[sink] = SinkQueue(
                sink, use, waiting, self._spark, dead, self.latencies
            )
        return found

    def _serve(self) -> None:
        while not self._closing.is_set():
            if self.undelivered():
                self._try_all()
                self._closing.wait(_POLL_S)
            else:
                self._wake.wait()
                self._wake.clear()

    def _try_all(self, *, at_once: bool = False) -> None:
        for queue in list(self._queues.values()):
            if queue.waits:
                try:
                    queue.retry(self._closing, at_once=at_once)
                except Exception:  # of the checkpoint
                    _log.exception("batches that wait for a sink cannot be given up")
