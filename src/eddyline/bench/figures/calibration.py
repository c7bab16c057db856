"""What the recorded LBL trace looks like: the numbers that the synthetic trace is fitted to."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

import numpy as np

from eddyline.runtime.stores.columns import Array

_FILE: Final = Path(__file__).with_name("lbl_calibration.json")


@dataclass(frozen=True)
class Calibration:
    """Counts and quantiles of one recorded trace.

    Attributes:
        source: what was counted.
        connections, distinct_src, distinct_dst, distinct_pairs: of the whole trace.
        protocol_share: share of the rows by protocol, the commonest twenty.
        src_rank_frequencies, dst_rank_frequencies: rows of the fifty busiest hosts.
        gap_s_quantiles: seconds between arrivals, by probability.
        duration_s_quantiles, bytes_quantiles: by protocol, then by probability.
    """

    source: str
    connections: int
    distinct_src: int
    distinct_dst: int
    distinct_pairs: int
    protocol_share: Mapping[str, float]
    src_rank_frequencies: tuple[int, ...]
    dst_rank_frequencies: tuple[int, ...]
    gap_s_quantiles: Mapping[str, float]
    duration_s_quantiles: Mapping[str, Mapping[str, float]]
    bytes_quantiles: Mapping[str, Mapping[str, float]]


@cache
def lbl_calibration() -> Calibration:
    """The calibration shipped with the package."""
    return Calibration(**json.loads(_FILE.read_text()))


def from_quantiles(quantiles: Mapping[str, float], probability: Array) -> Array:
    """Values of a distribution that is given by some quantiles.

    Between them it is straight on exponential paper, beyond the last it continues as between the
    last two: gaps, durations and sizes all have tails at least that long.

    Args:
        probability: float64 in [0, 1).
    """
    knots = np.array([0.0, *(float(p) for p in quantiles)])
    values = np.array([0.0, *quantiles.values()])
    at, x = -np.log1p(-knots), -np.log1p(-probability)
    slope = (values[-1] - values[-2]) / (at[-1] - at[-2])
    beyond: Array = np.maximum(x - at[-1], 0.0) * slope
    inside: Array = np.interp(x, at, values)
    return inside + beyond


def rank_shares(frequencies: tuple[int, ...], total: int, ranks: int) -> Array:
    """Share of the rows by rank: the head as counted, then a power law that falls from its end.

    Args:
        frequencies: rows of the first ranks, out of ``total``.
        ranks: how many there are to be in all.

    Returns:
        float64[ranks], descending, of sum 1. The exponent is the one that gives the tail the rows
        which the head leaves.
    """
    head = np.array(frequencies) / total
    beyond = np.arange(head.size + 1, ranks + 1) / head.size
    left = 1.0 - head.sum()
    exponents = np.linspace(0.0, 5.0, 2001)
    masses = np.array([head[-1] * (beyond**-e).sum() for e in exponents])
    tail = head[-1] * beyond ** -exponents[np.argmin(np.abs(masses - left))]
    return np.concatenate((head, tail * (left / tail.sum())))
