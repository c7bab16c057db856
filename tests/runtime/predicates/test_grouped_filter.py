"""A grouped filter against each predicate applied to each row."""

from __future__ import annotations

import datetime as dt
import math
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eddy_batches import batch_of, bits_of, column, lineage_of, mask_of
from eddyline.algebra.value_sets import (
    NOTHING,
    ONLY_NULL,
    ValueSet,
    above,
    at_least,
    at_most,
    below,
    equal,
    not_equal,
    one_of,
)
from eddyline.errors import DataError
from eddyline.runtime.predicates.grouped_filter import AttributeValues, GroupedFilter
from eddyline.types import TIMESTAMP

INT64 = (-(1 << 63), (1 << 63) - 1)
LONG = "the same in all of them: "


def _instant(us: int) -> dt.datetime:
    return dt.datetime(2026, 1, 1, tzinfo=dt.UTC) + dt.timedelta(microseconds=us)


#: Values of each type, of which some are neighbours and some far out.
VALUES: dict[pa.DataType, list[Any]] = {
    pa.bool_(): [False, True],
    pa.int8(): [-128, -1, 0, 1, 2, 127],
    pa.int64(): [INT64[0], INT64[0] + 1, -5, 0, 1, 2, 7, INT64[1] - 1, INT64[1]],
    pa.float32(): [-math.inf, -1.5, -0.0, 0.0, 1.5, 2.0, math.inf, math.nan],
    pa.float64(): [
        *[-math.inf, -1.7976931348623157e308, -1.0, -5e-324, -0.0, 0.0, 5e-324],
        *[1.0, math.nextafter(1.0, 2.0), 1e300, 1.7976931348623157e308, math.inf, math.nan],
    ],
    TIMESTAMP: [_instant(us) for us in (-(10**15), -1, 0, 1, 10**6)],
    pa.date32(): [
        dt.date(1, 1, 1),
        dt.date(1969, 12, 31),
        dt.date(1970, 1, 1),
        dt.date(9999, 1, 1),
    ],
    pa.decimal128(9, 2): [Decimal(n) for n in ("-9999999.99", "-0.01", "0", "0.01", "12.50")],
    pa.decimal128(38, 3): [
        Decimal(n) for n in (f"-{'9' * 35}.999", "-0.001", "0", "0.001", "12.5", "1" * 30)
    ],
    pa.string(): [
        "",
        "a",
        "a\0",
        "ab",
        "abcdefgh",
        "abcdefgh\0",
        "abcdefghi",
        "b",
        "é",
        "日本",
        "😀",
    ],
    pa.binary(): [b"", b"\0", b"a", b"\x7f", b"\x80", b"\xff", b"\xff\xff"],
}
#: Constants with a long common beginning; values also without it.
COMMON = [LONG + t for t in ("", "a", "abcdefgh1", "abcdefgh2", "z")]

BITS = [0, 1, 63, 64, 65, 127, 128, 1000]


def sets_of(constants: list[Any]) -> st.SearchStrategy[ValueSet]:
    known = [c for c in constants if c == c]
    compared = st.builds(
        lambda make, c: make(c),
        st.sampled_from([above, at_least, below, at_most, equal, not_equal]),
        st.sampled_from(known),
    )
    simple = compared | st.sampled_from([NOTHING, ONLY_NULL]) | st.lists(compared).map(_union)
    return simple | st.lists(st.sampled_from(known)).map(one_of) | simple.map(ValueSet.complement)


def _union(sets: list[ValueSet]) -> ValueSet:
    out = NOTHING
    for s in sets:
        out = out.union(s)
    return out


def accepted(values: list[Any], predicates: dict[int, ValueSet], wanted: Any) -> list[set[int]]:
    """By brute force: the bits left in each row."""
    return [
        {b for b in bits if b not in predicates or v in predicates[b]}
        for v, bits in zip(values, wanted, strict=True)
    ]


CASES = [*VALUES.items(), (pa.string(), [*COMMON, "", LONG[:4], LONG + "zz", "zzz", "A"])]


@pytest.mark.parametrize("case", CASES, ids=lambda c: f"{c[0]}-{len(c[1])}")
@settings(max_examples=40)
@given(data=st.data())
def test_against_each_predicate(case: tuple[pa.DataType, list[Any]], data: st.DataObject) -> None:
    type_, pool = case
    constants = COMMON if LONG in pool else pool
    grouped, predicates = GroupedFilter(column(0, type_)), dict[int, ValueSet]()
    for _ in range(data.draw(st.integers(1, 3))):
        changes = st.dictionaries(st.sampled_from(BITS), st.none() | sets_of(constants))
        for bit, accepts in data.draw(changes).items():
            if accepts is not None:
                grouped.put(bit, accepts)
                predicates[bit] = accepts
            elif bit in predicates:
                grouped.remove(bit)
                del predicates[bit]
        assert grouped.predicates == len(predicates)

        rows = st.tuples(st.none() | st.sampled_from(pool), st.sets(st.sampled_from(BITS)))
        drawn = data.draw(st.lists(rows, max_size=12))
        values, wanted = [v for v, _ in drawn], [w for _, w in drawn]
        if type_ == pa.float32():
            values = [None if v is None else float(np.float32(v)) for v in values]
        lineage = lineage_of(wanted, data.draw(st.integers(16, 17)))
        before = grouped.visited, grouped.returned
        batch = AttributeValues(batch_of(pa.array([None, *values], type_)[1:]))
        numbers = np.arange(len(values))
        left = grouped.narrow(batch, lineage, numbers, numbers, [])

        expected = accepted(values, predicates, wanted)
        assert bits_of(lineage) == expected
        if predicates:
            assert left.tolist() == [i for i, bits in enumerate(expected) if bits]
        visits = [i for i, bits in enumerate(wanted) if bits & predicates.keys()]
        assert grouped.visited - before[0] == len(visits)
        still = [i for i in visits if expected[i] & predicates.keys()]
        assert grouped.returned - before[1] == len(still)


