"""A synthetic trace of any length, fitted to the recorded LBL trace.

Fitted are the shares of the protocols, the rank frequencies of sources and destinations, the gaps
between arrivals, durations and sizes. Not in the recorded hour, and set here:

- As many hosts as the paper reports: about 2,000 distinct sources, and ten times as many pairs of
  source and destination at the largest window. A source keeps to an address book of its own: its
  n-th entry is chosen by a power law.
- ``ftp`` and ``telnet`` keep the share that they have together, split so that a join of two links
  gives ten times as many results for ``telnet`` (the paper's trace is of another year).
- Which hosts two links have in common: as many that about 40 % of the results of a negation are
  taken back early, as in the paper.
- Rates are long-range dependent: fractional Gaussian noise with the Hurst parameter that is usual
  for wide-area connections (Paxson and Floyd 1995).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import pyarrow as pa

from eddyline.bench.figures.calibration import (
    Calibration,
    from_quantiles,
    lbl_calibration,
    rank_shares,
)
from eddyline.bench.figures.trace import UNIT_US, Trace, link_table
from eddyline.runtime.stores.columns import Array

#: Rows per link of the whole trace: a window of 200,000, and five stretches of half a window.
ROWS: Final = 780_000
SOURCES: Final = 2_000
LINKS: Final = 3

_SEED: Final = 1994
_TELNET_TO_FTP: Final = 10**0.5  # of the rows: a join multiplies two of them
_COMMON_HEAD: Final = 4
_COMMON_EVERY: Final = 5
_BUSIEST: Final = 50
_BOOK: Final = 1_000  # entries of an address book
_BOOK_EXPONENT: Final = 1.6
#: Of connections over a wide area (Paxson and Floyd 1995).
HURST: Final = 0.8
_RATE_BIN: Final = 50  # time units of one rate
_RATE_SPREAD: Final = 0.3  # standard deviation of the rate's logarithm


def synthetic_trace(rows: int = ROWS) -> Trace:
    """The trace, the same for the same ``rows`` (per link)."""
    return Trace(
        name="synthetic",
        about=f"synthetic, fitted to the LBL trace; {rows:,} rows on each of {LINKS} links",
        links=tuple(_link(number, rows, lbl_calibration()) for number in range(LINKS)),
        few="ftp",
        many="telnet",
    )


def protocol_shares(calibration: Calibration) -> dict[str, float]:
    """Share of the rows by protocol, of sum 1."""
    shares = dict(calibration.protocol_share)
    both = shares["ftp"] + shares["telnet"]
    shares["ftp"] = both / (1 + _TELNET_TO_FTP)
    shares["telnet"] = both - shares["ftp"]
    shares["other"] = 1.0 - sum(shares.values())
    return shares


def _link(number: int, rows: int, calibration: Calibration) -> Any:
    rng = np.random.default_rng([_SEED, number])
    ts_us = _arrivals(rows, rng, calibration)
    src = _sources(number, rows, rng, calibration)
    dst = _destinations(number, src, rng, calibration)
    shares = protocol_shares(calibration)
    protocols = _drawn(np.array(list(shares.values())), rows, rng)
    names = list(shares)
    duration = _by_protocol(calibration.duration_s_quantiles, names, protocols, rng)
    size = _by_protocol(calibration.bytes_quantiles, names, protocols, rng)
    protocol = pa.array(names).take(pa.array(protocols))
    return link_table(ts_us, duration, protocol, size.astype(np.int64), src, dst)


def _drawn(shares: Array, n: int, rng: np.random.Generator) -> Array:
    """Numbers drawn by their shares."""
    bounds = np.cumsum(shares)
    return np.searchsorted(bounds / bounds[-1], rng.random(n), side="right")


def _arrivals(rows: int, rng: np.random.Generator, calibration: Calibration) -> Array:
    """Timestamps in microseconds, one per time unit on average: calibrated gaps, varying rates."""
    worked = np.cumsum(from_quantiles(calibration.gap_s_quantiles, rng.random(rows)))
    bins = rows // _RATE_BIN + 1
    rates = np.exp(_RATE_SPREAD * fractional_noise(bins, HURST, rng))
    work_at_edge = np.concatenate(([0.0], np.cumsum(rates)))
    time = np.interp(worked * (work_at_edge[-1] / worked[-1]), work_at_edge, np.arange(bins + 1.0))
    scaled: Array = (time * (rows / bins) * UNIT_US).astype(np.int64)
    return scaled


def fractional_noise(n: int, hurst: float, rng: np.random.Generator) -> Array:
    """Fractional Gaussian noise: float64[n] of variance 1.

    Source: Davies and Harte, "Tests for Hurst effect", Biometrika 74 (1987): the covariance matrix
    embedded in a circulant one, which a Fourier transform diagonalises.
    """
    lag = np.arange(n + 1.0)
    covariance = ((lag + 1) ** (2 * hurst) + np.abs(lag - 1) ** (2 * hurst)) / 2
    covariance -= lag ** (2 * hurst)
    eigenvalues = np.fft.fft(np.concatenate((covariance, covariance[-2:0:-1]))).real
    white = rng.standard_normal(2 * n) + 1j * rng.standard_normal(2 * n)
    noise: Array = np.fft.fft(white * np.sqrt(np.maximum(eigenvalues, 0.0) / (2 * n))).real[:n]
    return noise


def _sources(link: int, rows: int, rng: np.random.Generator, calibration: Calibration) -> Array:
    shares = rank_shares(calibration.src_rank_frequencies, calibration.connections, SOURCES)
    return addresses(link)[_drawn(shares, rows, rng)]


def addresses(link: int) -> Array:
    """Source addresses of a link by rank; the first link's are 0, 1, 2, ...

    The second link has its busiest sources in common with the first, and some of the others; each
    has about half as many rows there. Half of the first link's sources are on the third link as
    well, none of the busiest among them.
    """
    rank = np.arange(SOURCES)
    own = rank + SOURCES * link
    if link == 1:
        host = rank // 2
        common = (rank % 2 == 1) & ((host < _COMMON_HEAD) | (host % _COMMON_EVERY == 0))
        return np.where(common, host, own)
    if link == 2:
        return np.where((rank >= _BUSIEST) & (rank % 4 < 2), rank, own)
    return own


def _destinations(
    link: int, src: Array, rng: np.random.Generator, calibration: Calibration
) -> Array:
    """Destination addresses of a link; the links have none in common."""
    hosts = round(SOURCES * calibration.distinct_dst / calibration.distinct_src)
    shares = rank_shares(calibration.dst_rank_frequencies, calibration.connections, hosts)
    entry = _drawn(np.arange(1.0, _BOOK + 1) ** -_BOOK_EXPONENT, src.size, rng)
    bounds = np.cumsum(shares)
    host = np.searchsorted(bounds / bounds[-1], _scattered(src * _BOOK + entry), side="right")
    return host + link * hosts


def _scattered(numbers: Array) -> Array:
    """Each number's own place in [0, 1): SplitMix64's finaliser."""
    z = numbers.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return (z >> np.uint64(11)) / 2.0**53


def _by_protocol(
    quantiles: Mapping[str, Mapping[str, float]],
    names: list[str],
    protocols: Array,
    rng: np.random.Generator,
) -> Array:
    """Values from each protocol's quantiles; the commonest one's for protocols without any."""
    probability = rng.random(protocols.size)
    values = np.empty(protocols.size)
    for number, name in enumerate(names):
        mine = np.flatnonzero(protocols == number)
        values[mine] = from_quantiles(quantiles.get(name, quantiles["smtp"]), probability[mine])
    return values
