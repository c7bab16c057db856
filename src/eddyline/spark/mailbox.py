"""The desk of a running job, where other processes look how it is and ask for something.

It is the directory ``desk`` of the checkpoint, so whoever reaches the checkpoint reaches the job::

    status.json          how the job is: written anew as batches are delivered, and now and then
    requests/ID.json     a statement to carry out; taken away when the job begins with it
    answers/ID.json      what became of it; taken away by who asked
    tails/ID/query.json  somebody follows the results of this query ...
    tails/ID/N.arrow     ... and takes away the first rows of each batch N that has some

A request is carried out at most once: one that is still there can be withdrawn by deleting it.
Every request that is taken away gets an answer, whatever it is and whatever goes wrong with it.
"""

from __future__ import annotations

import json
import logging
import os
import socket
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any, Final

import pyarrow as pa

from eddyline.errors import DataError, EddylineError, StateError
from eddyline.spark.delivery import Delivery
from eddyline.spark.directory import Directory
from eddyline.spark.ledger import Ledger
from eddyline.spark.packed_batches import pack
from eddyline.spark.rate_limiter import Pace
from eddyline.spark.running_queries import StandingQueries
from eddyline.sql.statements import CreateQuery, Drop, ResetWatermark

DIRECTORY: Final = "desk"
#: A job that has nothing to say says that it lives so often.
SIGN_OF_LIFE_S: Final = 10.0
#: In the metadata of the rows of a batch: how many there were.
ROWS_MADE: Final = b"rows"

_POLL_S: Final = 1.0
#: Who has left so many batches of a query lying follows it no more.
_UNREAD: Final = 200

#: The answers to requests that come when the job has ended, and before it was started again.
_ENDED: Final = StateError("the job has ended: start it again to add or drop queries")
_RESTARTED: Final = StateError("the job was started again before it saw the request: ask again")

_log = logging.getLogger(__name__)


