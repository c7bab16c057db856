"""The desk of a running job, where other processes look how it is and ask for something.

It is the directory ``desk`` of the checkpoint, so whoever reaches the checkpoint reaches the job::

    status.json          how the job is: written anew as batches are delivered, and now and then
    requests/ID.json     a statement to carry out; taken away when the job begins with it
    answers/ID.json      what became of it; taken away by who asked
    tails/ID/query.json  somebody follows the results of this query ...
    tails/ID/N.arrow     ... and takes away the first rows of each batch N that has some

A request is carried out at most once: one that is still there can be withdrawn by deleting it.
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
from pyspark.sql import SparkSession

from eddyline.errors import EddylineError, StateError
from eddyline.spark import files
from eddyline.spark.delivery import Delivery
from eddyline.spark.fatrows import pack
from eddyline.spark.pace import Pace
from eddyline.spark.run import Ledger
from eddyline.spark.standing import StandingQueries
from eddyline.sql.statements import CreateQuery, Drop, ResetWatermark

DIRECTORY: Final = "desk"
#: A job that has nothing to say says that it lives so often.
SIGN_OF_LIFE_S: Final = 10.0
#: In the metadata of the rows of a batch: how many there were.
ROWS_MADE: Final = b"rows"

_POLL_S: Final = 1.0
#: Who has left so many batches of a query lying follows it no more.
_UNREAD: Final = 200

#: The answer to requests that come when the job has ended.
_ENDED: Final[Mapping[str, Any]] = {
    "done": [],
    "error": StateError.__name__,
    "message": "the job has ended: start it again to add or drop queries",
}

_log = logging.getLogger(__name__)


class Desk:
    """Serves a job's desk in a thread of the driver, while the job runs.

    Args:
        checkpoint: the desk is in there.
        standing: carries statements out. ledger: knows how far the job is. delivery: has the rows.
    """

    def __init__(
        self,
        spark: SparkSession,
        checkpoint: str,
        standing: StandingQueries,
        ledger: Ledger,
        delivery: Delivery,
    ) -> None:
        self._spark = spark
        self._path = f"{checkpoint}/{DIRECTORY}"
        self._standing = standing
        self._ledger = ledger
        self._delivery = delivery
        self._started = _now()
        self._thread: threading.Thread | None = None
        self._closing = threading.Event()
        self._tails: dict[str, str] = {}  # the query by id
        self._pace = Pace()
        self._shown: tuple[object, ...] = ()
        self._shown_at = 0.0
        for place in ("requests", "answers", "tails"):
            files.delete(spark, f"{self._path}/{place}")
            files.make_directory(spark, f"{self._path}/{place}")

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
            while is_active() and not self._closing.is_set():
                self._answer_requests()
                self._look_for_tails()
                self._show("running")
                self._closing.wait(_POLL_S)
            self._answer_requests(refuse=True)
            self._show("ended")
        except Exception:  # the job goes on without a desk
            _log.warning("the desk in %s is closed", self._path, exc_info=True)

    # -- status --------------------------------------------------------------------------------

    def _show(self, state: str, *, at_once: bool = False) -> None:
        """Write the status if it has changed or is old."""
        if not at_once and state == "running" and not self._pace.due:
            return
        content = (state, self._ledger.progress().batch_id, tuple(self._standing.queries))
        same = content == self._shown and time.monotonic() - self._shown_at < SIGN_OF_LIFE_S
        if same:
            return
        with self._pace.measured():
            text = json.dumps(self._status(state))
            files.replace_text(self._spark, f"{self._path}/status.json", text)
        self._shown, self._shown_at = content, time.monotonic()

    def _status(self, state: str) -> dict[str, Any]:
        queries, stats = dict(self._standing.queries), self._ledger.stats()
        return {
            "state": state,
            "at": _now(),
            "started": self._started,
            "host": socket.gethostname(),
            "process": os.getpid(),
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

    def _answer_requests(self, *, refuse: bool = False) -> None:
        answers = {}
        for name in files.names(self._spark, f"{self._path}/requests/*.json"):
            path = f"{self._path}/requests/{name}"
            text = files.read_text(self._spark, path)
            if text is not None and files.delete(self._spark, path):  # else it is withdrawn
                sql = json.loads(text)["sql"]
                answers[name] = _ENDED if refuse else self._carried_out(sql)
        if answers and not refuse:
            self._show("running", at_once=True)  # who has the answer sees what it says
        for name, answer in answers.items():
            files.write_text(self._spark, f"{self._path}/answers/{name}", json.dumps(answer))

    def _carried_out(self, sql: str) -> Mapping[str, Any]:
        """The answer to a request: the queries that came or went, and what was wrong then."""
        done: list[str] = []
        try:
            for statement, _ in self._standing.run(sql):
                assert isinstance(statement, CreateQuery | Drop | ResetWatermark), "no other is"
                done.append(statement.name)
                self._show("running")  # there may be thousands
        except EddylineError as e:
            return {"done": done, "error": type(e).__name__, "message": str(e)}
        return {"done": done}

    # -- tails ---------------------------------------------------------------------------------

    def _look_for_tails(self) -> None:
        """Begin with new ones, end those of dropped queries, forget those that are gone."""
        for tail, query in self._tails.items():
            if query not in self._standing.queries:
                files.delete(self._spark, f"{self._path}/tails/{tail}")
        there = set(files.names(self._spark, f"{self._path}/tails/*"))
        for tail in there - self._tails.keys():
            text = files.read_text(self._spark, f"{self._path}/tails/{tail}/query.json")
            if text is not None:
                self._begin_tail(tail, json.loads(text)["query"])
        for tail in self._tails.keys() - there:
            self._delivery.unfollow(self._tails.pop(tail), tail)

    def _begin_tail(self, tail: str, name: str) -> None:
        query = self._standing.queries.get(name)
        if query is None:  # dropped meanwhile
            files.delete(self._spark, f"{self._path}/tails/{tail}")
            return
        self._tails[tail] = query.name
        no_rows = query.change_schema.empty_table()

        def hand_over(batch_id: int, rows: pa.Table, n: int) -> None:
            self._hand_over(tail, batch_id, rows, n)

        self._delivery.follow(query.name, tail, hand_over)
        self._hand_over(tail, -1, no_rows, 0)  # from now on

    def _hand_over(self, tail: str, batch_id: int, rows: pa.Table, n: int) -> None:
        """Put rows down for who follows; never an error of the job."""
        directory = f"{self._path}/tails/{tail}"
        try:
            if len(files.names(self._spark, f"{directory}/*.arrow")) > _UNREAD:
                files.delete(self._spark, directory)
            if files.exists(self._spark, f"{directory}/query.json"):
                content = pack(rows.replace_schema_metadata({ROWS_MADE: str(n)}))
                file = f"{directory}/{batch_id + 1:012}.arrow"
                files.write_bytes(self._spark, file, content)
        except Exception:
            _log.warning("rows of a batch are not shown in %s", directory, exc_info=True)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
