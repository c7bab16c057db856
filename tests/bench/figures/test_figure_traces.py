"""Every trace of the update patterns' figures lasts until the last stretch of its widest window."""

from __future__ import annotations

import pytest

from eddyline.bench.figures.points import first_row
from eddyline.bench.figures.trace import Trace
from eddyline.bench.figures.update_patterns.cases import CASES
from eddyline.bench.figures.update_patterns.experiment import FULL, QUICK, Series


@pytest.mark.parametrize("series", [*FULL.series(), *QUICK.series()])
def test_traces_are_long_enough(series: Series) -> None:
    trace: Trace = series.make()
    for links in sorted({CASES[name].links for name in series.cases}):
        playback = trace.playback(links)
        for window in series.windows:
            assert first_row(trace.name, playback, window, series.effort) > 0
