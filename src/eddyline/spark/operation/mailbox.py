"""The mailbox of a running job: other processes read its status and send requests through files.

It is the directory ``mailbox`` of the checkpoint::

    status.json          status of the job: rewritten after batches and every 10 s
    requests/ID.json     statements to execute, or a query whose answer is wanted; the job deletes
                         the file first
    responses/ID.json    the outcome; deleted by the client
    responses/ID.arrow   the answer, written before the outcome; deleted by the client
    tails/ID/query.json  a client follows the results of this query
    tails/ID/N.arrow     first rows of batch N - 1, for that client, which deletes the file

A request is executed at most once; as long as its file exists, deleting it withdraws the request.
Every request that the job has deleted gets a response, also an invalid one.
"""

from __future__ import annotations

import json
import logging
import os
import socket
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any, Final

import pyarrow as pa

from eddyline.errors import DataError, EddylineError, StateError
from eddyline.rate_limiter import RateLimiter
from eddyline.spark.delivery.delivery import Delivery
from eddyline.spark.exchange.packed_batches import pack
from eddyline.spark.operation.answers import Answers
from eddyline.spark.operation.progress_tracker import ProgressTracker
from eddyline.spark.operation.running_queries import RunningQueries
from eddyline.spark.storage.directory import Directory
from eddyline.sql.statements import AlterQuery, CreateQuery, Drop, ResetWatermark

DIRECTORY: Final = "mailbox"
#: Longest time between two writes of the status.
HEARTBEAT_S: Final = 10.0
#: Metadata of the rows in a tail: number of rows of the batch, of which these are the first.
ROW_COUNT: Final = b"rows"

_POLL_S: Final = 1.0
#: A tail with this many unread batches is deleted.
_MAX_UNREAD: Final = 200

#: Responses to requests after the end of the job, and to those that it finds at its start.
_ENDED: Final = StateError("the job has ended: start it again to add or drop queries")
_RESTARTED: Final = StateError("the job was restarted before it read the request: send it again")

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class _Wanted:
    """An answer that a client waits for.

    Attributes:
        patience_s: how long it does. until: the end of that, by the monotonic clock.
    """

    query: str
    patience_s: float
    until: float
    answer: Future[pa.Table]


