"""Expire, Distinct, snapshots, views, filters and projections, one operator at a time."""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from eddyline.runtime.operators.base import Operator
from eddyline.runtime.operators.distinct import ClassicDistinct, Distinct
from eddyline.runtime.operators.expire import Expire, WithoutExpiries
from eddyline.runtime.operators.snapshots import Snapshots
from eddyline.runtime.operators.spool import Spool
from eddyline.runtime.operators.stateless import Filter, Project
from eddyline.runtime.operators.view import ExpiringView, KeyedView
from eddyline.runtime.stores.answers import AnswerCalendar, AnswerList
from eddyline.runtime.stores.expiry import ListStore, PartitionedStore
from eddyline.types import Field
from operator_cases import Run, column, expect, in_chunks, random_changes

ENDS = [2_500_000 * n for n in range(1, 10)]


def expire(source: Operator) -> Operator:
    return Expire(source, ListStore([np.int64, np.int64, np.int8, np.int64]))


def distinct(source: Operator) -> Operator:
    return Distinct(source, [pa.int64()], PartitionedStore([np.int64] * 3, 1_000_000))


def classic_distinct(source: Operator) -> Operator:
    return ClassicDistinct(source, [pa.int64()], ListStore([np.int64] * 3))


def snapshots(source: Operator) -> Operator:
    return Snapshots(source, 2_000_000)


def test_expire_takes_each_row_back_at_its_expiry() -> None:
    run = Run(expire, 1)
    expect(
        run.chunk("3s", "_op|_ts|_exp|v\n+|1s|4s|7\n+|2s|3s|8\n+|2s|.|9"),
        """_op|_ts|_exp|v
           +  | 1s| 4s | 7
           +  | 2s| 3s | 8
           +  | 2s| .  | 9
           -  | 3s| 3s | 8""",
    )
    assert run.operator.kept() == 1
    run.restart()
    expect(run.chunk("9s"), "_op|_ts|_exp|v\n-|4s|4s|7")
    assert run.operator.kept() == 0


def test_expire_takes_no_row_back_twice() -> None:
    run = Run(expire, 1)
    out = run.chunk("9s", "_op|_ts|_exp|v\n+|1s|4s|7\n-|2s|4s|7")
    expect(out, "_op|_ts|_exp|v\n+|1s|4s|7\n-|2s|4s|7")


def test_foretold_leaves_out_what_the_expiry_says() -> None:
    run = Run(WithoutExpiries, 1)
    out = run.chunk("5s", "_op|_ts|_exp|v\n+|1s|4s|7\n+|1s|4s|8\n-|2s|4s|8\n-|4s|4s|7")
    expect(out, "_op|_ts|_exp|v\n+|1s|4s|7\n+|1s|4s|8\n-|2s|4s|8")


@pytest.mark.parametrize("make", [distinct, classic_distinct])
def test_distinct_shows_the_next_duplicate_when_one_expires(
    make: Callable[[Operator], Operator],
) -> None:
    run = Run(make, 1)
    expect(
        run.chunk("2s", "_op|_ts|_exp|v\n+|1s|3s|7\n+|1s|9s|7\n+|2s|5s|7\n+|2s|4s|8"),
        "_op|_ts|_exp|v\n+|1s|3s|7\n+|2s|4s|8",
    )
    assert run.live("2s") == [(7,), (8,)]
    run.restart()
    expect(run.chunk("8s"), "_op|_ts|_exp|v\n+|3s|9s|7")
    assert run.live("8s") == [(7,)]
    expect(run.chunk("20s"), "")
    assert run.operator.kept() == 0