@pytest.mark.parametrize("kind", ["spread", "skewed", "wide"])
@pytest.mark.parametrize("queries", [40, 3000])
def test_many_predicates(kind: str, queries: int) -> None:
    random = np.random.default_rng(queries)
    draw: Any = {
        "spread": lambda n: np.round(random.uniform(-1000, 1000, n), 2),
        "skewed": lambda n: random.standard_cauchy(n) ** 3,
        "wide": lambda n: np.ldexp(random.normal(size=n), random.integers(-1074, 1020, n)),
    }[kind]
    bounds = np.sort(draw(2 * queries).reshape(queries, 2), axis=1)
    bits = random.permutation(queries + 100)[:queries]
    words = (queries + 100 >> 6) + 2
    grouped = GroupedFilter(column(0, pa.float64()))
    for bit, (low, high) in zip(bits.tolist(), bounds.tolist(), strict=True):
        grouped.put(bit, at_least(low).intersection(below(high)))
    values: Any = np.concatenate((draw(300), bounds.reshape(-1)[:100], [np.inf, -np.inf, np.nan]))
    lineage = np.full((values.size, words), -1, np.int64).view(np.uint64)
    numbers = np.arange(values.size)
    grouped.narrow(AttributeValues(batch_of(pa.array(values))), lineage, numbers, numbers, [])
    holds = (bounds[:, 0] <= values[:, None]) & (values[:, None] < bounds[:, 1])
    expected = np.ones((values.size, 64 * words), np.bool_)
    expected[:, bits] = holds
    got = np.unpackbits(lineage.view(np.uint8), axis=1, bitorder="little").astype(np.bool_)
    np.testing.assert_array_equal(got, expected)


def test_only_some_rows_of_some_lineage() -> None:
    grouped = GroupedFilter(column(0, pa.int64()))
    grouped.put(3, above(10))
    lineage = np.full((4, 1), 1 << 3, np.uint64)
    values = AttributeValues(batch_of(pa.array([0, 20, 0, 20, 0])))
    left = grouped.narrow(values, lineage, np.array([1, 3]), np.array([0, 4, 0, 3]), [])
    assert left.tolist() == [3]
    assert bits_of(lineage) == [{3}, set(), {3}, {3}]


def test_expressions_are_computed_only_for_rows_of_their_queries() -> None:
    asked: list[int] = []

    def evaluate(batch: Any) -> pa.Array:
        asked.append(len(batch))
        return batch.column(0)

    attribute = column(0, pa.int64())
    attribute = type(attribute)("f", "f(c0)", pa.int64(), evaluate, plain=False)
    grouped = GroupedFilter(attribute)
    grouped.put(0, equal(1))
    lineage = lineage_of([{0}, {1}, {0, 1}, set(), {0}], 1)
    numbers = np.arange(5)
    values = AttributeValues(batch_of(pa.array([1, 1, 2, 1, 3])))
    left = grouped.narrow(values, lineage, numbers, numbers, [])
    assert asked == [3]
    assert bits_of(lineage) == [{0}, {1}, {1}, set(), set()]
    assert left.tolist() == [0, 1, 2]
    assert (grouped.visited, grouped.returned) == (3, 1), "query 1 has no predicate here"


def test_memory_is_released_with_the_predicates() -> None:
    grouped = GroupedFilter(column(0, pa.int64()))
    sizes = []
    for _ in range(3):
        for bit in range(500):
            grouped.put(bit, equal(bit))
        grouped.prepare()
        sizes.append(grouped.nbytes)
        for bit in range(499):
            grouped.remove(bit)
        grouped.prepare()
        sizes.append(grouped.nbytes)
        grouped.remove(499)
        assert (grouped.nbytes, grouped.predicates) == (0, 0)
    assert sizes[0] == sizes[2] == sizes[4] > 100 * 500
    assert sizes[1] == sizes[3] == sizes[5] < 3000


def test_lineage_may_grow_behind_the_predicates() -> None:
    grouped = GroupedFilter(column(0, pa.int64()))
    grouped.put(5, above(0))
    numbers = np.arange(1)
    for words in (1, 2, 40):
        lineage = mask_of([5, 64 * words - 1], words)[None, :].copy()
        values = AttributeValues(batch_of(pa.array([0])))
        assert grouped.narrow(values, lineage, numbers, numbers, []).tolist() == [0]
        assert bits_of(lineage) == [{64 * words - 1}]


def test_types_without_an_order_are_refused() -> None:
    with pytest.raises(DataError, match=r"ARRAY.*cannot be indexed; valid: booleans"):
        GroupedFilter(column(0, pa.list_(pa.int64())))
