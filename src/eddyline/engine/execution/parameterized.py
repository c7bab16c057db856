"""``FOR EACH ROW OF rules``: one standing query per row of a table, in step with the table.

The answer is that of a join with the table of rules. So what a change of the table means is what
its ``updates`` say: of a retroactive table, a new rule is also about the rows that are there, and
the results of one that is deleted are taken back; changes of a non-retroactive table have effects
on later rows only.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from eddyline.algebra.parameters import substitute
from eddyline.algebra.plan import Updates
from eddyline.engine.execution.shared_flow import Crowd
from eddyline.runtime.batch import before
from eddyline.runtime.eddy.fanout import Fanout
from eddyline.runtime.stores.columns import Array
from eddyline.runtime.stores.stem import Stem
from eddyline.runtime.stores.table import DEATH, TableStem
from eddyline.sharing.signature import Part
from eddyline.types import FOREVER


class Rules:
    """A query's rules: who stands for which rows.

    Attributes:
        updates: what changes of the table mean.

    Args:
        table: where the rows of the table are.
        part: what the query brings into its flow, with Parameters.
    """

    def __init__(self, crowd: Crowd, part: Part, table: Stem, updates: Updates) -> None:
        self._crowd = crowd
        self._part = part
        self._table = table
        self.updates = updates
        self._retroactive = updates == "retroactive"
        self._past: TableStem | None = None  # where rules can be read that are gone
        if isinstance(table, TableStem) and not self._retroactive:
            self._past = table
            table.remember(self._lifespan_us)

    @property
    def _lifespan_us(self) -> int:
        """How long a result can be in the answer."""
        return min((us for us in self._part.windows if us is not None), default=FOREVER)

    def close(self) -> None:
        """The query is gone."""
        if self._past is not None:
            self._past.forget(self._lifespan_us)

    @property
    def table(self) -> Stem:
        """Where the rows of the table are."""
        return self._table

    def __len__(self) -> int:
        return len(self._crowd.rows)

    def sync(self) -> None:
        """Stand for the rows that the table has now, and no others."""
        there = self._there()
        for row in set(self._crowd.rows) - set(there.tolist()):
            self._crowd.stand_down(row)
        known = set(self._crowd.rows)
        self._stand_for(np.array([r for r in there.tolist() if r not in known], np.int64))

    def follow(self, clock: int) -> None:
        """Take in what the chunk changed in the table, at its instant ``clock``."""
        if not isinstance(self._table, TableStem):
            return
        for row, sign in zip(
            self._table.changed.ids.tolist(), self._table.changed.sign.tolist(), strict=True
        ):
            if sign > 0:
                self._stand_for(np.array([row]))
                self._report(row, clock, 1)
            else:
                self._report(row, clock, -1)
                self._crowd.stand_down(row)

    def answer(self, clock: int) -> Fanout:
        """The results that are in the answer at ``clock``.

        With a non-retroactive table these are made by the rules that were there when they came.
        """
        table = self._past
        if table is None:
            return self._crowd.answer(clock)
        died = table.held(DEATH[0])
        recent = np.flatnonzero((died < FOREVER) & (died > clock - self._lifespan_us))
        gone = table.ids(recent + table.first)
        self._stand_for(gone)
        fanout = self._crowd.answer(clock)
        for row in gone.tolist():
            self._crowd.stand_down(row)
        rules = table.positions(self._crowd.rules_of(fanout))
        ts, seq = (lane[fanout.rows] for lane in (fanout.batch.ts, fanout.batch.seq))
        came = before(table.lane_at("ts", rules), table.lane_at("seq", rules), ts, seq)
        return fanout.only(came & before(ts, seq, *(table.lane_at(lane, rules) for lane in DEATH)))

    def _there(self) -> Array:
        positions = np.arange(self._table.first, self._table.end)
        if isinstance(self._table, TableStem):
            positions = positions[self._table.held(DEATH[0]) == FOREVER]
        return self._table.ids(positions)

    def _stand_for(self, rows: Array) -> None:
        columns = [self._table.gather(i, rows).to_pylist() for i in range(len(self._table.schema))]
        for row, *values in zip(rows.tolist(), *columns, strict=True):
            filters = substitute(self._part.filters, values)
            residual = substitute(self._part.residual, values)
            self._crowd.stand_for(row, replace(self._part, filters=filters, residual=residual))

    def _report(self, row: int, clock: int, sign: int) -> None:
        """Say that the results of a row enter the answer, or leave it."""
        if not self._retroactive:
            return
        fanout = self._crowd.answer(clock, [row])
        n = len(fanout.batch)
        batch = replace(
            fanout.batch,
            ts=np.full(n, clock, np.int64),
            sign=np.full(n, sign, np.int8),
            pair=None,
        )
        self._crowd.report(Fanout(batch, fanout.rows, fanout.starts, fanout.exp))
