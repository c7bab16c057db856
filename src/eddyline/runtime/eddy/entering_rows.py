"""What lists of rows keep of the rows of a flow: their groups, and the arguments of aggregates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from eddyline.kernels.row_lists import NONE
from eddyline.kernels.row_lists import received as received_rows
from eddyline.runtime.batch import Batch, Evaluator, select_list
from eddyline.runtime.eddy.filter_flow import FilterFlow
from eddyline.runtime.failures import collecting, report
from eddyline.runtime.operators.group_aggregates import GroupKeys
from eddyline.runtime.operators.group_values import GroupValues
from eddyline.runtime.recipients import Recipients, all_for
from eddyline.runtime.stores.columns import Array, all_of
from eddyline.runtime.stores.keytable import KeyTable


@dataclass(frozen=True, slots=True)
class NewRows:
    """Rows of which each enters some list.

    Attributes:
        ts, seq, group: int64[n]. lanes: what else is kept of them.
        recipients: who gets them. list_of: int64, by recipient the list, or NONE.
    """

    ts: Array
    seq: Array
    group: Array
    lanes: Sequence[Array]
    recipients: Recipients
    list_of: Array

    def received(self) -> NewRows:
        """Those of these rows that enter a list."""
        to = self.recipients
        some = received_rows(to.rows, to.starts, self.list_of, self.ts.size)
        if all_of(some):
            return self
        lanes = [lane[some] for lane in self.lanes]
        kept = self.ts[some], self.seq[some], self.group[some], lanes
        return NewRows(*kept, to.renumbered(some), self.list_of)


class EnteringRows:
    """Reads rows of a flow.

    Args:
        outputs: columns of its rows, or how to compute them: what keys and values are made of,
            behind the number of the query.
        keys: what rows are grouped by; the first one is the number of the query.
        values: the aggregates.

    Attributes:
        groups: the keys of the groups.
    """

    def __init__(
        self,
        flow: FilterFlow,
        outputs: Sequence[int | Evaluator],
        keys: GroupKeys,
        values: GroupValues,
    ) -> None:
        self._flow = flow
        self._outputs = tuple(outputs)
        self._keys = len(keys.evaluators) - 1
        arguments = [c.argument for c in values.columns if c.argument is not None]
        self._computed = (*keys.evaluators[1:], *arguments)
        self._values = values
        self.groups = KeyTable(keys.types[1:])

    def read(self, batch: Batch, list_of: Array) -> NewRows:
        """The rows that enter a list. Those of which keys or arguments cannot be computed are
        reported.

        Args:
            list_of: int64, by recipient the list, or NONE.
        """
        with collecting() as failures:
            batch, columns = self._columns(batch, list_of != NONE)
        for failure in failures:
            report(self._flow.of_all(failure))
        to = batch.recipients
        assert to is not None, "set by the flow"
        received = received_rows(to.rows, to.starts, list_of, len(batch))
        return self._kept(batch, to, columns, received, list_of)

    def read_all(self, batch: Batch, wanted: Array, list_of: Array) -> NewRows | None:
        """These rows (bool[n]), whether they enter a list or not; None if of some of them keys or
        arguments cannot be computed.
        """
        to = batch.recipients
        assert to is not None, "set by the flow"
        one = all_for(0, batch.exp, 1, ()).only(wanted)
        with collecting() as failures:
            read, columns = self._columns(batch.sent_to(one), np.ones(1, np.bool_))
        if any(failure.rows.size for failure in failures):
            return None
        return self._kept(read, to, columns, wanted, list_of)

    def _columns(self, batch: Batch, mine: Array) -> tuple[Batch, list[pa.Array]]:
        """Keys and arguments of rows, for these recipients (bool[width])."""
        batch, columns = select_list(batch, self._outputs, mine)
        number = pa.nulls(len(batch), pa.int64())  # no key or argument reads it
        batch = replace(batch, cells=(number, *columns))
        return select_list(batch, self._computed, mine)

    def _kept(
        self,
        batch: Batch,
        to: Recipients,
        columns: Sequence[pa.Array],
        wanted: Array,
        list_of: Array,
    ) -> NewRows:
        """What is kept of those rows that are wanted."""
        if not all_of(wanted):
            places = np.flatnonzero(wanted)
            to = to.renumbered(wanted)
            batch, columns = batch.take(places), [c.take(pa.array(places)) for c in columns]
        keys, rest = columns[: self._keys], iter(columns[self._keys :])
        arguments = [None if c.argument is None else next(rest) for c in self._values.columns]
        group = self.groups.slots(keys, len(batch))
        lanes = self._values.lanes(group, arguments)
        return NewRows(batch.ts, batch.seq, group, lanes, to, list_of)
