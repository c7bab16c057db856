"""Figure 4: tuple state against throughput."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np

from eddyline.bench.figures.cacq.workloads import ROUTING, bank_of, tuples, wanted_by
from eddyline.bench.figures.experiment import Claim, Experiment, Speed, take_turns
from eddyline.bench.figures.plots import draw_series
from eddyline.bench.figures.verdicts import Judgment
from eddyline.runtime.batch import Batch
from eddyline.runtime.eddy.policies import TicketPolicy
from eddyline.runtime.predicates.filter_bank import FilterBank
from eddyline.runtime.recipients import recipients_of
from eddyline.runtime.stores.columns import Array

_ROWS: Final = 16_384
_WORDS: Final = (1, 2, 4, 8, 16, 32, 64, 128, 256)
_QUICK_WORDS: Final = (1, 8, 64)


@dataclass(frozen=True)
class StatePoint:
    """Throughput of five queries with a lineage of this number of bits per tuple."""

    bits: int
    speed: Speed


def measure(quick: bool) -> list[StatePoint]:
    """Filter and deliver the same tuples with more and more lineage."""
    batch, bank = tuples(_ROWS, np.random.default_rng(1)), bank_of(ROUTING, TicketPolicy())
    sizes = _QUICK_WORDS if quick else _WORDS
    work = {n: partial(_run, bank, batch, wanted_by(len(ROUTING), words=n)) for n in sizes}
    speeds = take_turns(work, _ROWS, rounds=3 if quick else 15)
    return [StatePoint(64 * words, speed) for words, speed in speeds.items()]


def _run(bank: FilterBank, batch: Batch, wanted: Array) -> int:
    return recipients_of(batch.exp, bank.blocks(batch, wanted), 64 * wanted.size, []).rows.size


def draw(points: Sequence[StatePoint], out: Path) -> None:
    """``figure-04.png``."""
    draw_series(
        out / "figure-04.png",
        "Figure 4: tuple state against throughput",
        f"{len(ROUTING)} queries over one source; tuples are filtered and delivered",
        {"tuples": [p.speed.spot(p.bits, p.speed.rows) for p in points]},
        "bits of lineage per tuple",
        "million tuples per second",
    )


def table(points: Sequence[StatePoint]) -> list[Mapping[str, Any]]:
    """A row per size."""
    return [
        {
            "bits": f"{p.bits:,}",
            "M tuples/s": f"{p.speed.rows_per_s / 1e6:.2f}",
            "ns per tuple": f"{1e9 / p.speed.rows_per_s:.0f}",
        }
        for p in points
    ]


def _ever_less(points: Sequence[StatePoint]) -> Judgment:
    """Throughput falls, and by less per bit the more bits there are."""
    rates = [p.speed.rows_per_s for p in points]
    bits = [p.bits for p in points]
    slopes = [(rates[i] - rates[i + 1]) / (bits[i + 1] - bits[i]) for i in range(len(bits) - 1)]
    text = (
        f"{bits[0]:,} bits: {rates[0] / rates[-1]:.1f}x as many tuples/s as with {bits[-1]:,}; "
        f"a bit more costs {slopes[0]:,.0f} tuples/s at first, {slopes[-1]:,.0f} at last"
    )
    if rates[-1] >= rates[0]:
        return Judgment(text, "no")
    return Judgment(text, "yes" if slopes[-1] < slopes[0] else "in part")


EXPERIMENT: Final = Experiment(
    "tuple_state",
    "Tuple state (Figure 4)",
    measure,
    draw,
    table,
    (
        Claim(
            "Figure 4",
            "throughput falls with the bits per tuple, and by less per bit the more there are",
            "less from the first size to the last; the last bit costs less than the first",
            _ever_less,
        ),
    ),
)
