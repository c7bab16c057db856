"""Prices that were measured on this machine: kept between processes, never read wrongly."""

from __future__ import annotations

import io
import json
import warnings
from pathlib import Path

import pytest

from eddyline import Engine
from eddyline.engine import calibration as machine
from eddyline.optimizer.prices import TYPICAL, Prices
from eddyline.testing import engine_with

MEASURED = Prices(probe_s=123e-9, call_s=1e-5)


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "eddyline"


def test_typical_ones_until_some_are_measured() -> None:
    assert Engine().options.prices == TYPICAL
    assert machine.write_prices(MEASURED).is_file()
    assert Engine().options.prices == MEASURED
    assert engine_with(prices=TYPICAL).options.prices == TYPICAL


def test_a_file_is_of_one_version_and_one_processor(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.write_prices(MEASURED)
    monkeypatch.setattr(machine, "machine", lambda: "Another (R) CPU @ 5 GHz")
    assert Engine().options.prices == TYPICAL
    assert machine.write_prices(Prices(pass_s=1e-6)).name.endswith("-another-r-cpu-5-ghz.json")
    monkeypatch.setattr("eddyline.engine.calibration.VERSION", "99.0")
    assert Engine().options.prices == TYPICAL
    assert len(list(cache.iterdir())) == 2


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]",
        "{",
        json.dumps({"machine": "x"}),
        json.dumps({"prices": {"pass_s": -1.0}}),
        json.dumps({"prices": {"pass_s": "fast"}}),
        json.dumps({"prices": {"passs": 1.0}}),
    ],
)
def test_a_broken_file_is_ignored_and_named(cache: Path, content: str) -> None:
    file = machine.write_prices(MEASURED)
    file.write_text(content)
    with pytest.warns(UserWarning, match="prices-.*cannot be read .*eddyline calibrate") as told:
        assert Engine().options.prices == TYPICAL
    assert str(file) in str(told[0].message)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Engine()  # once is enough
    machine.write_prices(MEASURED)
    assert Engine().options.prices == MEASURED


def test_a_saved_engine_keeps_the_prices_that_its_plans_were_chosen_by() -> None:
    file = io.BytesIO()
    engine_with(prices=MEASURED).save(file)
    file.seek(0)
    assert Engine.load(file).options.prices == MEASURED
