from __future__ import annotations

from random import Random

from eddyline.testing.strategies.query_set_cases import ArrivingRow, QuerySetCase, random_case
from eddyline.testing.strategies.shrinking import shrunk


def test_irrelevant_parts_are_removed() -> None:
    case = next(c for c in map(random_case, map(Random, range(99))) if any_drop(c))
    wanted = next(n for turn in case.turns for n in turn.drop)
    wanted_row = _rows_of(case)[3]

    def fails(part: QuerySetCase) -> bool:
        dropped = any(wanted in turn.drop for turn in part.turns)
        return dropped and wanted_row in _rows_of(part)

    small = shrunk(case, fails)
    assert fails(small)
    assert _rows_of(small) == [wanted_row]
    assert [n for turn in small.turns for n, _ in turn.add] == [wanted]
    assert [n for turn in small.turns for n in turn.drop] == [wanted]


def _rows_of(case: QuerySetCase) -> list[ArrivingRow]:
    return [row for turn in case.turns for row in turn.rows]


def any_drop(case: QuerySetCase) -> bool:
    return any(turn.drop for turn in case.turns)


def test_a_case_that_takes_too_long_is_left_as_it_is() -> None:
    case = random_case(Random(7))
    assert shrunk(case, lambda _: True, seconds=-1) is case
