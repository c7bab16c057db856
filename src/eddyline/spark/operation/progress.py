"""What a job's progress consists of: totals, and those of a batch."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from eddyline.spark.operation.delivery_times import DeliveryTimes

if TYPE_CHECKING:
    from eddyline.spark.delivery.result_latencies import ResultLatency
    from eddyline.spark.delivery.undelivered import Undelivered


@dataclass(frozen=True)
class JobProgress:
    """The progress of a job. Counts are since its first start, including those before restarts; but
    those of queries with a final stage are since this start.

    Attributes:
        batch_id: Spark's id of the last delivered batch; None before the first.
        rows_in: rows received by stream (``numInputRows``), including late and bad ones.
        rows_out: changes emitted by query.
        late, bad: rows in the side outputs by stream.
        dropped: rows dropped by drop boxes, by stream.
        covered: rows of live sources that were left out, because they are before the seam with the
            stream's history, by stream; ``rows_in`` has them, too.
        watermark_us: by group of streams ("a, b"); None until each stream has had a row.
        rows_per_second: rows received, over the last ten seconds (``processedRowsPerSecond``).
        restore_seconds: by group, of the last time that a worker has rebuilt an engine from the
            checkpoint, of its slowest shard; empty if none has since this start.
        waiting: rows that wait in scheduled joins for the next batch, by group; see ``latency`` of
            ``EngineOptions``.
        received: by group and layout, for each cell the rows that it has received, copies included.
        split_keys: see :meth:`KeySplits.shown`.
        undelivered: by query or side output, the results that wait for a sink that fails.
        delivery: times of the batches since this start.
        latency: by query with results in the last minutes, the time from the arrival of rows at
            the source until their results are in the sink.
        cores: CPU cores that the queries ``had`` and ``needed``, without Spark's own work, and what
            needs most; ``needed`` is None until rates are known.
        memory: bytes of state, likewise; ``had`` is None without a limit, and ``used`` are those of
            the last decisions with one.
    """

    batch_id: int | None = None
    rows_in: Mapping[str, int] = field(default_factory=dict)
    rows_out: Mapping[str, int] = field(default_factory=dict)
    late: Mapping[str, int] = field(default_factory=dict)
    bad: Mapping[str, int] = field(default_factory=dict)
    dropped: Mapping[str, int] = field(default_factory=dict)
    watermark_us: Mapping[str, int | None] = field(default_factory=dict)
    rows_per_second: float = 0.0
    restore_seconds: Mapping[str, float] = field(default_factory=dict)
    waiting: Mapping[str, int] = field(default_factory=dict)
    received: Mapping[str, Sequence[int]] = field(default_factory=dict)
    split_keys: Sequence[Mapping[str, Any]] = ()
    delivery: DeliveryTimes = field(default_factory=DeliveryTimes)
    undelivered: Mapping[str, Undelivered] = field(default_factory=dict)
    latency: Mapping[str, ResultLatency] = field(default_factory=dict)
    covered: Mapping[str, int] = field(default_factory=dict)
    cores: Mapping[str, Any] = field(default_factory=dict)
    memory: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class BatchProgress:
    """A delivered batch.

    Attributes:
        batch_id: Spark's id.
        rows_in: rows received by stream, including late and bad ones.
        rows_out: changes emitted by query; those without any are left out.
        seconds: from when Spark planned the batch until its results were in the sinks, or wait for
            one that fails.
    """

    batch_id: int
    rows_in: Mapping[str, int]
    rows_out: Mapping[str, int]
    seconds: float


#: Called after each delivered batch.
BatchListener = Callable[[BatchProgress], None]
