"""The answers of the queries of a running job, Q(now), for callers in any thread.

A question goes through the control stream, so there is a batch for it also where no rows come, and
the answer contains the rows that the sources had when it was asked::

    Answers.ask --- control/ask-ID.json ---> shards --- parts of the answer ---> Answers.step

It changes no engine and is not in the log of a shard. Its file is deleted two batches later, when
no start of the job can read it again.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Final
from uuid import uuid4

import pyarrow as pa

from eddyline.engine.query import Query
from eddyline.errors import StateError
from eddyline.spark.delivery.collected import CollectedBatch
from eddyline.spark.delivery.final_stage import FinalStage
from eddyline.spark.operation.running_queries import RunningQueries
from eddyline.spark.storage.control import ControlStream, Question

#: After this number of batches Spark does not read a file again.
_BATCHES: Final = 2
#: Longest time between two looks at whether the job has ended.
_POLL_S: Final = 0.5

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class _Asked:
    """A question without an answer.

    Attributes:
        shards: which have a part of it; None: the driver has all of it.
    """

    query: Query
    shards: Sequence[int] | None
    answer: Future[pa.Table] = field(default_factory=Future)


class Answers:
    """Asks the shards of a job, and puts their parts together.

    Args:
        queries: of the job. control: to the shards. final: has the answers of merged groups.
    """

    def __init__(self, queries: RunningQueries, control: ControlStream, final: FinalStage) -> None:
        self._queries = queries
        self._control = control
        self._final = final
        self._asked: dict[str, _Asked] = {}  # by question; of several threads
        self._read: dict[str, int] = {}  # by question, the batch that has read it

    def ask(self, name: str) -> Future[pa.Table]:
        """Ask for the answer of a query; it comes with one of the next batches, if there is one.

        Raises:
            CatalogError: there is no such query.
            StateError: it keeps no answer, or the question cannot be written.
        """
        query, own, group = self._queries.shards_of(name)
        query.require_answer()
        is_merged = query.name in self._queries.divided.by_name
        question = uuid4().hex
        asked = _Asked(query, None if is_merged else own)
        self._asked[question] = asked
        asked.answer.add_done_callback(lambda _: self._asked.pop(question, None))
        texts = dict.fromkeys(group, Question(question, None).text())
        if not is_merged:
            texts |= dict.fromkeys(own, Question(question, query.name).text())
        try:
            self._control.ask(question, texts)
        except BaseException:
            asked.answer.cancel()
            raise
        return asked.answer

    def get(self, name: str, timeout_s: float, is_active: Callable[[], bool]) -> pa.Table:
        """The answer of a query; see :meth:`eddyline.spark.Run.answer`."""
        answer, left = self.ask(name), timeout_s
        while left > 0 and is_active():
            try:
                return answer.result(min(left, _POLL_S))
            except TimeoutError:
                left -= _POLL_S
        if not answer.cancel():
            return answer.result()
        if left > 0:
            raise StateError("the job ended before it answered")
        raise TimeoutError(
            f"the job has not answered for query '{name}' within {timeout_s:g} s: its batches take "
            "longer, or it is being restarted"
        )

    def step(self, batch_id: int, batch: CollectedBatch) -> None:
        """After a batch has been delivered, in the thread that runs the batches."""
        for question in [q for q, read in self._read.items() if batch_id >= read + _BATCHES]:
            del self._read[question]
            try:
                self._control.forget(question)
            except StateError as e:  # deleted at the next start
                _log.warning("a question is not deleted: %s", e)
        for question, reported in batch.answered.items():
            self._read[question] = batch_id
            asked = self._asked.get(question)
            if asked is None or not asked.answer.set_running_or_notify_cancel():
                continue  # its caller waits no more
            try:
                parts = batch.answers.get(question, [])
                asked.answer.set_result(self._put_together(asked, reported, parts))
            except Exception as e:  # for the thread that waits
                asked.answer.set_exception(e)

    def _put_together(
        self, asked: _Asked, reported: Mapping[int, str | None], parts: Sequence[pa.Table]
    ) -> pa.Table:
        """The answer.

        Args:
            reported: by shard that has processed the question, an error.
        """
        if asked.shards is None:
            return self._final.answer(asked.query.name)
        for shard in asked.shards:
            if (error := reported.get(shard, "a shard has not answered: ask again")) is not None:
                raise StateError(error)
        return pa.concat_tables([asked.query.schema.empty_table(), *parts])
