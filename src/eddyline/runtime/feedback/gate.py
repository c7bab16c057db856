"""Gates: which rows of an input are visible to its join.

A row is suspended before the gate while one of the consumers further up has no match for it. It is
suspended for the first match that it lacks, and is found by the key of this match when one comes.
Where several trees read one join, a row is suspended while none of them requires it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Sequence
from typing import Any

import numpy as np

from eddyline.runtime.batch import Batch
from eddyline.runtime.feedback.key_index import RowBuffer
from eddyline.runtime.feedback.match_probe import MatchProbe
from eddyline.runtime.feedback.sweeps import Sweeps
from eddyline.runtime.feedback.trial import Trial, very_many
from eddyline.runtime.stores.columns import Array, unique
from eddyline.runtime.stores.index import HashIndex
from eddyline.runtime.stores.rowstore import Lane

_NO_ROWS = np.zeros(0, np.int64)


class ProbeQueue:
    """A probe for a match that a consumer requires, and the rows suspended for it.

    Attributes:
        probe: finds the match.
        trial: measures whether the probe is useful.
        missed: number of rows without the match so far.
        withheld: number of rows suspended for it that have not been released.
    """

    def __init__(self, probe: MatchProbe, buffer: RowBuffer, trial: Trial) -> None:
        self.probe = probe
        self.trial = trial
        self.missed = self.withheld = 0
        self._buffer = buffer
        self._suspended: HashIndex | None = buffer.new_index()  # None: rows pass unprobed

    @property
    def asleep(self) -> bool:
        """Whether rows pass unprobed for the time being."""
        return self.trial.asleep

    @property
    def suspended(self) -> HashIndex:
        """The suspended rows, by the key of the match; there is none while rows pass unprobed."""
        assert self._suspended is not None, "rows are probed"
        return self._suspended

    def fall_asleep(self) -> Array:
        """Let rows pass unprobed for a while; returns positions of those that were suspended."""
        suspended = self.take_all()
        self.trial.fall_asleep()
        self.probe.release()
        self.suspended.close()  # the rows of large inputs would go on having a lane for it
        self._suspended = None
        return suspended

    def take_all(self) -> Array:
        """Take out the suspended rows; returns their positions."""
        suspended = self.suspended.take_all()
        self.withheld -= suspended.size
        return suspended

    def let_pass(self, rows: int) -> None:
        """Count rows that passed unprobed; start another trial if it is time."""
        if self.trial.let_pass(rows):
            self.probe.acquire()
            self._suspended = self._buffer.new_index()

    def close(self) -> None:
        """Remove its lanes from the store of the rows."""
        if not self.asleep:
            self.suspended.close()
            self.probe.release()
        self.probe.close()


class Consumer:
    """A tree of joins that reads the rows: it requires several matches of each row.

    Attributes:
        queues: one per match.
        unjudged: the suspended rows have not been probed for its matches yet.
    """

    def __init__(
        self,
        buffer: RowBuffer,
        probes: Sequence[MatchProbe],
        pairs: Callable[[], float],
        *,
        trying: bool,
        unjudged: bool,
    ) -> None:
        self._buffer = buffer
        self.queues = [ProbeQueue(p, buffer, Trial(pairs)) for p in probes]
        self._trying = trying
        self.unjudged = unjudged

    @property
    def requires_all(self) -> bool:
        """Whether all rows pass unprobed."""
        return all(r.asleep for r in self.queues)

    def count(self, rows: int) -> None:
        """Count new rows, before they are judged."""
        for queue in self.queues:
            if queue.asleep:
                queue.let_pass(rows)
            else:
                queue.trial.asked += rows

    def judge(
        self,
        batch: Batch,
        positions: Array,
        ts: Array,
        *,
        but: Collection[int] = (),
        are_new: bool = True,
    ) -> Array:
        """bool[n]: which rows have all matches; the others are suspended for the first they lack.

        Args:
            ts: rows that expire by then are no matches.
            but: numbers of probes to leave out.
            are_new: they have not been judged before.
        """
        left = np.arange(positions.size)
        for number, queue in enumerate(self.queues):
            if queue.asleep or number in but:
                continue
            rows = batch if left.size == len(batch) else batch.take(left)
            found = queue.probe.find(rows, ts[left])
            missing = ~found.there if found.usable is None else ~found.there & found.usable
            queue.suspended.link(positions[left[missing]], found.keys[missing])
            left = left[found.there]
            queue.trial.refused += rows.ts.size - left.size
            queue.missed += (rows.ts.size - left.size) * are_new
            queue.withheld += rows.ts.size - left.size
        ok = np.zeros(positions.size, np.bool_)
        ok[left] = True
        return ok

    def matched(self, clock: int) -> Array:
        """Positions of the suspended rows, in any order, whose match has come, or whose probe falls
        asleep.
        """
        found = [self._matched(q, clock) for q in self.queues if not q.asleep]
        return np.concatenate(found) if found else _NO_ROWS

    def _matched(self, queue: ProbeQueue, clock: int) -> Array:
        if self._trying and queue.trial.spares_nothing():
            return queue.fall_asleep()
        found = queue.suspended.take_out(queue.probe.fresh())
        unmatched = queue.probe.unmatched(self._buffer.rows_at, found, clock)
        if unmatched is not None:
            queue.suspended.link(found[unmatched.rows], unmatched.keys)
            found = np.delete(found, unmatched.rows)
        queue.trial.resumed += found.size
        queue.withheld -= found.size
        return found

    def suspended(self) -> tuple[Array, int]:
        """Positions of the suspended rows, expired ones among them, and the number of keys."""
        awake = [r.suspended for r in self.queues if not r.asleep]
        rows = [suspended.positions() for suspended in awake]
        keys = sum(suspended.sizes()[1] for suspended in awake)
        return np.concatenate([_NO_ROWS, *rows]), keys

    @property
    def missed(self) -> list[int]:
        """By probe, the number of rows without its match."""
        return [r.missed for r in self.queues]

    def forget(self) -> None:
        """Forget which rows are suspended: all are to be judged again."""
        for queue in self.queues:
            if not queue.asleep:
                queue.take_all()
        self.unjudged = True

    def close(self) -> None:
        """Remove its lanes from the store of the rows."""
        for queue in self.queues:
            queue.close()


class Gate:
    """The suspended rows (the paper's blacklist), by the match that they lack (its MNS buffers).

    Source: Yang and Papadias 2008, sections III-A and IV.

    Args:
        name: of the input, and of the input that it is joined with.
        trying: probe for matches only as long as that is useful. pairs: as of ``Trial``.

    Attributes:
        asked, refused, resumed: number of new rows judged, of rows suspended, and released later.
        sweeps: when visible rows are judged again.
    """

    def __init__(
        self,
        name: tuple[str, str],
        buffer: RowBuffer,
        *,
        trying: bool,
        pairs: Callable[[], float] = very_many,
    ) -> None:
        self._name = name
        self._buffer = buffer
        self._trying = trying
        self._pairs = pairs
        self._consumers: dict[Hashable, Consumer] = {}
        self._passed: Lane | None = None  # 1: the row has passed, for whichever consumer
        self.sweeps = Sweeps()
        self.asked = 0
        self.refused = 0
        self.resumed = 0

    def add(self, name: Hashable, probes: Sequence[MatchProbe], *, unjudged: bool) -> None:
        """Add a tree that reads what is joined here; ``unjudged``: there may be rows already."""
        if self._consumers and self._passed is None:
            self._passed = self._buffer.new_lane(0)
        self._consumers[name] = Consumer(
            self._buffer, probes, self._pairs, trying=self._trying, unjudged=unjudged
        )

    def remove(self, name: Hashable) -> None:
        """Remove a tree."""
        self._consumers.pop(name).close()

    def is_open(self, rows: int) -> bool:
        """Whether all of the chunk's rows pass and none is suspended: there is nothing to probe."""
        if len(self._consumers) > 1:
            return False
        is_open = all(c.requires_all and not c.unjudged for c in self._consumers.values())
        if is_open:
            for consumer in self._consumers.values():
                consumer.count(rows)
        return is_open

    def admit(self, batch: Batch, positions: Array) -> Array:
        """bool[n]: which of the new rows, at these positions, pass; the others are suspended."""
        for consumer in self._consumers.values():
            consumer.count(len(batch))
        return self._judge(batch, positions, batch.ts)

    def _judge(
        self, batch: Batch, positions: Array, ts: Array, *, but: Collection[int] = ()
    ) -> Array:
        """bool[n]: which rows some consumer requires; the others are suspended for each of them."""
        ok = np.zeros(positions.size, np.bool_)
        left = np.arange(positions.size)
        for consumer in self._consumers.values():
            whole = left.size == len(batch)
            rows = batch if whole else batch.take(left)
            ok[left] = consumer.judge(rows, positions[left], ts[left], but=but)
            left = left[~ok[left]]
        self.asked += ok.size
        self.refused += left.size
        self._let_through(positions[ok])
        return ok

    def resume(self, clock: int, suspended: Callable[[], Array]) -> Array:
        """Positions, ascending, of the rows released now, as far as they are alive.

        Args:
            suspended: gives the positions of all suspended rows, in any order.
        """
        resumed = [_NO_ROWS]
        for consumer in self._consumers.values():
            found = consumer.matched(clock)
            if consumer.unjudged:
                found, consumer.unjudged = np.concatenate((found, suspended())), False
            if found.size:
                resumed.append(self._required_now(consumer, found, clock))
        positions = unique(np.concatenate(resumed))
        self._let_through(positions)
        self.resumed += positions.size
        return positions

    def _required_now(self, consumer: Consumer, found: Array, clock: int) -> Array:
        """Of the rows found, those alive that have not passed and have all required matches."""
        positions = unique(found)
        if self._passed is not None:
            positions = positions[self._passed.at(positions) == 0]
        batch = self._buffer.rows_at(positions)
        alive = batch.exp > clock
        batch, positions = batch.where(alive), positions[alive]
        return positions[consumer.judge(batch, positions, np.full(positions.size, clock))]

    def _let_through(self, positions: Array) -> None:
        if self._passed is not None:
            self._passed.put(positions, np.ones(positions.size, np.int64))

    def judge_again(self, positions: Array, clock: int) -> Array:
        """bool[n]: which of all rows of the input, at these positions, pass; the others are
        suspended, whether they were before or not.
        """
        for consumer in self._consumers.values():
            consumer.forget()
            consumer.unjudged = False
            consumer.count(positions.size)
        now = np.full(positions.size, clock)
        return self._judge(self._buffer.rows_at(positions), positions, now)

    def suspend(self, positions: Array, clock: int) -> Array:
        """bool[n]: which of the visible rows at these positions stay so; the others have no match
        any more, and are suspended again. There is one consumer.
        """
        (consumer,) = self._consumers.values()
        batch, now = self._buffer.rows_at(positions), np.full(positions.size, clock)
        stay = consumer.judge(batch, positions, now, are_new=False)
        returned = positions.size - int(np.count_nonzero(stay))
        self.refused += returned
        if self._passed is not None:
            self._passed.put(positions, stay.astype(np.int64))
        self.sweeps.done(positions.size, returned)
        return stay

    def is_sweep_due(self, rows: int) -> bool:
        """Count new rows; returns whether the visible ones are to be judged again before them."""
        due = self.sweeps.count(rows)
        if not due or len(self._consumers) != 1 or self.is_unprobed:
            return False
        return not any(c.unjudged for c in self._consumers.values())  # else they would be twice

    @property
    def is_unprobed(self) -> bool:
        """Whether all rows pass some consumer unprobed."""
        return any(c.requires_all for c in self._consumers.values())

    @property
    def withheld(self) -> list[int]:
        """By probe, the number of rows suspended for its match that have not been released; empty
        where several trees read what is joined here.
        """
        if len(self._consumers) != 1:
            return []
        (consumer,) = self._consumers.values()
        return [queue.withheld for queue in consumer.queues]

    @property
    def missed(self) -> list[int]:
        """By probe of the only consumer, the number of rows without its match."""
        (consumer,) = self._consumers.values()
        return consumer.missed

    def suspended(self) -> Array:
        """Positions, ascending, of the suspended rows, expired ones among them."""
        suspended = (c.suspended()[0] for c in self._consumers.values())
        positions = unique(np.concatenate([_NO_ROWS, *suspended]))
        return positions if self._passed is None else positions[self._passed.at(positions) == 0]

    def stats(self) -> dict[str, Any]:
        """Counters; the number of suspended rows, and of keys of matches that they lack."""
        return {
            "rows_of": self._name[0],
            "joined_with": self._name[1],
            "asked": self.asked,
            "refused": self.refused,
            "resumed": self.resumed,
            "returned": self.sweeps.returned,
            "waiting": self.suspended().size,
            "waited_for": sum(c.suspended()[1] for c in self._consumers.values()),
        }

    def close(self) -> None:
        """Remove its lanes from the store of the rows."""
        for consumer in self._consumers.values():
            consumer.close()
        if self._passed is not None:
            self._passed.close()

    def restored(self) -> None:
        """The rows have been restored: all are to be judged again."""
        for consumer in self._consumers.values():
            consumer.forget()
