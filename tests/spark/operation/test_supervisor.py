"""A failed streaming query is restarted, with growing waits, up to the limit."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any, cast

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql.streaming.query import StreamingQuery

from eddyline.spark.operation.supervisor import NEVER, Restart, Supervisor

pytestmark = pytest.mark.fault


class Query:
    """Runs until it is ended, with an error or without."""

    def __init__(self, error: Exception | None = None, *, ended: bool = False) -> None:
        self.over = threading.Event()
        self.error = error
        if ended:
            self.over.set()

    @property
    def isActive(self) -> bool:
        return not self.over.is_set()

    def awaitTermination(self, timeout: int | None = None) -> bool:
        ended = self.over.wait(timeout)
        if ended and self.error is not None:
            raise self.error
        return ended

    def processAllAvailable(self) -> None:
        self.awaitTermination()

    def stop(self) -> None:
        self.over.set()


FAILED = StreamingQueryException("it failed")


def supervised(
    queries: list[Query | Exception], restart: Restart, delivered: Callable[[], Any] = lambda: None
) -> Supervisor:
    launches = iter(queries)

    def launch(bounded: bool) -> StreamingQuery:
        query = next(launches)
        if isinstance(query, Exception):
            raise query
        return cast(StreamingQuery, query)

    return Supervisor(launch, restart, delivered)


def failed() -> Query:
    return Query(FAILED, ended=True)


AT_ONCE = Restart(limit=3, first_s=0.0)


def test_never() -> None:
    supervisor = supervised([failed()], NEVER)
    supervisor.begin(bounded=False)
    assert not supervisor.is_active
    with pytest.raises(StreamingQueryException):
        supervisor.wait()


def test_a_failed_query_is_restarted() -> None:
    last = Query()
    supervisor = supervised([failed(), failed(), last], AT_ONCE)
    supervisor.begin(bounded=False)
    assert not supervisor.wait(0.2)
    assert supervisor.is_active and supervisor.restarts == 2
    last.over.set()
    assert supervisor.wait(5) and not supervisor.is_active


def test_a_start_that_fails_counts() -> None:
    last = Query(ended=True)
    supervisor = supervised([failed(), RuntimeError("no"), RuntimeError("no"), last], AT_ONCE)
    supervisor.begin(bounded=False)
    assert supervisor.wait(5) and supervisor.restarts == 1


def test_the_limit_counts_failures_in_a_row() -> None:
    supervisor = supervised([failed() for _ in range(9)], AT_ONCE)
    supervisor.begin(bounded=False)
    with pytest.raises(StreamingQueryException, match="it failed"):
        supervisor.wait(5)
    assert supervisor.restarts == 3 and not supervisor.is_active

    batches = iter(range(100))  # each time something was delivered
    supervisor = supervised([*(failed() for _ in range(9)), Query(ended=True)], AT_ONCE,
                            lambda: next(batches))  # fmt: skip
    supervisor.begin(bounded=False)
    assert supervisor.wait(5) and supervisor.restarts == 9


def test_stop_ends_the_wait_between_two_starts() -> None:
    supervisor = supervised([failed(), Query()], Restart(limit=3, first_s=60.0))
    supervisor.begin(bounded=False)
    assert supervisor.is_active
    started = time.monotonic()
    supervisor.stop()
    assert time.monotonic() - started < 5 and not supervisor.is_active
    assert supervisor.restarts == 0


def test_waiting_for_input_survives_a_failure() -> None:
    supervisor = supervised([failed(), Query(ended=True)], AT_ONCE)
    supervisor.begin(bounded=False)
    supervisor.process_all()
    supervisor = supervised([failed()], NEVER)
    supervisor.begin(bounded=False)
    with pytest.raises(StreamingQueryException):
        supervisor.process_all()


def test_limits_are_checked() -> None:
    with pytest.raises(ValueError, match="cannot be negative"):
        Restart(limit=-1)
