"""The engines of shards that this worker process has, and the time that they take."""

from __future__ import annotations

import math
import time
from collections import OrderedDict
from dataclasses import dataclass
from typing import Final

from eddyline.spark.workers.shard_engine import ShardEngine

#: Number of engines that a worker process keeps; a dropped one is rebuilt when needed.
_MOST_ENGINES: Final = 16
#: After this time without a batch the engines of a run are dropped when another run needs memory:
#: Spark ends workers that are idle as long.
_UNUSED_S: Final = 60.0
#: A worker that has rebuilt an engine takes over no other one for this many times as long.
_REST: Final = 20.0


@dataclass
class _Kept:
    """An engine.

    Attributes:
        token: of the last committed batch that it has processed.
        engine: None while it processes a batch, and after that failed.
        batch: number of its last batch. seconds: of its batches, a moving average.
    """

    token: str
    engine: ShardEngine | None
    batch: int
    seconds: float


class WorkerEngines:
    """The engines of this process, by run and shard."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[str, int], _Kept] = OrderedDict()
        self._last_used: dict[str, float] = {}  # by run, on the monotonic clock
        self._rests_until: dict[str, float] = {}

    def take(self, run: str, shard: int) -> tuple[str, ShardEngine | None]:
        """Token and engine, to process a batch; ``put`` has to follow if that succeeds."""
        kept = self._kept.get((run, shard))
        if kept is None:
            return "", None
        engine, kept.engine = kept.engine, None
        return kept.token, engine

    def put(
        self, run: str, shard: int, token: str, engine: ShardEngine, batch: int, seconds: float
    ) -> None:
        """Keep an engine that has processed a batch."""
        last = self._kept.pop((run, shard), None)
        average = seconds if last is None else (last.seconds + seconds) / 2
        self._kept[run, shard] = _Kept(token, engine, batch, average)
        now = self._last_used[run] = time.monotonic()
        for other in [r for r, used in list(self._last_used.items()) if now - used > _UNUSED_S]:
            self._last_used.pop(other, None)
            self._rests_until.pop(other, None)
            for key in [key for key in list(self._kept) if key[0] == other]:
                self._kept.pop(key, None)
        while len(self._kept) > _MOST_ENGINES:
            self._kept.popitem(last=False)

    def drop(self, run: str, shard: int) -> None:
        """Forget an engine that another worker has from now on."""
        self._kept.pop((run, shard), None)

    def note_rebuilt(self, run: str, seconds: float) -> None:
        """An engine of the run was rebuilt here, which took ``seconds``."""
        self._rests_until[run] = time.monotonic() + _REST * seconds

    def load(self, run: str, batch: int) -> float:
        """Seconds per batch of the run's engines that are in use at this batch; infinite while this
        worker takes over no engine.
        """
        if time.monotonic() < self._rests_until.get(run, 0.0):
            return math.inf
        return self._seconds(run, batch)

    def is_better_elsewhere(self, run: str, shard: int, batch: int, load: float) -> bool:
        """Whether an engine should move to a worker with this load."""
        kept = self._kept.get((run, shard))
        return kept is not None and evens_out(kept.seconds, self._seconds(run, batch), load)

    def _seconds(self, run: str, batch: int) -> float:
        kept = [kept for key, kept in list(self._kept.items()) if key[0] == run]
        return sum(one.seconds for one in kept if one.batch >= batch - 1)


def evens_out(own: float, here: float, there: float) -> bool:
    """Whether it pays to move an engine to the other worker: the higher one of the loads falls by a
    tenth or more. Engines that take little time are not moved. To move it back then does not pay.

    Args:
        own: seconds per batch of the engine. here: of its worker, with it. there: of the other one.
    """
    return own > (here - there) / 10 and there + own < 0.9 * here
