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


def test_plans_do_not_depend_on_prices() -> None:
    """By fitted ones pairs of rows may seem to cost nothing."""
    windows = {s: f"{s} [RANGE 4 SECONDS] AS {s}" for s in "abcd"}
    sql = (
        "SELECT u.x, u.y FROM (SELECT a.x, b.y FROM {a}, {b} WHERE a.x = b.x UNION ALL "
        "SELECT d.x, d.y FROM {d}) AS u, {c} WHERE u.y = c.y"
    )
    free = Prices(make_s=0.0, compare_s=0.0, expire_s=1e-6, pass_s=1e-6)
    texts = []
    for prices in (TYPICAL, free):
        engine = engine_with(prices=prices)
        for stream in windows:
            engine.sql(f"CREATE STREAM {stream} (ts TIMESTAMP, x BIGINT, y BIGINT) TIMESTAMP BY ts")
        texts.append(engine.query(sql.format(**windows), name="q").explain())
    assert texts[0] == texts[1]


def test_a_saved_engine_keeps_its_prices() -> None:
    file = io.BytesIO()
    engine_with(prices=MEASURED).save(file)
    file.seek(0)
    assert Engine.load(file).options.prices == MEASURED