def test_snapshots_hold_what_is_alive_at_each_tick() -> None:
    run = Run(snapshots, 1)
    expect(
        run.chunk("3s", "_op|_ts|_exp|v\n+|1s|5s|7\n+|2s|3s|8"),
        "_op|_ts|_exp|v\n+|2s|4s|7\n+|2s|4s|8",
    )
    run.restart()
    expect(run.chunk("9s", "_op|_ts|_exp|v\n+|4s|20s|9\n-|7s|20s|9"),
           "_op|_ts|_exp|v\n+|4s|6s|7\n+|4s|6s|9\n+|6s|8s|9")  # fmt: skip


@pytest.mark.parametrize(
    "make",
    [
        lambda source: ExpiringView(source, AnswerList(5), 1, strict=True),
        lambda source: ExpiringView(source, AnswerCalendar(5, 4, 5_000_000), 1, strict=True),
        lambda source: KeyedView(expire(source), 1),
    ],
    ids=["list", "calendar", "by key"],
)
def test_views_hold_the_rows_in_the_answer(make: Callable[[Operator], Operator]) -> None:
    run = Run(make, 1)
    run.chunk("2s", "_op|_ts|_exp|v\n+|1s|4s|7\n+|1s|5s|8\n-|2s|4s|7")
    assert run.live("2s") == [(8,)]
    run.restart()
    run.chunk("3s", "_op|_ts|_exp|v\n+|3s|6s|9\n-|3s|5s|8")
    assert run.live("3s") == [(9,)]


def test_filter_and_project_treat_both_signs_alike() -> None:
    rows = "_op|_ts|_exp|k|v\n+|1s|4s|1|7\n+|1s|4s|2|8\n-|2s|4s|2|8\n-|3s|4s|1|7"
    run = Run(lambda s: Filter(s, lambda b: b.column(1).to_numpy() > 7), 2)
    expect(run.chunk("3s", rows), "_op|_ts|_exp|k|v\n+|1s|4s|2|8\n-|2s|4s|2|8")
    run = Run(lambda s: Project(s, [1, lambda b: pc.add(b.column(0), b.column(1))]), 2)
    out = run.chunk("2s", "_op|_ts|_exp|k|v\n+|1s|4s|1|7\n-|2s|4s|1|7")
    expect(out, "_op|_ts|_exp|v|sum\n+|1s|4s|7|8\n-|2s|4s|7|8")


@pytest.mark.parametrize("strict", [True, False])
def test_a_spool_passes_a_deletion_on_with_the_row_of_its_insertion(strict: bool) -> None:
    """Also where none was expected: the rows get an index then."""
    run = Run(lambda s: Spool(s, (Field("v", pa.int64()),), 1, strict=strict), 1)
    run.chunk("1s", "_op|_ts|_exp|v\n+|1s|9s|7\n+|1s|9s|8\n+|1s|9s|9")
    assert run.operator.kept() == 3
    for second, value, left in [(2, 7, [(8,), (9,)]), (3, 9, [(8,)])]:
        run.restart()
        change = f"_op|_ts|_exp|v\n-|{second}s|9s|{value}"
        expect(run.chunk(f"{second}s", change), change)
        assert run.live(f"{second}s") == left


@pytest.mark.parametrize("make", [expire, distinct, snapshots], ids=lambda f: f.__name__)
@pytest.mark.parametrize("seed", range(5))
def test_chunks_and_restarts_make_no_difference(
    make: Callable[[Operator], Operator], seed: int
) -> None:
    rows = random_changes(random.Random(seed), 30, strict=make is not distinct)
    whole = in_chunks(Run(make, 1), [rows], ENDS[-1:])
    parts = in_chunks(Run(make, 1), [rows], ENDS, restart=True)
    assert sorted(parts) == sorted(whole)
    assert whole


def test_column_reads_what_a_row_holds() -> None:
    run = Run(lambda s: Filter(s, lambda b: pc.equal(column(0)(b), 1).to_numpy(False)), 1)
    expect(run.chunk("1s", "_op|_ts|_exp|v\n+|1s|.|1\n+|1s|.|2"), "_op|_ts|_exp|v\n+|1s|.|1")
