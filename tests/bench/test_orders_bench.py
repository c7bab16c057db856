"""``bench orders``: its joins run, in all orders, with equal results."""

from __future__ import annotations

import pytest

from eddyline.bench import orders
from eddyline.bench.orders import SHAPES, Compared, RandomJoin, compared


@pytest.mark.parametrize("number", range(len(SHAPES)), ids=SHAPES)
def test_all_orders_run(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(orders, "_ROWS", 60)
    found = compared(RandomJoin.drawn(number), calls=4, warm=1)
    assert min(found.chosen, *found.with_feedback.values(), *found.without.values()) > 0
    assert found.with_feedback.keys() == found.without.keys()


def test_orders_have_keys() -> None:
    chain, _, star, clique = (list(RandomJoin.drawn(n).orders()) for n in range(4))
    assert chain == ["abc", "bca"]
    assert star == ["abcd", "abdc", "acbd", "acdb", "adbc", "adcb"]
    assert clique == ["abc", "acb", "bca"]


def test_ratios() -> None:
    with_feedback, without = {"abc": 2.0, "bca": 4.0}, {"abc": 6.0, "bca": 5.0}
    found = Compared(RandomJoin.drawn(0), 3.0, with_feedback, without)
    assert found.of_chosen == 1.5
    assert found.of_unaware == 2.0
