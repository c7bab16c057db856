"""A job in another process, reached through its checkpoint (``eddyline.spark.mailbox``)."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Generator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Final

import pyarrow as pa

from eddyline import errors
from eddyline.cli.arrow_directory import open_directory
from eddyline.cli.failures import JobFailedError
from eddyline.errors import CatalogError, EddylineError, StateError, did_you_mean
from eddyline.spark.mailbox import DIRECTORY, HEARTBEAT_S, ROW_COUNT
from eddyline.spark.packed_batches import unpack

#: A job that was silent for so long is taken for dead.
_SILENT_S: Final = 4 * HEARTBEAT_S
_POLL_S: Final = 0.1
_LOOK_S: Final = 2.0


@dataclass(frozen=True)
class Status:
    """What a job last said of itself.

    Attributes:
        state: 'running', 'ended', or 'silent' where it has gone without saying so.
        at: when it said so.
        progress: see ``eddyline.spark.run.JobProgress``.
        queries: name, since, sink and SQL of each standing query.
        stats: by query the engine's query_stats, whatever they are.
        started: when it was started last. problem: what is wrong with its mailbox, if anything.
    """

    state: str
    at: datetime
    progress: dict[str, Any]
    queries: list[dict[str, str]]
    stats: dict[str, dict[str, Any]]
    started: str = ""
    problem: str | None = None

    def query(self, name: str) -> dict[str, str]:
        """The entry of a query.

        Raises:
            CatalogError: there is none of this name.
        """
        for query in self.queries:
            if query["name"].lower() == name.lower():
                return query
        names = [q["name"] for q in self.queries]
        raise CatalogError(f"there is no query '{name}'; {did_you_mean(name, names)}")


@dataclass(frozen=True)
class Answer:
    """What became of a request: the queries that came or went, and what was wrong then, if so."""

    done: list[str]
    error: EddylineError | JobFailedError | None

    @classmethod
    def read(cls, content: bytes) -> Answer:
        """The answer as the mailbox writes it."""
        said = json.loads(content)
        if "error" not in said:
            return cls(said["done"], None)
        kind = getattr(errors, said["error"], None)
        if isinstance(kind, type) and issubclass(kind, EddylineError):
            return cls(said["done"], kind(said["message"]))
        unexpected = f"the job failed at the request: {said['error']}: {said['message']}"
        return cls(said["done"], JobFailedError(unexpected))


class RunningJob:
    """The mailbox of a job, seen from outside.

    Args:
        checkpoint: the job's, as a path of this machine or a URI that Arrow knows (``s3://...``).

    Raises:
        DataError: there is no such place.
    """

    def __init__(self, checkpoint: str) -> None:
        self._checkpoint = checkpoint
        self._mailbox = open_directory(checkpoint).below(DIRECTORY)

    def status(self) -> Status:
        """What the job last said of itself; it may have ended since long.

        Raises:
            StateError: no job has run there that could be reached.
        """
        text = self._mailbox.read("status.json")
        if text is None and self._mailbox.names("", "requests"):  # it may be being replaced
            time.sleep(_POLL_S)
            text = self._mailbox.read("status.json")
        if text is None:
            raise StateError(
                f"there is no job in '{self._checkpoint}': give the checkpoint of a job that was "
                "started with one, as in `eddyline run FILE.sql --continuous --checkpoint DIR`"
            )
        try:
            return _status(json.loads(text))
        except (ValueError, TypeError, KeyError) as e:
            raise StateError(
                f"{self._mailbox.path}/status.json is not what a job writes ({type(e).__name__}: "
                f"{e}); a running job writes it anew within seconds"
            ) from None

    def running(self) -> Status:
        """The status of a job that runs.

        Raises:
            StateError: it does not run.
        """
        status = self.status()
        if status.state != "running":
            raise StateError(f"the job does not run: {state_of(status)}")
        return status

    def ask(self, sql: str, patience_s: float) -> Answer:
        """Let the job carry out CREATE QUERY and DROP QUERY statements.

        Args:
            sql: one statement or more.
            patience_s: how long to wait until the job begins.

        Raises:
            JobFailedError: there was no answer.
        """
        started = self.running().started
        name = f"{time.time_ns():020}-{uuid.uuid4().hex[:8]}.json"
        self._mailbox.make("requests")
        self._mailbox.replace(f"requests/{name}", json.dumps({"sql": sql}).encode())
        answer = self._answer(name, patience_s)
        if answer is None and self._take(f"requests/{name}") is not None:
            raise JobFailedError(
                f"the job did not answer for {patience_s:g} s; the request is withdrawn"
            )
        while answer is None:  # it has begun with it
            status = self.status()
            same = status.state == "running" and status.started == started
            answer = self._answer(name, _LOOK_S)
            if answer is None and not same:
                raise JobFailedError(
                    "the job began with the request and ended; `eddyline list` shows its queries "
                    "when it is started again"
                )
        return answer

    def follow(self, query: str) -> Generator[tuple[pa.Table, int], None, None]:
        """The results of a query as they are delivered, until the job ends or drops the query.

        Yields:
            For each batch with results the first of them, and how many there were. Before that,
            when following has begun, an empty table.
        """
        tail = f"tails/{uuid.uuid4().hex}"
        self._mailbox.make(tail)
        self._mailbox.replace(f"{tail}/query.json", json.dumps({"query": query}).encode())
        looked = time.monotonic()
        running = True
        try:
            while running and self._mailbox.names(tail, ".json"):
                arrived = self._mailbox.names(tail, ".arrow")
                for name in arrived:
                    content = self._take(f"{tail}/{name}")
                    if content is not None:
                        rows = unpack(content)
                        yield rows, int(rows.schema.metadata[ROW_COUNT])
                if not arrived and time.monotonic() - looked > _LOOK_S:
                    looked = time.monotonic()
                    running = self.status().state == "running"
                time.sleep(_POLL_S)
        finally:
            self._mailbox.delete(tail)

    def _answer(self, name: str, patience_s: float) -> Answer | None:
        until = time.monotonic() + patience_s
        while time.monotonic() < until:
            content = self._take(f"responses/{name}")
            if content is not None:
                return Answer.read(content)
            time.sleep(_POLL_S)
        return None

    def _take(self, name: str) -> bytes | None:
        """The content of a file, which is deleted; None if it is not there, or no more."""
        content = self._mailbox.read(name)
        return content if content is not None and self._mailbox.delete(name) else None


def _status(said: dict[str, Any]) -> Status:
    at = datetime.fromisoformat(said["at"])
    silent = (datetime.now(UTC) - at).total_seconds() > _SILENT_S
    state = "silent" if silent and said["state"] == "running" else said["state"]
    status = Status(state, at, said["progress"], said["queries"], said["stats"])
    return replace(status, started=said.get("started", ""), problem=said.get("problem"))


def state_of(status: Status) -> str:
    """A few words on whether the job runs."""
    words = {"running": "running, as of", "ended": "it ended at", "silent": "it was last seen at"}
    return f"{words[status.state]} {status.at:%Y-%m-%d %H:%M:%S}"
