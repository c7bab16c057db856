"""``bench small``: each of its cases runs."""

from __future__ import annotations

import pytest

from eddyline.bench import small
from thinned import thinned


@pytest.fixture(autouse=True)
def few_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(small, "_WARM_CALLS", 4)
    monkeypatch.setattr(small, "_LATE_US", 400_000)


@pytest.mark.parametrize("case", thinned(3, small.cases()))
def test_cases(case: object) -> None:
    found = case(blocks=3, calls=4)  # type: ignore[operator]
    assert len(found.seconds) == 3
    assert found.median > 0
    assert found.as_dict()["rows"] == found.rows
