"""GROUP BY of the rows of one stream, for queries with filters and windows of their own.

Rows are kept in lists (``row_lists.py``), so what a query costs is an entry per row and filter, and
a few additions per row and window. Where HAVING is a comparison that cannot become true of a group
in a call, the group's rows are added up without looking at each instant; what is emitted is what
``GroupBy`` emits, over rows with the number of the query as their first key.

Source: shared sliding-window aggregates after Krishnamurthy et al. 2006 share the rows that
queries hold; here filters differ as well, and are shared by lineage (Madden et al. 2002).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
import pyarrow as pa

from eddyline.kernels import shared_groups as kernels
from eddyline.kernels.row_lists import NONE
from eddyline.kernels.row_lists import received as received_rows
from eddyline.runtime.batch import EXPIRY, Batch, Evaluator, merge_apart
from eddyline.runtime.constants import Constants
from eddyline.runtime.eddy.dormant_lists import DormantLists
from eddyline.runtime.eddy.entering_rows import EnteringRows
from eddyline.runtime.eddy.filter_flow import FilterFlow
from eddyline.runtime.eddy.quiet_windows import QuietWindows, Terms
from eddyline.runtime.eddy.row_lists import RowLists
from eddyline.runtime.eddy.takes_flow import TakesFlow
from eddyline.runtime.failures import collecting, report
from eddyline.runtime.operators.base import Tick
from eddyline.runtime.operators.group_aggregates import GroupKeys, Naming
from eddyline.runtime.operators.group_values import GroupRows, GroupValues
from eddyline.runtime.state import State, array, nested
from eddyline.runtime.stores.columns import Array, order_by, unique
from eddyline.runtime.stores.slots import SlotArray
from eddyline.types import BEGINNING

#: Most rows that are grouped at once when a query is added.
_MOST_ROWS: Final = 1 << 20
#: The id of a group's row is the number of the query, and the group in these bits.
_GROUP_BITS: Final = 40

Kind = Literal["sum", "mean", "count"]


@dataclass(frozen=True, slots=True)
class Comparison:
    """A condition of HAVING: whether an aggregate is above, or below, a constant.

    Attributes:
        column: the number of the aggregate. kind: what it is.
        above: whether above. constants, constant: the constant of each query.
    """

    column: int
    kind: Kind
    above: bool
    constants: Constants
    constant: int

    def terms(self, queries: int) -> tuple[float, Array, Array]:
        """Slope, and float64[queries] weights and offsets, so that the condition is ``slope * sum +
        weight * count + offset > 0``, or ``>= 0``.
        """
        sign = 1.0 if self.above else -1.0
        bound = np.zeros(queries)
        known = self.constants.floats(self.constant)[:queries]
        bound[: known.size] = known
        nothing = np.zeros(queries)
        if self.kind == "sum":
            return sign, nothing, -sign * bound
        if self.kind == "mean":
            return sign, -sign * bound, nothing
        return 0.0, np.full(queries, sign), -sign * bound


class SharedGroups(TakesFlow):
    """Groups of the queries of a flow, by the number of each.

    Args:
        flow: over one stream, with a time window per query.
        outputs: columns of its rows, or how to compute them: what keys and values are made of,
            behind the number of the query.
        keys: what the rows are grouped by; the first one is the number of the query.
        values: the aggregates, all of which are ``ByRow``.
        comparison: what HAVING requires of a group; None: nothing that is known.
    """

    def __init__(
        self,
        flow: FilterFlow,
        outputs: Sequence[int | Evaluator],
        keys: GroupKeys,
        values: GroupValues,
        comparison: Comparison | None = None,
    ) -> None:
        super().__init__()
        self._flow = flow
        self._rows_of = EnteringRows(flow, outputs, keys, values)
        self._groups = self._rows_of.groups
        self._values = values
        self._comparison = comparison
        dtypes = [d for c in values.columns for d in c.aggregate.dtypes]
        self._lists = RowLists(dtypes, self._move)
        self._quiet = None if comparison is None else QuietWindows(self._lists)
        self._dormant = None if comparison is None else DormantLists(flow, self, self._lists)
        self._loud = SlotArray(np.int8)
        self._numbers: dict[int, int] = {}  # by bit
        self._list_of: dict[object, int] = {}  # by what rows qualify
        self._accepted_by: dict[int, object] = {}  # by list
        self._lists_by_bit: Array | None = None  # see ``_by_recipient``
        self._has_unused = False  # groups without rows in a list

    # -- queries -------------------------------------------------------

    def admit(self, bit: int, number: int) -> None:
        """Add the query with this bit and number."""
        member = self._flow.list_once(self, bit)
        if member.accepts not in self._list_of:
            mine = self._lists.add_list()
            self._list_of[member.accepts], self._accepted_by[mine] = mine, member.accepts
            if self._dormant is not None:
                self._dormant.add_list(mine, member.accepts)
        self._lists.add_window(number, self._list_of[member.accepts], member.windows[0])
        self._numbers[bit] = number
        if self._lists_by_bit is not None and bit < self._lists_by_bit.size:
            self._lists_by_bit[bit] = self._lists.list_of(number)

    def dismiss(self, bit: int) -> None:
        """Remove a query with its groups."""
        number = self._numbers.pop(bit)
        self._lists_by_bit = None
        lists = self._lists
        mine = lists.list_of(number)
        cells = lists.cells_of(np.array([number]))
        self._values.forget(cells)
        if self._quiet is not None:
            self._quiet.forget(cells)
        self._release(lists.remove_window(number))
        if not lists.has_list(mine):
            del self._list_of[self._accepted_by.pop(mine)]
            if self._dormant is not None:
                self._dormant.remove_list(mine)

    def bring_up(self, bits: Sequence[int], clock: int) -> Batch:
        """Group the rows that the flow holds for queries that have just been added.

        Returns:
            The changes of their groups.
        """
        lists, new = self._lists, {self._numbers[b]: b for b in bits}
        if self._dormant is not None:
            dormant = self._dormant.dormant & {lists.list_of(n) for n in new}
            self._fill(dormant, None, clock, new)
        missing: list[int] = []  # the bits of queries whose list has not all of their rows
        gone: list[Array] = []
        for mine in {lists.list_of(n) for n in new}:
            windows = lists.windows_of(mine)
            fresh, older = [w for w in windows if w in new], [w for w in windows if w not in new]
            longest = lists.longest([*older, *fresh])  # an older one of equals
            if longest in older:
                for window in fresh:
                    lists.follow(window, longest, clock)
            else:
                missing.append(new[longest])
                if older:
                    gone.append(lists.empty(mine, lists.longest(older)))
        if missing:
            with collecting() as failures:
                grown = self._enter(self._flow.answer(clock, missing))
            for failure in failures:
                if failure.bits is not None:  # for the others the rows have been reported
                    report(failure.take(np.flatnonzero(np.isin(failure.bits, bits))))
            refilled = [
                w for b in missing for w in lists.windows_of(lists.list_of(self._numbers[b]))
            ]
            lists.advance(clock, np.array(refilled, np.int64), grown)
        for groups in gone:
            self._release(groups)
        self._grow()
        out = [_in_time(self._filled(w, at)) for w in new for at in lists.pieces(w, _MOST_ROWS)]
        self._values.settle()
        self.clock = clock
        return merge_apart(out)

    def _filled(self, number: int, at: tuple[int, int, int]) -> Batch:
        """The changes of a query's groups when rows that its window holds enter them.

        Args:
            at: the block and the place of the first entry, and their number.
        """
        lists = self._lists
        cell, row = lists.held(number, at)
        plus = np.ones(cell.size, np.int8)
        lanes = [lane.array[row] for lane in lists.lanes]
        ts, seq = lists.ts.array[row], lists.seq.array[row]
        out, _ = self._values.run(GroupRows(ts, seq, cell, plus), lanes, self._named)
        return out

    # -- rows ----------------------------------------------------------

    def process(self, batches: Sequence[Batch], tick: Tick) -> Batch:
        lists, since = self._lists, self.clock
        grown = self._enter_call(batches[0], tick.clock)
        spans = lists.advance(tick.clock, lists.present, grown)
        self._grow()
        walk = lists.walk(grown, spans, self._loud.array)
        any_loud = self._watch(walk)
        instants = lists.ts.array, lists.seq.array
        ts, seq, cell, sign, row = kernels.collect(any_loud, *instants, EXPIRY, walk)
        kernels.unmark(any_loud, walk)
        lanes = [lane.array[row] for lane in lists.lanes]
        out, _ = self._values.run(GroupRows(ts, seq, cell, sign), lanes, self._named)
        if self._quiet is not None:
            self._quiet.processed(cell)
        self._release(lists.leave(spans))
        self._values.settle()
        if self._dormant is not None:
            for number in self._dormant.fall_dormant(any_loud, self._terms, since, tick.clock):
                self._empty(number)
            self._dormant.begin(tick.clock, self._terms)
        return _in_time(out)

    def live(self, clock: int) -> Batch:
        wanted = self._lists.present if self._asked is None else self._asked
        cells = self._lists.cells_of(wanted)
        cells = cells[self._members[cells] > 0]
        return self._values.rows(cells, clock, self._named)

    def _enter(self, batch: Batch) -> Array:
        """Put the rows of a batch of the flow into lists; ``RowLists.enter``."""
        assert batch.recipients is not None, "set by the flow"
        list_of = self._by_recipient(batch.recipients.width)
        return self._lists.enter(self._rows_of.read(batch, list_of))

    def _enter_call(self, batch: Batch, clock: int) -> Array:
        """The same in a call: dormant lists that have to be filled have their rows from before it,
        then.
        """
        to, dormant, compared = batch.recipients, self._dormant, self._comparison
        lineage = None if to is None else to.lineages.get(self)
        if to is None or dormant is None or compared is None or lineage is None:
            assert dormant is None or not dormant.dormant, "their rows come by lineage only"
            return self._enter(batch)
        list_of = self._by_recipient(to.width)
        wanted = received_rows(to.rows, to.starts, list_of, len(batch)) | (lineage >= 0)
        new = self._rows_of.read_all(batch, wanted, list_of)
        if new is None:
            loud = dormant.end()
        else:
            its = self._values.lanes_by_column(new.lanes)[compared.column]
            rows = new.ts, lineage[wanted], new.group, its[0], its[-1]
            loud = dormant.add(rows, self._terms, self.clock, clock)
        if new is not None and not loud:
            return self._lists.enter(new.received())
        self._fill(loud, int(batch.seq[0]) if len(batch) else None, self.clock)
        return self._enter(self._flow.again(batch))

    def _fill(
        self,
        numbers: Collection[int],
        before: int | None,
        clock: int,
        new: Collection[int] = (),
    ) -> None:
        """Let dormant lists have the rows that they hold at ``clock``.

        Args:
            before: the ``seq`` of the first row that they do not take in; None: there is none.
            new: windows that have no rows yet.
        """
        if not numbers or self._dormant is None:
            return
        lists, bit_of = self._lists, {n: b for b, n in self._numbers.items()}
        windows = [lists.windows_of(n) for n in numbers]
        older = [[w for w in some if w not in new] for some in windows]
        batch = self._flow.answer(clock, [bit_of[lists.longest(some)] for some in older])
        to = batch.recipients
        assert to is not None, "set by the flow"
        if before is not None:
            batch = batch.sent_to(to.only(batch.seq[to.rows] < before))
        with collecting():  # what fails has been reported
            grown = self._enter(batch)
        lists.note_changed(numbers)
        lists.advance(clock, np.array([w for some in windows for w in some]), grown)
        self._grow()
        self._dormant.filled(numbers, clock)

    def _empty(self, number: int) -> None:
        """Let a list have no rows and no groups."""
        lists = self._lists
        windows = lists.windows_of(number)
        cells = lists.cells_of(np.array(windows))
        self._values.forget(cells)
        if self._quiet is not None:
            self._quiet.forget(cells)
        self._release(lists.empty(number, lists.longest(windows), keeps=False))

    def _by_recipient(self, width: int) -> Array:
        """int64[width], by bit of the flow: the list of the query, or NONE."""
        if self._lists_by_bit is None or self._lists_by_bit.size != width:
            self._lists_by_bit = np.full(width, NONE, np.int64)
            for bit, number in self._numbers.items():
                self._lists_by_bit[bit] = self._lists.list_of(number)
        return self._lists_by_bit

    def _watch(self, walk: kernels.Walk) -> Array:
        """Find the cells whose groups may have to be emitted; bool by window, if it has some."""
        compared, quiet = self._comparison, self._quiet
        if compared is None or quiet is None:
            return kernels.mark(walk)
        lanes = [lane.array for lane in self._lists.lanes]
        its = self._values.lanes_by_column(lanes)[compared.column]
        any_loud, missing = quiet.watch(self._terms, its[0], its[-1], walk)
        if len(missing):
            cells, rows = quiet.rows_of(missing, walk)
            self._values.set_rows(missing[:, 0], cells, [lane[rows] for lane in lanes])
        return any_loud

    @property
    def _terms(self) -> Terms:
        """Slope, weights and offsets of the condition."""
        assert self._comparison is not None, "there is one"
        slope, weights, offsets = self._comparison.terms(self._lists.windows.end)
        if not self._values.cannot_fail():
            offsets = np.full(offsets.size, np.inf)
        return slope, weights, offsets

    @property
    def _named(self) -> Naming:
        return Naming(self._rows, lambda cells: self._lists.named(cells)[0])

    def _rows(self, cells: Array) -> tuple[Array, list[pa.Array]]:
        """The ids of groups' rows; and the numbers of queries and the keys."""
        number, group = self._lists.named(cells)
        return number << _GROUP_BITS | group, [pa.array(number), *self._groups.keys(group)]

    def _grow(self) -> None:
        self._values.grow(self._lists.cells)
        self._loud.grow(self._lists.cells)

    def _move(self, cells: Array, to: Array) -> None:
        """Move what is known of cells to others."""
        self._values.move(cells, to)
        if self._quiet is not None:
            self._quiet.move(cells, to)

    def _release(self, groups: Array) -> None:
        """Give back groups without rows. While lists are watched, all are kept."""
        if self._dormant is not None and self._dormant.is_watching:
            self._has_unused = True
            return
        of_group = self._lists.of_group
        if self._has_unused:
            of_group.grow(self._groups.end)
            groups, self._has_unused = self._groups.used(), False
        self._groups.release(unique(groups[of_group.array[groups] == 0]))

    @property
    def _members(self) -> Array:
        """int64 by cell."""
        return self._values.members.count

    # -- the rest of an operator ---------------------------------------

    def kept(self) -> int:
        return len(self._lists)

    def state(self) -> State:
        return {"table": self._groups.state(), "clock": np.array([self.clock])}

    def restore(self, state: State) -> None:
        """The queries have been added, with the numbers that they had; rows come from the flow."""
        self._groups.restore(nested(state, "table"))
        self.clock = int(array(state, "clock")[0])
        if self._numbers and self.clock > BEGINNING:
            with collecting():  # what fails has been reported
                self.bring_up(list(self._numbers), self.clock)
        used = self._groups.used()
        self._lists.of_group.grow(self._groups.end)
        self._release(used)


def _in_time(batch: Batch) -> Batch:
    """Changes in the order of time; those of a group at an instant stay together."""
    return batch.take(order_by(batch.ts, batch.seq))
