"""How well the synthetic trace fits what it is made after."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from eddyline.bench.figures.calibration import Calibration, lbl_calibration
from eddyline.bench.figures.synthetic import HURST, SOURCES, protocol_shares
from eddyline.bench.figures.trace import UNIT_US, Trace
from eddyline.runtime.stores.columns import Array

#: Time units in which arrivals are counted for the Hurst parameter, and how many are put together.
_COUNTED_UNITS: Final = 100
_AGGREGATED: Final = (1, 2, 4, 8, 16, 32)
_LEAST_COUNTS: Final = 10 * _AGGREGATED[-1]


def fit(trace: Trace, window: int) -> list[dict[str, Any]]:
    """What the first link of a synthetic trace should have and has, for machines.

    Args:
        window: the largest, in rows.
    """
    calibration = lbl_calibration()
    link = trace.links[0]
    src, dst = link["src"].to_numpy(), link["dst"].to_numpy()
    ts_us = link["ts"].cast("int64").to_numpy()
    recent = slice(max(src.size - window, 0), None)
    sources = np.unique(src[recent]).size
    pairs = np.unique(np.stack((src[recent], dst[recent])), axis=1).shape[1]
    seconds = float(ts_us[-1] - ts_us[0]) / UNIT_US
    return [
        _row("rows per link and time unit", 1.0, src.size / seconds, "the paper"),
        _row(f"distinct sources in {window:,} rows", SOURCES, sources, "the paper"),
        _row(f"pairs per source in {window:,} rows", 10.0, pairs / sources, "the paper"),
        *_busiest(src, calibration),
        *_protocols(link["protocol"], calibration),
        *_memory(ts_us),
    ]


def hurst(ts_us: Array) -> float:
    """The Hurst parameter, from how slowly the variance of mean rates falls with the time scale.

    Source: the variance-time plot of Leland et al. 1994.

    Args:
        ts_us: int64, ascending, over at least 32,000 time units.
    """
    counts = np.bincount((ts_us - ts_us[0]) // (_COUNTED_UNITS * UNIT_US))[:-1]
    assert counts.size >= _LEAST_COUNTS, "too short a time to tell"
    variances = [
        counts[: counts.size // m * m].reshape(-1, m).mean(axis=1).var() for m in _AGGREGATED
    ]
    slope = np.polyfit(np.log(_AGGREGATED), np.log(variances), 1)[0]
    return float(1 + slope / 2)


def _memory(ts_us: Array) -> list[dict[str, Any]]:
    """The Hurst parameter, where the trace is long enough."""
    if ts_us[-1] - ts_us[0] < (_LEAST_COUNTS + 1) * _COUNTED_UNITS * UNIT_US:
        return []
    return [_row("Hurst parameter of the arrivals", HURST, hurst(ts_us), "Paxson and Floyd 1995")]


def _busiest(src: Array, calibration: Calibration) -> list[dict[str, Any]]:
    n = calibration.connections
    counts = np.sort(np.unique(src, return_counts=True)[1])[::-1] / src.size
    head = np.array(calibration.src_rank_frequencies) / n
    rows = [
        _row(f"share of the busiest {k} sources", head[:k].sum(), counts[:k].sum(), "calibration")
        for k in (1, 10, 50)
    ]
    seen = np.unique(src[:n]).size
    return [
        *rows,
        _row(f"distinct sources in {n:,} rows", calibration.distinct_src, seen, "calibration"),
    ]


def _protocols(protocol: Any, calibration: Calibration) -> list[dict[str, Any]]:
    counted = {row["values"]: row["counts"] for row in protocol.value_counts().to_pylist()}
    shares = protocol_shares(calibration)
    return [
        _row(
            f"share of {name}",
            shares[name],
            counted.get(name, 0) / len(protocol),
            "calibration" if name in ("smtp", "ftp-data", "nntp") else "calibration, split anew",
        )
        for name in ("smtp", "ftp-data", "nntp", "ftp", "telnet")
    ]


def _row(what: str, wanted: float, got: float, source: str) -> dict[str, Any]:
    return {"what": what, "wanted": _short(wanted), "got": _short(got), "wanted by": source}


def _short(value: float) -> float:
    return round(float(value), 3)
