"""Selectivities corrected by what joins that run have made of their rows."""

from __future__ import annotations

import pytest

from eddyline.optimizer.joins.learning import corrected
from eddyline.optimizer.joins.query import JoinQuery, Source, Term
from eddyline.optimizer.joins.trees import Tree

ROWS = 1_000.0
TRIANGLE = JoinQuery(
    tuple(Source.range(name, rate=ROWS, seconds=1) for name in "abc"),
    (Term.edge(0, 1, 0.001), Term.edge(1, 2, 0.001), Term.edge(0, 2, 0.001)),
)
CHAIN = JoinQuery(TRIANGLE.sources, TRIANGLE.terms[:2])


def shares(query: JoinQuery) -> list[float]:
    return [term.selectivity for term in query.terms]


def test_a_join_of_two_sources_decides_its_term() -> None:
    ab, *others = shares(corrected(TRIANGLE, {(0, 1): 3.0}))  # by 2,000 rows of both
    assert ab == pytest.approx(0.003)
    assert others == [0.001, 0.001]


def test_terms_that_no_join_of_two_has_decided_share_a_correction() -> None:
    ab, bc, ac = shares(corrected(TRIANGLE, {(0, 1): 1.0, ((0, 1), 2): 0.000_05}))
    assert ab == pytest.approx(0.001)
    assert bc == ac < 0.001


def test_what_a_join_of_two_has_decided_stays() -> None:
    """The triangle has no results: that is not known of b and c, which have had many."""
    found = corrected(TRIANGLE, {(0, 1): 1.0, (1, 2): 3.0, (0, (1, 2)): 1e-9})
    ab, bc, ac = shares(found)
    assert ab == pytest.approx(0.001)
    assert bc == pytest.approx(0.003)
    assert ac < 1e-9


def test_terms_that_are_all_known_are_not_corrected_together() -> None:
    """Then results of all three say that the terms are not independent."""
    fan_outs: dict[Tree, float] = {(0, 1): 1.0, (1, 2): 1.0, (0, 2): 1.0, ((0, 1), 2): 1e-9}
    assert shares(corrected(TRIANGLE, fan_outs)) == pytest.approx([0.001] * 3)


def test_a_later_join_decides_the_term_of_a_chain() -> None:
    """The pair of b and c ran in an earlier order."""
    ab, bc = shares(corrected(CHAIN, {(0, 1): 1.0, (1, 2): 1.0, ((0, 1), 2): 4.0}))
    assert ab == pytest.approx(0.001)
    assert bc > 0.003
