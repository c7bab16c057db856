"""The synthetic trace has what it is fitted to; the recorded ones are read whole."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from eddyline.bench.figures.calibration import from_quantiles, lbl_calibration, rank_shares
from eddyline.bench.figures.fit import fit, hurst
from eddyline.bench.figures.recorded import flights_trace, lbl_trace
from eddyline.bench.figures.synthetic import fractional_noise, protocol_shares, synthetic_trace
from eddyline.bench.figures.trace import Trace


@pytest.fixture(scope="module")
def trace() -> Trace:
    return synthetic_trace(210_000)


def test_same_rows_same_trace() -> None:
    assert synthetic_trace(1_000).links == synthetic_trace(1_000).links


def test_fit(trace: Trace) -> None:
    rows = {row["what"]: (row["wanted"], row["got"]) for row in fit(trace, 200_000)}
    for what, (wanted, got) in rows.items():
        assert got == pytest.approx(wanted, rel=0.15), what
    assert len(rows) == 13


def test_protocol_shares() -> None:
    shares = protocol_shares(lbl_calibration())
    assert sum(shares.values()) == pytest.approx(1.0)
    assert shares["telnet"] ** 2 == pytest.approx(10 * shares["ftp"] ** 2)
    assert shares["smtp"] == lbl_calibration().protocol_share["smtp"]


def test_telnet_joins_give_ten_times_the_results_of_ftp(trace: Trace) -> None:
    pairs = {p: _pairs(trace, p) for p in ("ftp", "telnet")}
    assert pairs["telnet"] / pairs["ftp"] == pytest.approx(10, rel=0.25)
    assert 0.3 < pairs["ftp"] / 200_000 < 1.5  # about as many as a window has rows


def _pairs(trace: Trace, protocol: str) -> int:
    counts = []
    for link in trace.links[:2]:
        rows = link.slice(0, 200_000)
        mine = rows["protocol"].to_numpy(zero_copy_only=False) == protocol
        counts.append(np.bincount(rows["src"].to_numpy()[mine], minlength=10_000))
    return int((counts[0] * counts[1]).sum())


def test_rows_are_ordered_and_whole(trace: Trace) -> None:
    for link in trace.links:
        assert (np.diff(link["ts"].cast(pa.int64()).to_numpy()) >= 0).all()
        assert all(column.null_count == 0 for column in link.columns)


def test_noise_has_its_hurst_parameter() -> None:
    noise = fractional_noise(50_000, 0.8, np.random.default_rng(1))
    assert noise.std() == pytest.approx(1.0, abs=0.1)
    lagged = np.corrcoef(noise[:-1], noise[1:])[0, 1]
    assert lagged == pytest.approx(2 ** (2 * 0.8 - 1) - 1, abs=0.05)


def test_poisson_arrivals_have_no_memory() -> None:
    gaps = np.random.default_rng(1).exponential(1_000_000, 200_000)
    assert hurst(np.cumsum(gaps).astype(np.int64)) == pytest.approx(0.5, abs=0.07)


def test_quantiles_are_met() -> None:
    values = from_quantiles({"0.5": 2.0, "0.9": 10.0}, np.array([0.0, 0.5, 0.9, 0.99]))
    assert values[:3].tolist() == pytest.approx([0.0, 2.0, 10.0])
    assert values[3] > 10.0


def test_shares_by_rank_fall_and_add_up() -> None:
    shares = rank_shares((50, 20, 10), 100, 200)
    assert shares[:3].tolist() == [0.5, 0.2, 0.1]
    assert shares.sum() == pytest.approx(1.0)
    assert (np.diff(shares) <= 0).all()


def test_playback_merges_links_by_time() -> None:
    trace = synthetic_trace(500)
    playback = trace.playback(2)
    parts = list(playback.batches(0, 1_000, 300))
    assert [sum(t.num_rows for t in part.values()) for part in parts] == [300, 300, 300, 100]
    for number, link in enumerate(trace.links[:2], 1):
        assert pa.concat_tables([part[f"link{number}"] for part in parts]).equals(link)
    ends = [max(t["ts"][-1].value for t in part.values()) for part in parts]
    starts = [min(t["ts"][0].value for t in part.values()) for part in parts]
    assert all(end <= start for end, start in zip(ends, starts[1:], strict=False))


@pytest.mark.parametrize(
    ("make", "rows"), [(lambda: lbl_trace(replays=2), 2 * 2_948), (flights_trace, 328_521)]
)
def test_recorded_traces_have_one_row_per_link_and_unit(make: object, rows: int) -> None:
    trace = make()  # type: ignore[operator]
    assert sum(link.num_rows for link in trace.links) == rows
    seconds = trace.playback(3).ts[-1] / 1e6
    assert rows / len(trace.links) / seconds == pytest.approx(1.0, rel=0.02)
