"""The verdict of a soak: what grows is found, peaks and the first half do not count."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields

import pytest

from eddyline.bench.soak.samples import Sample
from eddyline.bench.soak.verdict import FLAT, growth, growths, is_flat


def samples(size: Callable[[float], float], name: str = "workers") -> Sequence[Sample]:
    """One each 5 s of half an hour; an attribute by the time, all others 100."""
    times = [5.0 * i for i in range(361)]
    others = {f.name: 100 for f in fields(Sample)}
    return [Sample(**{**others, "t_s": t, name: size(t)}) for t in times]  # type: ignore[arg-type]


@pytest.mark.parametrize("name", FLAT)
def test_what_grows_in_the_second_half_is_not_flat(name: str) -> None:
    found = growths(samples(lambda t: 100 + t / 40, name))
    assert found[name].ratio == pytest.approx(11.25 / 128.125, rel=0.02)
    assert not is_flat(found)


def test_what_fills_in_the_first_half_is_flat() -> None:
    found = growths(samples(lambda t: min(100 + t, 700)))
    assert found["workers"].ratio == 0
    assert is_flat(found)


def test_peaks_do_not_count() -> None:
    assert is_flat(growths(samples(lambda t: 1_000 if t % 60 == 0 else 100)))


def test_a_quarter_without_samples_is_an_error() -> None:
    with pytest.raises(ValueError, match="too few samples of 'workers'"):
        growth(samples(lambda _: 1)[:2], "workers")
