"""A worker passes a batch to the worker that has the engine, and acts for it."""

from __future__ import annotations

import multiprocessing
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

from eddyline.errors import StateError
from eddyline.spark.workers.worker_sockets import address, passed_on
from memory_state import ManyValues, OneValue

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="batches are passed on Linux only")


#: A small value, and values that are passed as shared memory.
VALUES = [b"ab" * 100, b"c" * 1_500_001, b"de" * 2_000_000]


class NotPicklable(Exception):
    def __init__(self, first: str, second: str) -> None:
        super().__init__(first + second)


@dataclass
class Doubled:
    """Doubles the values of the task's state, and fails or ends where it is told to."""

    values: int
    fails: str = ""

    def frames(self, states: Sequence[Any]) -> Iterator[pd.DataFrame] | None:
        return None if self.fails == "declined" else self._frames(*states)

    def _frames(self, record: Any, log: Any, blobs: Any) -> Iterator[pd.DataFrame]:
        if self.fails == "ends at once":
            os._exit(1)
        if self.fails == "error":
            raise StateError("not now")
        if self.fails == "not picklable":
            raise NotPicklable("not", " so")
        for n in range(self.values):
            (value,) = log.getValue((n,))
            doubled = bytes(value) * 2
            log.updateValue((n,), (doubled,))
            yield pd.DataFrame({"n": [n], "blob": [doubled]})
            if self.fails == "ends later":
                os._exit(1)
        record.update(("done",))
        yield pd.DataFrame({"keys": [n for (n,) in [*log.keys()]]})


def serve(to_test: Connection) -> None:
    to_test.send(address())
    to_test.recv()


def ask(to_test: Connection, to: str, batch: Doubled) -> None:
    """Pass a batch on; send frames, what was returned or raised, and the state after it."""
    record, log = OneValue(), ManyValues()
    for n, value in enumerate(VALUES):
        log.updateValue((n,), (value,))
    record.update(("before",))
    frames: list[pd.DataFrame] = []
    end: Any
    try:
        steps = passed_on(to, batch, (record, log, ManyValues()))
        while True:
            frames.append(next(steps))
    except StopIteration as stop:
        end = stop.value
    except Exception as error:
        end = f"{type(error).__name__}: {error}"
    for frame in frames:
        if "blob" in frame:  # as Spark takes them
            frame["blob"] = pa.array(frame["blob"], pa.binary()).to_pylist()
    to_test.send((frames, end, record.get(), [bytes(log[n,][0]) for n in range(3)]))


@pytest.fixture
def workers() -> Iterator[Callable[[Doubled], Any]]:
    """Passes a batch from one process to another, with the same parent."""
    context = multiprocessing.get_context("spawn")
    started = []

    def run(target: Callable[..., None], *arguments: object) -> Connection:
        here, there = context.Pipe()
        process = context.Process(target=target, args=(there, *arguments), daemon=True)
        process.start()
        started.append((process, here))
        return here

    server = run(serve)
    to = server.recv()
    yield lambda batch: run(ask, to, batch).recv()
    for process, _ in started:
        process.kill()
        process.join()


def test_frames_and_calls_of_the_state_pass_both_ways(workers: Callable[[Doubled], Any]) -> None:
    for _ in range(2):
        frames, end, record, values = workers(Doubled(3))
        assert end is True
        assert [f.blob[0] for f in frames[:3]] == [v * 2 for v in VALUES]
        assert list(frames[3]["keys"]) == [0, 1, 2]
        assert (record, values) == (("done",), [v * 2 for v in VALUES])


@pytest.mark.parametrize("fails", ["declined", "ends at once"])
def test_nothing_has_happened_if_the_other_worker_cannot(
    fails: str, workers: Callable[[Doubled], Any]
) -> None:
    assert workers(Doubled(3, fails)) == ([], False, ("before",), VALUES)


@pytest.mark.parametrize(
    ("fails", "message"),
    [
        ("error", "StateError: not now"),
        ("not picklable", "RuntimeError: NotPicklable: not so"),
        ("ends later", "ConnectionError: the Python worker with the shard's engine has ended"),
    ],
)
def test_errors_of_the_other_worker_are_raised(
    fails: str, message: str, workers: Callable[[Doubled], Any]
) -> None:
    assert workers(Doubled(3, fails))[1] == message


def test_errors_of_the_state_are_raised_where_it_is_used(
    workers: Callable[[Doubled], Any],
) -> None:
    frames, end, record, _ = workers(Doubled(4))  # the log has 3 values
    assert (len(frames), record) == (3, ("before",))
    assert end == "TypeError: cannot unpack non-iterable NoneType object"


@pytest.mark.parametrize("to", ["", "eddyline-1-0", f"eddyline-{os.getppid()}-0"])
def test_batches_are_not_passed_to_other_executors_or_lost_workers(to: str) -> None:
    with pytest.raises(StopIteration) as stop:
        next(passed_on(to, Doubled(1), ()))
    assert stop.value.value is False
