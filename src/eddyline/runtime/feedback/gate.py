"""Gates: which rows of an input its join may see yet.

A row waits before the gate while one of the consumers further up has no match for it. It waits for
the first match that it lacks, and is found by its key when one comes. Where several trees read one
join, a row waits while none of them has a use for it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Sequence
from typing import Any

import numpy as np

from eddyline.runtime.batch import Batch
from eddyline.runtime.feedback.match_probe import Wanted
from eddyline.runtime.feedback.partners import Keeping
from eddyline.runtime.feedback.trial import Trial
from eddyline.runtime.stores.columns import Array
from eddyline.runtime.stores.index import HashIndex
from eddyline.runtime.stores.rowstore import Lane

_NO_ROWS = np.zeros(0, np.int64)


class Question:
    """One thing that is wanted, and who waits for it.

    Attributes:
        waiting: the rows that do, by key.
        trial: whether asking is of use.
        missed: how often it was not there for a row.
    """

    def __init__(self, wanted: Wanted, waiting: HashIndex) -> None:
        self.wanted = wanted
        self.waiting = waiting
        self.trial = Trial()
        self.missed = 0

    @property
    def asleep(self) -> bool:
        """Whether nobody is asked for the time being."""
        return self.trial.asleep

    def fall_asleep(self) -> None:
        """Ask nobody for a while. Nothing may wait any more."""
        self.trial.fall_asleep()
        self.wanted.release()

    def let_pass(self, rows: int) -> None:
        """So many rows were not asked about; wake up if it is time for another trial."""
        if self.trial.let_pass(rows):
            self.wanted.acquire()


class Reader:
    """What one tree wants of a row: all of it, or the row is of no use to the tree.

    Attributes:
        anew: the rows that wait have not been asked about yet, or nobody knows what they wait for.
    """

    def __init__(
        self, kept: Keeping, wanted: Sequence[Wanted], *, trying: bool, anew: bool
    ) -> None:
        self._kept = kept
        self.questions = [Question(w, kept.new_index()) for w in wanted]
        self._trying = trying
        self.anew = anew

    @property
    def takes_all(self) -> bool:
        """Whether there is nothing to ask now."""
        return all(q.asleep for q in self.questions)

    def come(self, rows: int) -> None:
        """So many new rows are about to be judged."""
        for question in self.questions:
            if question.asleep:
                question.let_pass(rows)
            else:
                question.trial.asked += rows

    def judge(
        self, batch: Batch, positions: Array, ts: Array, *, but: Collection[int] = ()
    ) -> Array:
        """bool[n]: for which rows there is all that is wanted; the others wait for the first of it
        that is not there. ``ts``: who expires by then is no match. ``but``: questions to leave out.
        """
        left = np.arange(positions.size)
        for number, question in enumerate(self.questions):
            if question.asleep or number in but:
                continue
            rows = batch if left.size == len(batch) else batch.take(left)
            found = question.wanted.find(rows, ts[left])
            missing = ~found.there if found.usable is None else ~found.there & found.usable
            question.waiting.link(positions[left[missing]], found.keys[missing])
            left = left[found.there]
            question.trial.refused += rows.ts.size - left.size
            question.missed += rows.ts.size - left.size
        ok = np.zeros(positions.size, np.bool_)
        ok[left] = True
        return ok

    def found(self, clock: int) -> Array:
        """Positions of the rows, in any order, whose match has come, or need not wait for one."""
        found = [self._found(q, clock) for q in self.questions if not q.asleep]
        return np.concatenate(found) if found else _NO_ROWS

    def _found(self, question: Question, clock: int) -> Array:
        if self._trying and question.trial.spares_nothing():
            question.fall_asleep()
            return question.waiting.take_all()
        found = question.waiting.take_out(question.wanted.fresh())
        waiting = question.wanted.still_waiting(self._kept.rows_at, found, clock)
        if waiting is not None:
            question.waiting.link(found[waiting.rows], waiting.keys)
            found = np.delete(found, waiting.rows)
        question.trial.resumed += found.size
        return found

    def waiting(self) -> tuple[Array, int]:
        """Positions of the rows that wait, expired ones among them, and for how many keys."""
        rows = [q.waiting.positions() for q in self.questions]
        return np.concatenate([_NO_ROWS, *rows]), sum(q.waiting.sizes()[1] for q in self.questions)

    @property
    def missed(self) -> list[int]:
        """By what is wanted, how often it was not there for a row."""
        return [q.missed for q in self.questions]

    def forget(self) -> None:
        """All that waited is to be asked about anew."""
        for question in self.questions:
            question.waiting.take_all()
        self.anew = True

    def close(self) -> None:
        """Give back what it holds in the store of the rows."""
        for question in self.questions:
            question.waiting.close()
            if not question.asleep:
                question.wanted.release()
            question.wanted.close()


class Gate:
    """The rows that wait (the paper's blacklist), by what they wait for (its MNS buffers).

    Source: Yang and Papadias 2008, sections III-A and IV.

    Args:
        name: whose rows they are, and with whose they are joined.
        trying: ask only as long as that is of use.

    Attributes:
        asked, refused, resumed: how many rows were asked about, had to wait, and were let through
            later.
    """

    def __init__(self, name: tuple[str, str], kept: Keeping, *, trying: bool) -> None:
        self._name = name
        self._kept = kept
        self._trying = trying
        self._readers: dict[Hashable, Reader] = {}
        self._passed: Lane | None = None  # 1: the row has passed, whoever may still have it waiting
        self.asked = 0
        self.refused = 0
        self.resumed = 0

    def add(self, name: Hashable, wanted: Sequence[Wanted], *, anew: bool) -> None:
        """One more tree reads what is joined here; ``anew``: there may be rows already."""
        if self._readers and self._passed is None:
            self._passed = self._kept.new_lane(0)
        self._readers[name] = Reader(self._kept, wanted, trying=self._trying, anew=anew)

    def remove(self, name: Hashable) -> None:
        """A tree is gone."""
        self._readers.pop(name).close()

    def is_open(self, rows: int) -> bool:
        """Whether all of the chunk's rows pass, and nobody waits: there is nothing to ask now."""
        if len(self._readers) > 1:
            return False
        is_open = all(r.takes_all and not r.anew for r in self._readers.values())
        if is_open:
            for reader in self._readers.values():
                reader.come(rows)
        return is_open

    def admit(self, batch: Batch, positions: Array) -> Array:
        """bool[n]: which of the new rows, at these positions, may be seen; the others wait."""
        for reader in self._readers.values():
            reader.come(len(batch))
        return self._judge(batch, positions, batch.ts)

    def _judge(
        self, batch: Batch, positions: Array, ts: Array, *, but: Collection[int] = ()
    ) -> Array:
        """bool[n]: for which rows somebody has a use; the others wait in all their queues."""
        ok = np.zeros(positions.size, np.bool_)
        left = np.arange(positions.size)
        for reader in self._readers.values():
            whole = left.size == len(batch)
            rows = batch if whole else batch.take(left)
            ok[left] = reader.judge(rows, positions[left], ts[left], but=but)
            left = left[~ok[left]]
        self.asked += ok.size
        self.refused += left.size
        self._let_through(positions[ok])
        return ok

    def resume(self, clock: int, suspended: Callable[[], Array]) -> Array:
        """Positions, ascending, of the rows that need not wait any more, and are alive.

        Args:
            suspended: gives the positions of all suspended rows, in any order.
        """
        woken = [_NO_ROWS]
        for reader in self._readers.values():
            found = reader.found(clock)
            if reader.anew:
                found, reader.anew = np.concatenate((found, suspended())), False
            if found.size:
                woken.append(self._wanted_now(reader, found, clock))
        positions = np.unique(np.concatenate(woken))
        self._let_through(positions)
        self.resumed += positions.size
        return positions

    def _wanted_now(self, reader: Reader, found: Array, clock: int) -> Array:
        """Of the rows found, those alive that have not passed, and are what the reader wants."""
        positions = np.unique(found)
        if self._passed is not None:
            positions = positions[self._passed.at(positions) == 0]
        batch = self._kept.rows_at(positions)
        alive = batch.exp > clock
        batch, positions = batch.where(alive), positions[alive]
        return positions[reader.judge(batch, positions, np.full(positions.size, clock))]

    def _let_through(self, positions: Array) -> None:
        if self._passed is not None:
            self._passed.put(positions, np.ones(positions.size, np.int64))

    def again(self, positions: Array, clock: int) -> Array:
        """bool[n]: which of the rows at these positions, all that are there, may be seen; the
        others wait, whether they did before or not.
        """
        for reader in self._readers.values():
            reader.forget()
            reader.anew = False
            reader.come(positions.size)
        return self._judge(self._kept.rows_at(positions), positions, np.full(positions.size, clock))

    @property
    def missed(self) -> list[int]:
        """By what the only reader wants, how often it was not there for a row."""
        (reader,) = self._readers.values()
        return reader.missed

    def waiting(self) -> Array:
        """Positions, ascending, of the rows that wait, expired ones among them."""
        waiting = (r.waiting()[0] for r in self._readers.values())
        positions = np.unique(np.concatenate([_NO_ROWS, *waiting]))
        return positions if self._passed is None else positions[self._passed.at(positions) == 0]

    def stats(self) -> dict[str, Any]:
        """Counters, and how many rows wait for how many keys; some of them may have expired."""
        return {
            "rows_of": self._name[0],
            "joined_with": self._name[1],
            "asked": self.asked,
            "refused": self.refused,
            "resumed": self.resumed,
            "waiting": self.waiting().size,
            "waited_for": sum(r.waiting()[1] for r in self._readers.values()),
        }

    def close(self) -> None:
        """Give back what it holds in the store of the rows."""
        for reader in self._readers.values():
            reader.close()
        if self._passed is not None:
            self._passed.close()

    def restored(self) -> None:
        """The rows have been restored; who waits for what is found out anew, with nobody asleep."""
        for reader in self._readers.values():
            reader.forget()
