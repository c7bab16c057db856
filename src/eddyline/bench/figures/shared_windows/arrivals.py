"""Arrival times of the units of two streams: at random, or in bursts (section 5.2)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from eddyline.runtime.stores.columns import Array


@dataclass(frozen=True)
class ArrivalTimes:
    """Units in the order of arrival.

    Attributes:
        at: float64, when; the mean gap of one stream is 1.
        stream: int64, 0 or 1.
    """

    at: Array
    stream: Array

    def __len__(self) -> int:
        return int(self.at.size)


def arrivals(units: int, burst: float, seed: int) -> ArrivalTimes:
    """As many units of each stream, at random instants.

    Args:
        units: of each stream.
        burst: mean number of units that arrive at once. With 1, gaps follow the exponential
            distribution. With more, bursts have the sizes of a Pareto distribution from 1 on, and
            longer gaps, so that as many units arrive per second.
    """
    rng = np.random.default_rng(seed)
    streams = [_one_stream(units, burst, rng) for _ in range(2)]
    at = np.concatenate(streams)
    order = np.argsort(at, kind="stable")
    return ArrivalTimes(at[order], np.repeat([0, 1], units)[order])


def evenly(units: int) -> ArrivalTimes:
    """As many units of each stream, in turns."""
    return ArrivalTimes(np.arange(2 * units) / 2.0, np.arange(2 * units) % 2)


def at_once(units: int) -> ArrivalTimes:
    """All units in one stream, at one instant (section 3.1.1)."""
    return ArrivalTimes(np.zeros(units), np.zeros(units, np.int64))


def _one_stream(units: int, burst: float, rng: np.random.Generator) -> Array:
    sizes = _burst_sizes(units, burst, rng)
    instants = np.cumsum(rng.exponential(1.0, sizes.size))
    instants *= units / (instants[-1] + units / sizes.size)  # the same rate, whatever was drawn
    return np.repeat(instants, sizes)


def _burst_sizes(units: int, burst: float, rng: np.random.Generator) -> Array:
    """Sizes of bursts that have ``units`` together.

    They are the quantiles of the distribution in a random order, not a sample of it: the largest of
    a few thousand draws from so heavy a tail would say more about the seed than about a schedule.
    """
    if burst == 1.0:
        return np.ones(units, np.int64)
    shape = burst / (burst - 1.0)  # the mean of Pareto from 1 on is shape / (shape - 1)
    bursts = max(round(units / burst), 1)
    sizes = _quantiles(bursts, shape, rng)
    while sizes.sum() < units:  # the quantiles leave out the end of the tail
        bursts += max(bursts // 50, 1)
        sizes = _quantiles(bursts, shape, rng)
    rng.shuffle(sizes)
    ends = np.minimum(np.cumsum(sizes), units)
    whole = np.diff(ends, prepend=0)
    out: Array = whole[whole > 0]
    return out


def _quantiles(bursts: int, shape: float, rng: np.random.Generator) -> Array:
    """Of Pareto from 1 on; each rounded up or down by chance, so that the mean stays."""
    above = 1.0 - (np.arange(bursts) + 0.5) / bursts
    sizes: Array = np.floor(above ** (-1.0 / shape) + rng.random(bursts)).astype(np.int64)
    return sizes
