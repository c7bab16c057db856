"""Union, join and matching: what their inputs' changes bring about, compared with recomputation."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from eddyline.kernels.matching import ANTI, NEGATION, SEMI
from eddyline.runtime.join_inputs.join_input import JoinInput
from eddyline.runtime.operators.base import Operator
from eddyline.runtime.operators.join import Join
from eddyline.runtime.operators.matching import Matching, MatchInput, MatchKeys
from eddyline.runtime.operators.union import Union
from eddyline.runtime.stores.expiry import ListStore
from eddyline.runtime.stores.intermediates import ResultRows
from operator_cases import Change, Run, column, expect, in_chunks, random_changes

ENDS = [2_500_000 * n for n in range(1, 10)]


def union(left: Operator, right: Operator) -> Operator:
    return Union((left, right))


def join(left: Operator, right: Operator) -> Operator:
    rows = [JoinInput(ResultRows(1, strict=True), [column(0)]) for _ in "lr"]
    return Join(left, right, (rows[0], rows[1]), None)


def matching(rule: int) -> Callable[[Operator, Operator], Operator]:
    def make(left: Operator, right: Operator) -> Operator:
        keys = MatchKeys((pa.int64(),), (column(0),), (column(0),), nulls_match=False)
        inputs = (
            MatchInput(ListStore([np.int64] * 3), 1),
            MatchInput(ListStore([np.int64, np.int64, np.int64, np.int8, np.int64]), 1),
        )
        return Matching(left, right, rule, keys, inputs, 1)

    return make


def joined(left: Counter[Any], right: Counter[Any]) -> Counter[Any]:
    return Counter({(k, k): n * right[k,] for (k,), n in left.items() if right[k,]})


def without(left: Counter[Any], right: Counter[Any]) -> Counter[Any]:
    return left - right


def having(left: Counter[Any], right: Counter[Any]) -> Counter[Any]:
    return Counter({k: n for k, n in left.items() if right[k]})


def lacking(left: Counter[Any], right: Counter[Any]) -> Counter[Any]:
    return Counter({k: n for k, n in left.items() if not right[k]})


def both(left: Counter[Any], right: Counter[Any]) -> Counter[Any]:
    return left + right


OPERATORS: dict[str, tuple[Any, Any]] = {
    "union": (union, both),
    "join": (join, joined),
    "negation": (matching(NEGATION), without),
    "semi join": (matching(SEMI), having),
    "anti join": (matching(ANTI), lacking),
}


def alive(changes: Sequence[Change], at: int) -> Counter[Any]:
    """The rows that changes leave alive at an instant."""
    bag: Counter[Any] = Counter()
    for sign, ts, exp, values in changes:
        if ts <= at < exp:
            bag[values] += sign
    return +bag


def test_union_merges_by_time() -> None:
    run = Run(union, 1, 1)
    out = run.chunk(
        "9s", "_op|_ts|_exp|v\n+|1s|5s|1\n+|3s|.|2", "_op|_ts|_exp|v\n+|2s|4s|1\n-|3s|4s|1"
    )
    expect(out, "_op|_ts|_exp|v\n+|1s|5s|1\n+|2s|4s|1\n+|3s|.|2\n-|3s|4s|1")
    assert run.live("4s") == [(1,), (2,)]


def test_a_result_of_a_join_expires_with_the_first_of_its_rows() -> None:
    run = Run(join, 2, 2)
    out = run.chunk(
        "2s", "_op|_ts|_exp|k|v\n+|1s|5s|1|7", "_op|_ts|_exp|k|w\n+|2s|4s|1|8\n+|2s|9s|2|9"
    )
    expect(out, "_op|_ts|_exp|k|v|k2|w\n+|2s|4s|1|7|1|8")
    run.restart()
    out = run.chunk("3s", "_op|_ts|_exp|k|v\n+|3s|6s|2|6\n-|3s|5s|1|7")
    expect(out, "_op|_ts|_exp|k|v|k2|w\n+|3s|6s|2|6|2|9\n-|3s|4s|1|7|1|8")
    assert run.live("3s") == [(2, 6, 2, 9)]


def test_rows_with_null_keys_match_nothing() -> None:
    run = Run(join, 1, 1)
    assert run.chunk("1s", "_op|_ts|_exp|k:int\n+|1s|5s|.", "_op|_ts|_exp|k:int\n+|1s|5s|.") == []


def test_negation_takes_a_row_back_when_a_right_row_matches_it() -> None:
    run = Run(matching(NEGATION), 1, 1)
    expect(
        run.chunk("1s", "_op|_ts|_exp|k\n+|1s|9s|1\n+|1s|9s|2"),
        "_op|_ts|_exp|k\n+|1s|9s|1\n+|1s|9s|2",
    )
    run.restart()
    expect(run.chunk("2s", "", "_op|_ts|_exp|k\n+|2s|5s|1"), "_op|_ts|_exp|k\n-|2s|9s|1")
    expect(run.chunk("6s"), "_op|_ts|_exp|k\n+|5s|9s|1")
    assert run.live("6s") == [(1,), (2,)]
    run.chunk("20s")
    assert run.live("20s") == []
    assert run.operator.kept() == 0


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", OPERATORS)
def test_answers_are_those_of_recomputation(name: str, seed: int) -> None:
    make, expected = OPERATORS[name]
    luck = random.Random(f"{name} {seed}")
    left, right = (random_changes(luck, 30, strict=True) for _ in "lr")
    out = in_chunks(Run(make, 1, 1), [left, right], ENDS, restart=seed % 2 == 1)
    for at in range(250_000, ENDS[-1], 500_000):
        assert alive(out, at) == expected(alive(left, at), alive(right, at)), at
    whole = in_chunks(Run(make, 1, 1), [left, right], ENDS[-1:])
    for at in range(0, ENDS[-1], 500_000):
        assert alive(out, at) == alive(whole, at), at
