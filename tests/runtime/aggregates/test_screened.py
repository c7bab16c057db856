"""Aggregates that report only what readers ask for report these values as they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pytest

from eddyline.kernels import moments
from eddyline.kernels.aggregates import SignedRows
from eddyline.runtime.aggregates.counts import Count
from eddyline.runtime.aggregates.extremes import QueuedExtreme
from eddyline.runtime.aggregates.sums import Moments, SumInt
from eddyline.runtime.stores.columns import Array

GROUPS = 5
Screened: TypeAlias = Count | SumInt | Moments | QueuedExtreme
KINDS: dict[str, Callable[[], Screened]] = {
    "COUNT": lambda: Count(),
    "SUM of integers": lambda: SumInt(),
    "SUM": lambda: Moments(moments.SUM),
    "AVG": lambda: Moments(moments.AVG),
    "STDDEV": lambda: Moments(moments.STDDEV),
    "STDDEV_POP": lambda: Moments(moments.STDDEV_POP),
    "VAR_SAMP": lambda: Moments(moments.VAR_SAMP),
    "VAR_POP": lambda: Moments(moments.VAR_POP),
    "MIN": lambda: QueuedExtreme(pa.int64(), largest=False),
    "MAX of doubles": lambda: QueuedExtreme(pa.float64(), largest=True),
}


def moves(random: np.random.Generator, whole: bool) -> tuple[Array, Array, pa.Array]:
    """Rows that enter groups and leave them in the order in which they came: groups, signs, values
    with NULLs; of doubles some are large, tiny, infinite or NaN.
    """
    rows = 60
    group = random.integers(GROUPS, size=rows)
    value = random.integers(-4, 9, size=rows).astype(np.float64)
    if not whole:
        value *= random.choice([1.0, 1.0, 0.5, 0.1, 1e150], size=rows)
        odd = random.random(rows) < 0.03
        value[odd] = random.choice([np.nan, np.inf, -np.inf], size=int(odd.sum()))
    null = random.random(rows) < 0.1
    order, left = [], 0
    for i in range(rows):
        order.append((i, 1))
        while left <= i and random.random() < 0.45:
            order.append((left, -1))
            left += 1
    place = np.array([i for i, _ in order])
    values = pa.array(value, mask=null, from_pandas=False)
    values = values.cast(pa.int64()) if whole else values
    return group[place], np.array([s for _, s in order], np.int8), values.take(pa.array(place))


@pytest.mark.parametrize("kind", KINDS)
def test_no_more_is_reported_than_is_asked_for(kind: str) -> None:
    """Of values that are far from the limits."""
    random = np.random.default_rng(len(kind))
    whole = kind in ("SUM of integers", "MIN", "COUNT")
    slot = random.integers(GROUPS, size=4_000)
    value = pa.array(random.integers(0, 9, 4_000) if whole else random.random(4_000) * 0.1 + 20)
    sign = np.ones(4_000, np.int8)
    screened = KINDS[kind]()
    high = screened.limit(1e9)
    assert not run(screened, slot, sign, value, True, -np.inf, high)[0].size


def run(
    aggregate: Count | SumInt | Moments | QueuedExtreme,
    slot: Array,
    sign: Array,
    values: pa.Array,
    *limits: Any,
) -> tuple[Array, list[Any], list[Any]]:
    """Where something is reported, and the values then and before."""
    aggregate.grow(GROUPS)
    rows = SignedRows(slot, sign, np.ones(slot.size, np.bool_), *limits)
    reported = aggregate.run(rows, aggregate.lanes(slot, values))
    return np.flatnonzero(rows.emit), reported.new.to_pylist(), reported.old.to_pylist()


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_asked_for_is_reported_as_it_is(kind: str, seed: int) -> None:
    random = np.random.default_rng([seed, len(kind)])
    low, high = sorted(random.choice([-30.0, -3.0, 0.0, 1.0, 2.5, 3.0, 4.0, 40.0, 1e9], size=2))
    if random.random() < 0.3:
        low = -np.inf
    slot, sign, values = moves(random, whole=kind in ("SUM of integers", "MIN", "COUNT"))
    _, everything, _ = run(KINDS[kind](), slot, sign, values)
    screened = KINDS[kind]()
    limits = [
        limit if np.isinf(limit) else screened.limit(limit) for limit in (float(low), float(high))
    ]
    rows, new, old = run(screened, slot, sign, values, True, *limits)
    found = dict(zip(rows.tolist(), zip(map(repr, new), map(repr, old), strict=True), strict=True))

    def is_asked_for(value: float | None) -> bool:
        if value is None:
            return False
        return not value < high or (low > -np.inf and value <= low)

    shown: dict[int, float | None] = {}
    for row, (group, value) in enumerate(zip(slot.tolist(), everything, strict=True)):
        before = shown.get(group, 0 if kind == "COUNT" else None)
        if is_asked_for(value) or is_asked_for(before):
            assert found[row] == (repr(value), repr(before)), (row, group)
        if row in found:
            shown[group] = value
    if kind in ("MIN", "COUNT", "SUM of integers"):
        assert all(is_asked_for(x) or is_asked_for(y) for x, y in zip(new, old, strict=True))
