"""GROUP BY: the changelog of groups, whatever makes their rows enter and leave."""

from __future__ import annotations

import random

import numpy as np
import pyarrow as pa
import pytest

from eddyline.runtime.aggregates import Count
from eddyline.runtime.aggregates.sums import SumInt
from eddyline.runtime.operators.base import Operator
from eddyline.runtime.operators.group import GroupBy
from eddyline.runtime.operators.group_aggregates import AggregateColumn, GroupKeys
from eddyline.runtime.operators.group_timelines import OwnTimeline
from eddyline.runtime.operators.group_values import GroupValues
from eddyline.runtime.stores.expiry import ListStore
from operator_cases import Run, column, expect, in_chunks, random_changes


def counted(
    source: Operator, *, keyed: bool = True, retract: bool = True, count: bool = True
) -> GroupBy:
    """COUNT(*), or not, and SUM of the last column, by the first column or of all rows."""
    columns = [AggregateColumn(Count(), None)] * count
    columns.append(AggregateColumn(SumInt(), column(-1)))
    lanes = [d for c in columns for d in c.aggregate.dtypes]
    expiries = ListStore([np.int64, np.int64, np.int64, np.int8, np.int64, *lanes])
    keys = GroupKeys((column(0),), (pa.int64(),), ()) if keyed else GroupKeys((), (), ())
    values = GroupValues(keys, columns, retract=retract)
    return GroupBy(source, keys, values, OwnTimeline(keys.types, expiries, 1))


def test_a_group_is_there_while_it_has_rows() -> None:
    run = Run(counted, 2)
    expect(
        run.chunk("2s", "_op|_ts|_exp|k|v\n+|1s|4s|1|7\n+|2s|5s|1|8\n+|2s|3s|2|9"),
        """_op|_ts|_exp|k|n|s
           +  | 1s| .  |1|1|7
           -  | 2s| .  |1|1|7
           +  | 2s| .  |1|2|15
           +  | 2s| .  |2|1|9""",
    )
    assert run.live("2s") == [(1, 2, 15), (2, 1, 9)]
    run.restart()
    expect(
        run.chunk("9s"),
        """_op|_ts|_exp|k|n|s
           -  | 3s| .  |2|1|9
           -  | 4s| .  |1|2|15
           +  | 4s| .  |1|1|8
           -  | 5s| .  |1|1|8""",
    )
    assert run.live("9s") == []
    assert run.operator.kept() == 0


def test_a_row_that_is_taken_back_does_not_leave_again() -> None:
    run = Run(counted, 2)
    run.chunk("2s", "_op|_ts|_exp|k|v\n+|1s|9s|1|7\n+|1s|9s|1|8")
    expect(
        run.chunk("3s", "_op|_ts|_exp|k|v\n-|3s|9s|1|7"),
        "_op|_ts|_exp|k|n|s\n-|3s|.|1|2|15\n+|3s|.|1|1|8",
    )
    expect(run.chunk("20s"), "_op|_ts|_exp|k|n|s\n-|9s|.|1|1|8")


def test_rows_of_one_instant_are_one_change_of_their_group() -> None:
    run = Run(counted, 2)
    run.chunk("1s", "_op|_ts|_exp|k|v\n+|1s|3s|1|7\n+|1s|3s|1|8")
    expect(run.chunk("3s"), "_op|_ts|_exp|k|n|s\n-|3s|.|1|2|15")


def test_without_retractions_new_rows_replace_older_ones() -> None:
    run = Run(lambda source: counted(source, retract=False), 2)
    out = run.chunk("2s", "_op|_ts|_exp|k|v\n+|1s|4s|1|7\n+|2s|9s|1|8")
    expect(out, "_op|_ts|_exp|k|n|s\n+|1s|.|1|1|7\n+|2s|.|1|2|15")
    expect(run.chunk("9s"), "_op|_ts|_exp|k|n|s\n+|4s|.|1|1|8\n-|9s|.|1|1|8")


def test_one_group_without_keys_stays_when_it_is_empty() -> None:
    run = Run(lambda source: counted(source, keyed=False), 1)
    run.chunk("1s", "_op|_ts|_exp|v\n+|1s|3s|7")
    assert run.live("1s") == [(1, 7)]
    run.chunk("3s")
    assert run.live("3s") == [(0, None)]


def test_rows_that_do_not_change_the_one_group_without_keys_do_not_repeat_it() -> None:
    run = Run(lambda source: counted(source, keyed=False, count=False), 1)
    expect(run.chunk("2s", "_op|_ts|_exp|v\n+|1s|3s|.\n+|1s|3s|."), "_op|_ts|_exp|s\n+|1s|.|.")
    expect(run.chunk("3s"), "_op|_ts|_exp|s")


@pytest.mark.parametrize("seed", range(5))
def test_chunks_and_restarts_make_no_difference(seed: int) -> None:
    rows = random_changes(random.Random(seed), 40, strict=True)
    ends = [2_500_000 * n for n in range(1, 10)]
    whole = in_chunks(Run(counted, 1), [rows], ends[-1:])
    assert in_chunks(Run(counted, 1), [rows], ends, restart=True) == whole