class Desk:
    """Serves a job's desk in a thread of the driver, while the job runs.

    What goes wrong there is logged, shown in the status as ``problem``, and tried again; the thread
    ends with the job only.

    Args:
        directory: the desk; it is made if there is none.
        standing: carries statements out. ledger: knows how far the job is. delivery: has the rows.
    """

    def __init__(
        self,
        directory: Directory,
        standing: StandingQueries,
        ledger: Ledger,
        delivery: Delivery,
    ) -> None:
        self._directory = directory
        self._standing = standing
        self._ledger = ledger
        self._delivery = delivery
        self._started = _now()
        self._thread: threading.Thread | None = None
        self._closing = threading.Event()
        self._unsent: dict[str, Mapping[str, Any]] = {}  # answers by file name
        self._tails: dict[str, str] = {}  # the query by id
        self._pace = Pace()
        self._problem: str | None = None
        self._shown: tuple[object, ...] = ()
        self._shown_at = 0.0
        directory.delete("answers")
        directory.delete("tails")
        for place in ("requests", "answers", "tails"):
            directory.make(place)
        self._answer_requests(refuse=_RESTARTED)

    def open(self, is_active: Callable[[], bool]) -> None:
        """Serve as long as the job is active, or until closed."""
        self.close()
        self._closing.clear()
        self._thread = threading.Thread(
            target=self._serve, args=(is_active,), name="eddyline-desk", daemon=True
        )
        self._thread.start()

    def close(self) -> None:
        """Say that the job has ended; what is still asked for is refused."""
        self._closing.set()
        if self._thread is not None:
            self._thread.join()

    def _serve(self, is_active: Callable[[], bool]) -> None:
        try:
            while not self._closing.is_set() and is_active():
                problem = self._attempted(self._answer_requests, self._look_for_tails)
                self._problem = self._attempted(self._show) or problem
                self._closing.wait(_POLL_S)
        except BaseException as e:
            self._problem = f"requests are not served any more: {_said(e)}"
            _log.error("the desk in %s is closed", self._directory.path, exc_info=True)
            self._attempted(lambda: self._show(at_once=True))
            raise
        self._attempted(lambda: self._answer_requests(refuse=_ENDED), lambda: self._show("ended"))

    def _attempted(self, *steps: Callable[[], None]) -> str | None:
        """Take all steps; the first thing that went wrong, which is logged if it is new."""
        problem = None
        for step in steps:
            try:
                step()
            except Exception as e:
                problem = problem or _said(e)
                if _said(e) != self._problem:
                    _log.warning("the desk in %s", self._directory.path, exc_info=True)
        return problem

    # -- status --------------------------------------------------------------------------------

    def _show(self, state: str = "running", *, at_once: bool = False) -> None:
        """Write the status if it has changed or is old."""
        if not at_once and state == "running" and not self._pace.due:
            return
        queries = tuple(self._standing.queries)
        content = (state, self._ledger.progress().batch_id, queries, self._problem)
        same = content == self._shown and time.monotonic() - self._shown_at < SIGN_OF_LIFE_S
        if same:
            return
        with self._pace.measured():
            text = json.dumps(self._status(state))
            self._directory.replace("status.json", text.encode())
        self._shown, self._shown_at = content, time.monotonic()

    def _status(self, state: str) -> dict[str, Any]:
        queries, stats = dict(self._standing.queries), self._ledger.stats()
        return {
            "state": state,
            "at": _now(),
            "started": self._started,
            "host": socket.gethostname(),
            "process": os.getpid(),
            "problem": self._problem,
            "progress": asdict(self._ledger.progress()),
            "queries": [
                {
                    "name": name,
                    "since": self._standing.since(name),
                    "sink": query.options.get("sink", "print"),
                    "sql": query.sql,
                }
                for name, query in queries.items()
            ],
            "stats": {name: stats[name] for name in queries if name in stats},
        }

    # -- requests ------------------------------------------------------------------------------

    def _answer_requests(self, *, refuse: StateError | None = None) -> None:
        for name in self._directory.names("requests", ".json"):
            content: bytes | EddylineError | None
            try:
                content = self._directory.read(f"requests/{name}")
            except StateError as e:  # it is a directory, or not for us to read
                content = e
            if content is not None and self._directory.delete(f"requests/{name}"):
                self._unsent[name] = (
                    _answer([], refuse) if refuse is not None else self._carried_out(content)
                )  # else it is withdrawn
        if self._unsent and refuse is None:  # what has the answer sees what it says
            self._attempted(lambda: self._show(at_once=True))
        for name in list(self._unsent):  # one that cannot be written now is tried again
            answer = json.dumps(self._unsent[name])
            self._directory.replace(f"answers/{name}", answer.encode())
            del self._unsent[name]

    def _carried_out(self, request: bytes | EddylineError) -> Mapping[str, Any]:
        """The answer to a request: the queries that came or went, and what was wrong then."""
        done: list[str] = []
        try:
            if isinstance(request, EddylineError):
                raise request
            for statement, _ in self._standing.run(_sql_of(request)):
                assert isinstance(statement, CreateQuery | Drop | ResetWatermark), "no other is"
                done.append(statement.name)
                self._attempted(self._show)  # there may be thousands
        except Exception as e:
            if not isinstance(e, EddylineError):
                _log.exception("a request in %s failed", self._directory.path)
            return _answer(done, e)
        return _answer(done)

    # -- tails ---------------------------------------------------------------------------------

    def _look_for_tails(self) -> None:
        """Begin with new ones, end those of dropped queries, forget those that are gone."""
        for tail, query in self._tails.items():
            if query not in self._standing.queries:
                self._directory.delete(f"tails/{tail}")
        there = set(self._directory.names("tails"))
        for tail in self._tails.keys() - there:
            self._delivery.unfollow(self._tails.pop(tail), tail)
        for tail in sorted(there - self._tails.keys()):
            self._begin_tail(tail)

    def _begin_tail(self, tail: str) -> None:
        try:
            content = self._directory.read(f"tails/{tail}/query.json")
            name = None if content is None else str(_fields(content)["query"])
        except (StateError, DataError, KeyError) as e:
            _log.warning("%s/tails/%s is no tail: %s", self._directory.path, tail, _said(e))
            self._directory.delete(f"tails/{tail}")
            return
        if name is None:  # it is being made
            return
        query = self._standing.queries.get(name)
        if query is None:  # dropped meanwhile
            self._directory.delete(f"tails/{tail}")
            return
        self._tails[tail] = query.name
        no_rows = query.change_schema.empty_table()

        def hand_over(batch_id: int, rows: pa.Table, n: int) -> None:
            self._hand_over(tail, batch_id, rows, n)

        self._delivery.follow(query.name, tail, hand_over)
        self._hand_over(tail, -1, no_rows, 0)  # from now on

    def _hand_over(self, tail: str, batch_id: int, rows: pa.Table, n: int) -> None:
        """Put rows down for who follows; never an error of the job."""
        directory = f"tails/{tail}"
        try:
            there = self._directory.names(directory)
            if len(there) > _UNREAD:
                self._directory.delete(directory)
            elif "query.json" in there:
                content = pack(rows.replace_schema_metadata({ROWS_MADE: str(n)}))
                self._directory.replace(f"{directory}/{batch_id + 1:012}.arrow", content)
        except Exception:
            _log.warning("rows of a batch are not shown in %s", directory, exc_info=True)


def _sql_of(request: bytes) -> str:
    """The statements of a request.

    Raises:
        DataError: it is not a request.
    """
    sql = _fields(request).get("sql")
    if not isinstance(sql, str):
        raise DataError("the request is not a JSON object with the text of statements as 'sql'")
    return sql


def _fields(content: bytes) -> dict[str, Any]:
    """The fields of a JSON object.

    Raises:
        DataError: it is none.
    """
    try:
        fields = json.loads(content)
    except ValueError as e:  # also what is not UTF-8
        raise DataError(f"the request is not JSON: {e}") from None
    if not isinstance(fields, dict):
        raise DataError("the request is not a JSON object")
    return fields


def _answer(done: list[str], error: Exception | None = None) -> Mapping[str, Any]:
    if error is None:
        return {"done": done}
    return {"done": done, "error": type(error).__name__, "message": str(error)}


def _said(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
