"""Client of the mailbox of a job in another process (``eddyline.spark.operation.mailbox``)."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Generator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Final

import pyarrow as pa

from eddyline import errors
from eddyline.cli.arrow_directory import open_directory
from eddyline.cli.failures import JobFailedError
from eddyline.errors import CatalogError, EddylineError, StateError, did_you_mean
from eddyline.spark.exchange.packed_batches import unpack
from eddyline.spark.operation.mailbox import DIRECTORY, HEARTBEAT_S, ROW_COUNT

#: A job without heartbeat for this time is reported as silent.
_SILENT_S: Final = 4 * HEARTBEAT_S
_POLL_S: Final = 0.1
_STATUS_POLL_S: Final = 2.0


@dataclass(frozen=True)
class Status:
    """The last status of a job.

    Attributes:
        state: 'running', 'ended', or 'silent' if it has no heartbeat and has not ended.
        at: time of the status.
        progress: see ``eddyline.spark.JobProgress``.
        queries: name, since, sink and SQL of each query.
        stats: metrics by query.
        started: time of the last start. problem: the last error of the mailbox, if any.
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
class Response:
    """The response to a request: names of its executed statements, and the error of the next."""

    done: list[str]
    error: EddylineError | JobFailedError | None

    @classmethod
    def read(cls, content: bytes) -> Response:
        """The response in a file of the mailbox."""
        fields = json.loads(content)
        if "error" not in fields:
            return cls(fields["done"], None)
        kind = getattr(errors, fields["error"], None)
        if isinstance(kind, type) and issubclass(kind, EddylineError):
            return cls(fields["done"], kind(fields["message"]))
        unexpected = f"the request failed in the job: {fields['error']}: {fields['message']}"
        return cls(fields["done"], JobFailedError(unexpected))


class RunningJob:
    """A job in another process.

    Args:
        checkpoint: of the job, a local path or a URI that Arrow supports (``s3://...``).

    Raises:
        DataError: the checkpoint cannot be reached.
    """

    def __init__(self, checkpoint: str) -> None:
        self._checkpoint = checkpoint
        self._mailbox = open_directory(checkpoint).below(DIRECTORY)

    def status(self) -> Status:
        """The last status of the job, which may have ended.

        Raises:
            StateError: there is no status, or it cannot be read.
        """
        text = self._mailbox.read("status.json")
        if text is None and self._mailbox.names("", "requests"):  # it may just be replaced
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
                f"{self._mailbox.path}/status.json was not written by a job ({type(e).__name__}: "
                f"{e}); a running job rewrites it within seconds"
            ) from None

    def running(self) -> Status:
        """The status of the running job.

        Raises:
            StateError: it does not run.
        """
        status = self.status()
        if status.state != "running":
            raise StateError(f"the job does not run: {state_of(status)}")
        return status

    def execute(self, sql: str, patience_s: float) -> Response:
        """Let the job execute statements: CREATE, ALTER and DROP QUERY, ALTER STREAM.

        Args:
            sql: one statement or more.
            patience_s: maximum time until the job begins with them.

        Raises:
            JobFailedError: there was no response.
        """
        return self._requested({"sql": sql}, patience_s)[0]

    def change(self, statement: str, patience_s: float) -> None:
        """Let the job execute one statement, as ``execute``; raises also what the job responds."""
        response = self.execute(statement, patience_s)
        if response.error is not None:
            raise response.error

    def answer(self, query: str, patience_s: float) -> pa.Table:
        """Q(now): the rows of a query's answer.

        Args:
            patience_s: maximum time until the job answers.

        Raises:
            CatalogError: there is no such query.
            StateError: it has no answer, or it has not come in time.
            JobFailedError: there was no response.
        """
        fields = {"answer": query, "patience_s": patience_s}
        response, name = self._requested(fields, patience_s)
        if response.error is not None:
            raise response.error
        content = self._take(f"responses/{name.removesuffix('.json')}.arrow")
        if content is None:
            raise JobFailedError("the answer was deleted before it was read: ask again")
        return unpack(content)

    def _requested(self, fields: Mapping[str, Any], patience_s: float) -> tuple[Response, str]:
        """The response to a request, and the name of its file.

        Raises:
            JobFailedError: there was none.
        """
        started = self.running().started
        name = f"{time.time_ns():020}-{uuid.uuid4().hex[:8]}.json"
        self._mailbox.make("requests")
        self._mailbox.replace(f"requests/{name}", json.dumps(fields).encode())
        response = self._response(name, patience_s)
        if response is None and self._take(f"requests/{name}") is not None:
            raise JobFailedError(
                f"the job did not respond within {patience_s:g} s; the request is withdrawn"
            )
        while response is None:  # the job has begun with the request
            status = self.status()
            same_run = status.state == "running" and status.started == started
            response = self._response(name, _STATUS_POLL_S)
            if response is None and not same_run:
                raise JobFailedError(
                    "the job ended while it executed the request; `eddyline list` shows its "
                    "queries after a restart"
                )
        return response, name

    def follow(self, query: str) -> Generator[tuple[pa.Table, int], None, None]:
        """The results of a query as they are delivered, until the job ends or drops the query.

        Yields:
            For each batch with results the first ones, and their number; before these an empty
            table, when the job has begun to send results.
        """
        tail = f"tails/{uuid.uuid4().hex}"
        self._mailbox.make(tail)
        self._mailbox.replace(f"{tail}/query.json", json.dumps({"query": query}).encode())
        checked = time.monotonic()
        running = True
        try:
            while running and self._mailbox.names(tail, ".json"):
                arrived = self._mailbox.names(tail, ".arrow")
                for name in arrived:
                    content = self._take(f"{tail}/{name}")
                    if content is not None:
                        rows = unpack(content)
                        yield rows, int(rows.schema.metadata[ROW_COUNT])
                if not arrived and time.monotonic() - checked > _STATUS_POLL_S:
                    checked = time.monotonic()
                    running = self.status().state == "running"
                time.sleep(_POLL_S)
        finally:
            self._mailbox.delete(tail)

    def _response(self, name: str, patience_s: float) -> Response | None:
        until = time.monotonic() + patience_s
        while time.monotonic() < until:
            content = self._take(f"responses/{name}")
            if content is not None:
                return Response.read(content)
            time.sleep(_POLL_S)
        return None

    def _take(self, name: str) -> bytes | None:
        """The content of a file, which is deleted; None if there is none."""
        content = self._mailbox.read(name)
        return content if content is not None and self._mailbox.delete(name) else None


def _status(fields: dict[str, Any]) -> Status:
    at = datetime.fromisoformat(fields["at"])
    silent = (datetime.now(UTC) - at).total_seconds() > _SILENT_S
    state = "silent" if silent and fields["state"] == "running" else fields["state"]
    status = Status(state, at, fields["progress"], fields["queries"], fields["stats"])
    return replace(status, started=fields.get("started", ""), problem=fields.get("problem"))


def state_of(status: Status) -> str:
    """The state and its time, in words."""
    words = {"running": "running, as of", "ended": "it ended at", "silent": "last heartbeat at"}
    return f"{words[status.state]} {status.at:%Y-%m-%d %H:%M:%S}"
