"""SessionGroup: one row per group of a session, when the session has ended."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa

from eddyline.runtime.aggregates import Aggregate
from eddyline.runtime.batch import Batch, Evaluator, Predicate, usable_rows
from eddyline.runtime.operators.base import Operator, Tick
from eddyline.runtime.operators.final_groups import FinalGroups, Source
from eddyline.runtime.state import State, nested
from eddyline.runtime.stores.session_groups import SessionGroups


@dataclass(frozen=True, slots=True)
class SessionGrouping:
    """What is grouped by which sessions.

    Attributes:
        gap_us: the longest time between two rows of a session.
        partition, partition_types: what rows of a session agree on.
        where: which of its rows are grouped; None: all.
        keys, key_types: of the groups in a session.
        names: of the partition and the keys, for reports of groups.
        arguments: of the aggregates; None: whole rows.
        aggregates: makes them.
    """

    gap_us: int
    partition: tuple[Evaluator, ...]
    partition_types: tuple[pa.DataType, ...]
    where: Predicate | None
    keys: tuple[Evaluator, ...]
    key_types: tuple[pa.DataType, ...]
    names: tuple[str, ...]
    arguments: tuple[Evaluator | None, ...]
    aggregates: Callable[[], list[Aggregate]]


class SessionGroup(FinalGroups):
    """Aggregates rows where they come, and emits the groups of a session when no more row can
    extend it: when time has passed its end. The output is the partition, the keys, the start and
    end of the session, and the aggregates.

    A row whose partition cannot be computed is in no session; one for which a key or an argument
    cannot be computed extends its session, and is in no group. The input has no '-'.
    """

    def __init__(self, source: Operator, grouping: SessionGrouping) -> None:
        by, functions = len(grouping.names), len(grouping.arguments)
        outputs: list[Source] = [("key", i) for i in range(by)]
        outputs += [("start", 0), ("end", 0)]
        outputs += [("aggregate", i) for i in range(functions)]
        names = (*grouping.names, "window_start", "window_end")
        super().__init__(source, names, outputs)
        self._grouping = grouping
        self._computed = [a for a in grouping.arguments if a is not None]
        self._groups = SessionGroups(
            grouping.partition_types, grouping.key_types, grouping.gap_us, grouping.aggregates()
        )

    def process(self, batches: Sequence[Batch], tick: Tick) -> Batch:
        grouping = self._grouping
        batch, partition = usable_rows(batches[0], grouping.partition)
        assert batch.only_inserts(), "a '-' is at another instant than its row"
        # the rows carry their sessions with them, as numbers of pairs, which they have not
        batch = replace(batch, pair=self._groups.assign(batch.ts, partition))
        if grouping.where is not None and len(batch):
            batch = batch.where(grouping.where(batch))
        batch, values = usable_rows(batch, [*grouping.keys, *self._computed])
        keys, rest = values[: len(grouping.keys)], iter(values[len(grouping.keys) :])
        columns = [None if a is None else next(rest) for a in grouping.arguments]
        assert batch.pair is not None, "it has been set"
        self._groups.add(batch.pair, keys, columns)
        return self.emitted(*self._groups.close(tick.clock))

    def live(self, clock: int) -> Batch:
        """None: rows are emitted and not kept."""
        return self.rows(*self._groups.none(), 0)

    def kept(self) -> int:
        return len(self._groups)

    def state(self) -> State:
        return {**super().state(), "groups": self._groups.state()}

    def restore(self, state: State) -> None:
        super().restore(state)
        self._groups.restore(nested(state, "groups"))
