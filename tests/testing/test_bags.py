import math

from eddyline.testing import batch, difference, rows_of


def test_equal_bags_in_any_order() -> None:
    assert difference([(1, "a"), (None, "b"), (1, "a")], [(None, "b"), (1, "a"), (1, "a")]) == (
        [],
        [],
    )


def test_duplicates_count() -> None:
    assert difference([(1,), (1,)], [(1,)]) == ([(1,)], [])
    assert difference([(1,)], [(1,), (1,)]) == ([], [(1,)])


def test_null_is_neither_zero_nor_empty() -> None:
    assert difference([(None,)], [(0,)]) == ([(None,)], [(0,)])
    assert difference([(None,)], [("",)]) == ([(None,)], [("",)])


def test_floats_may_differ_in_the_last_digits() -> None:
    assert difference([(0.1 + 0.2, "a"), (1e12, "b")], [(1e12 + 1e-3, "b"), (0.3, "a")]) == ([], [])
    assert difference([(0.0,)], [(1e-12,)]) == ([], [])
    assert difference([(1.0,)], [(1.000001,)]) == ([(1.0,)], [(1.000001,)])
    assert difference([(3,)], [(3.0,)]) == ([], [])


def test_each_float_pairs_with_one_other() -> None:
    assert difference([(0.3,), (0.3,)], [(0.1 + 0.2,)]) == ([(0.3,)], [])


def test_integers_must_be_exact() -> None:
    big = 10**15
    assert difference([(big,)], [(big + 1,)]) == ([(big,)], [(big + 1,)])


def test_nan_equals_itself() -> None:
    table = batch("x:double\nnan\n.")
    assert difference(rows_of(table), rows_of(batch("x:double\n.\nnan"))) == ([], [])
    assert not any(isinstance(v, float) and math.isnan(v) for (v,) in rows_of(table))


def test_times_become_microseconds() -> None:
    assert rows_of(batch("ts | x\n1s | 2\n. | 3")) == [(1_000_000, 2), (None, 3)]
    assert rows_of(batch("ts | x\n1s | 2"), [1]) == [(2,)]
