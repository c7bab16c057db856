"""The parts of a running job."""

from __future__ import annotations

from typing import NamedTuple

from eddyline.spark.delivery.delivery import Delivery
from eddyline.spark.delivery.sink_queues import SinkQueues
from eddyline.spark.operation.answers import Answers
from eddyline.spark.operation.mailbox import Mailbox
from eddyline.spark.operation.progress_tracker import ProgressTracker
from eddyline.spark.operation.running_queries import RunningQueries


class RunParts(NamedTuple):
    """What a running job consists of.

    Attributes:
        queries: adds and drops queries, and ends the input. tracker: knows the progress.
        answers: asks for those of queries. delivery: knows the results of the batches.
        queues: of the sinks.
        mailbox: for requests of other processes; None: the checkpoint is temporary.
    """

    queries: RunningQueries
    tracker: ProgressTracker
    answers: Answers
    delivery: Delivery
    queues: SinkQueues
    mailbox: Mailbox | None
