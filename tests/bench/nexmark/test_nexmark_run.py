"""The command that measures the queries."""

from __future__ import annotations

import json

import pytest

from eddyline.bench.nexmark.run import run_nexmark
from eddyline.errors import EddylineError


def test_a_query_is_measured(capsys: pytest.CaptureFixture[str]) -> None:
    run_nexmark(query="q14", events=1_000, json=True)
    (figure,) = json.loads(capsys.readouterr().out)["figures"]
    assert (figure["name"], figure["rows"]) == ("q14", 1_000)
    assert figure["results"] > 0
    assert figure["rows_per_s"] > 0


def test_a_figure_says_whether_the_text_is_published(capsys: pytest.CaptureFixture[str]) -> None:
    run_nexmark(query="q21", events=1_000)
    assert "reworded" in capsys.readouterr().out


def test_a_wrong_query_is_named() -> None:
    with pytest.raises(EddylineError, match=r"'q24'.*q0, q1, .*q23"):
        run_nexmark(query="q24")