class Mailbox:
    """Serves a job's mailbox in a thread of the driver, while the job runs.

    Errors are logged, reported in the status as ``problem``, and the step is retried; the thread
    ends only with the job.

    Args:
        directory: the mailbox; created if missing.
        queries: executes statements. tracker: progress of the job. delivery: rows for tails.
        answers: of queries.
    """

    def __init__(
        self,
        directory: Directory,
        queries: RunningQueries,
        tracker: ProgressTracker,
        delivery: Delivery,
        answers: Answers,
    ) -> None:
        self._directory = directory
        self._queries = queries
        self._tracker = tracker
        self._delivery = delivery
        self._answers = answers
        self._started = _now()
        self._thread: threading.Thread | None = None
        self._closing = threading.Event()
        self._unsent: dict[str, Mapping[str, Any]] = {}  # responses by file name
        self._wanted: dict[str, _Wanted] = {}  # by file name of the request
        self._tails: dict[str, str] = {}  # the query by id
        self._limiter = RateLimiter()
        self._problem: str | None = None
        self._written: tuple[object, ...] = ()
        self._written_at = 0.0
        directory.delete("responses")
        directory.delete("tails")
        for place in ("requests", "responses", "tails"):
            directory.make(place)
        self._answer_requests(refuse=_RESTARTED)

    def open(self, is_active: Callable[[], bool]) -> None:
        """Serve in a thread until the job is not active or :meth:`close` is called."""
        self.close()
        self._closing.clear()
        self._thread = threading.Thread(
            target=self._serve, args=(is_active,), name="eddyline-mailbox", daemon=True
        )
        self._thread.start()

    def close(self) -> None:
        """End the thread: refuse remaining requests, write the status ``ended``."""
        self._closing.set()
        if self._thread is not None:
            self._thread.join()

    def _serve(self, is_active: Callable[[], bool]) -> None:
        try:
            while not self._closing.is_set() and is_active():
                problem = self._attempted(self._answer_requests, self._update_tails)
                self._problem = self._attempted(self._write_status) or problem
                self._closing.wait(_POLL_S)
        except BaseException as e:
            self._problem = f"requests are not served any more: {_message(e)}"
            _log.error("the mailbox in %s is closed", self._directory.path, exc_info=True)
            self._attempted(lambda: self._write_status(at_once=True))
            raise
        self._attempted(
            lambda: self._answer_requests(refuse=_ENDED), lambda: self._write_status("ended")
        )

    def _attempted(self, *steps: Callable[[], None]) -> str | None:
        """Run all steps; the first error, which is logged if it is new."""
        problem = None
        for step in steps:
            try:
                step()
            except Exception as e:  # which must not end the job
                problem = problem or _message(e)
                if _message(e) != self._problem:
                    _log.warning("the mailbox in %s", self._directory.path, exc_info=True)
        return problem

    # -- status --------------------------------------------------------

    def _write_status(self, state: str = "running", *, at_once: bool = False) -> None:
        """Write the status if it has changed or is old, within the rate limit."""
        if not at_once and state == "running" and not self._limiter.due:
            return
        queries = tuple(self._queries.queries.values())
        progress = self._tracker.progress()
        content = (state, progress.batch_id, progress.undelivered, queries, self._problem)
        if content == self._written and time.monotonic() - self._written_at < HEARTBEAT_S:
            return
        with self._limiter.measured():
            text = json.dumps(self._status(state))
            self._directory.replace("status.json", text.encode())
        self._written, self._written_at = content, time.monotonic()

    def _status(self, state: str) -> dict[str, Any]:
        queries, stats = dict(self._queries.queries), self._tracker.stats()
        return {
            "state": state,
            "at": _now(),
            "started": self._started,
            "host": socket.gethostname(),
            "process": os.getpid(),
            "problem": self._problem,
            "progress": asdict(self._tracker.progress()),
            "queries": [
                {
                    "name": name,
                    "since": self._queries.since(name),
                    "sink": query.options.get("sink", "print"),
                    "sql": query.sql,
                }
                for name, query in queries.items()
            ],
            "stats": {name: stats[name] for name in queries if name in stats},
        }

    # -- requests ------------------------------------------------------

    def _answer_requests(self, *, refuse: StateError | None = None) -> None:
        for name in self._directory.names("requests", ".json"):
            content: bytes | EddylineError | None
            try:
                content = self._directory.read(f"requests/{name}")
            except StateError as e:  # a directory, or without read permission
                content = e
            # A request that cannot be deleted has been withdrawn.
            if content is not None and self._directory.delete(f"requests/{name}"):
                if refuse is not None:
                    self._unsent[name] = _response([], refuse)
                elif (outcome := self._executed(name, content)) is not None:
                    self._unsent[name] = outcome
        for name in list(self._wanted):
            self._look_for_answer(name, refuse)
        if self._unsent and refuse is None:  # the status includes the change before the response
            self._attempted(lambda: self._write_status(at_once=True))
        for name in list(self._unsent):  # after an error it is retried at the next poll
            response = json.dumps(self._unsent[name])
            self._directory.replace(f"responses/{name}", response.encode())
            del self._unsent[name]

    def _executed(self, name: str, request: bytes | EddylineError) -> Mapping[str, Any] | None:
        """Execute a request. The response: names of its executed statements, and the error; None:
        it comes later.
        """
        done: list[str] = []
        try:
            if isinstance(request, EddylineError):
                raise request
            fields = _fields(request)
            if "answer" in fields:
                self._wanted[name] = self._want(fields)
                return None
            for statement, _ in self._queries.run(_sql_of(fields)):
                assert isinstance(statement, AlterQuery | CreateQuery | Drop | ResetWatermark)
                done.append(statement.name)
                self._attempted(self._write_status)  # a request may have thousands of statements
        except Exception as e:  # the client gets it
            if not isinstance(e, EddylineError):
                _log.exception("a request in %s failed", self._directory.path)
            return _response(done, e)
        return _response(done)

    def _want(self, fields: Mapping[str, Any]) -> _Wanted:
        query, patience_s = fields["answer"], fields.get("patience_s")
        if not isinstance(query, str) or not isinstance(patience_s, int | float):
            raise DataError("the request has no query as 'answer', or no number as 'patience_s'")
        until = time.monotonic() + patience_s
        return _Wanted(query, patience_s, until, self._answers.ask(query))

    def _look_for_answer(self, name: str, refuse: StateError | None) -> None:
        """Respond to a request, if its answer has come or will not come in time.

        Args:
            refuse: with this error.
        """
        wanted = self._wanted[name]
        if not wanted.answer.done():
            error = refuse
            if error is None and not time.monotonic() <= wanted.until:  # NaN is over
                error = StateError(
                    f"the job has not answered for query '{wanted.query}' within "
                    f"{wanted.patience_s:g} s: its batches take longer, or it is being restarted"
                )
            if error is not None and wanted.answer.cancel():
                self._unsent[name] = _response([], error)
                del self._wanted[name]
            return
        try:
            content = pack(wanted.answer.result())
            self._directory.replace(f"responses/{name.removesuffix('.json')}.arrow", content)
            self._unsent[name] = _response([wanted.query])
        except Exception as e:  # the client gets it
            self._unsent[name] = _response([], e)
        del self._wanted[name]

    # -- tails ---------------------------------------------------------

    def _update_tails(self) -> None:
        """Begin new tails, delete those of dropped queries, end those that clients have deleted."""
        for tail, query in self._tails.items():
            if query not in self._queries.queries:
                self._directory.delete(f"tails/{tail}")
        existing = set(self._directory.names("tails"))
        for tail in self._tails.keys() - existing:
            self._delivery.unfollow(self._tails.pop(tail), tail)
        for tail in sorted(existing - self._tails.keys()):
            self._begin_tail(tail)

    def _begin_tail(self, tail: str) -> None:
        try:
            content = self._directory.read(f"tails/{tail}/query.json")
            name = None if content is None else str(_fields(content)["query"])
        except (StateError, DataError, KeyError) as e:
            _log.warning("%s/tails/%s is no tail: %s", self._directory.path, tail, _message(e))
            self._directory.delete(f"tails/{tail}")
            return
        if name is None:  # the client has not written it yet
            return
        query = self._queries.queries.get(name)
        if query is None:  # dropped meanwhile
            self._directory.delete(f"tails/{tail}")
            return
        self._tails[tail] = query.name
        no_rows = query.change_schema.empty_table()

        def write(batch_id: int, rows: pa.Table, n: int) -> None:
            self._write_tail(tail, batch_id, rows, n)

        self._delivery.follow(query.name, tail, write)
        self._write_tail(tail, -1, no_rows, 0)  # signals the client that the tail has begun

    def _write_tail(self, tail: str, batch_id: int, rows: pa.Table, n: int) -> None:
        """Write rows to a tail; errors are logged and do not fail the job."""
        directory = f"tails/{tail}"
        try:
            existing = self._directory.names(directory)
            if len(existing) > _MAX_UNREAD:
                self._directory.delete(directory)
            elif "query.json" in existing:
                content = pack(rows.replace_schema_metadata({ROW_COUNT: str(n)}))
                self._directory.replace(f"{directory}/{batch_id + 1:012}.arrow", content)
        except Exception:  # which must not end the job
            _log.warning("rows of a batch are not written to %s", directory, exc_info=True)


def _sql_of(fields: Mapping[str, Any]) -> str:
    """The statements of a request.

    Raises:
        DataError: it is not a request.
    """
    sql = fields.get("sql")
    if not isinstance(sql, str):
        raise DataError("the request is not a JSON object with the text of statements as 'sql'")
    return sql


def _fields(content: bytes) -> dict[str, Any]:
    """The fields of a JSON object.

    Raises:
        DataError: it is not a JSON object.
    """
    try:
        fields = json.loads(content)
    except ValueError as e:  # or not UTF-8
        raise DataError(f"the request is not JSON: {e}") from None
    if not isinstance(fields, dict):
        raise DataError("the request is not a JSON object")
    return fields


def _response(done: list[str], error: Exception | None = None) -> Mapping[str, Any]:
    if error is None:
        return {"done": done}
    known = (c for c in type(error).__mro__ if c.__module__ == EddylineError.__module__)
    kind = next(known, type(error)).__name__  # clients know the public errors only
    return {"done": done, "error": kind, "message": str(error)}


def _message(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
