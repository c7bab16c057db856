"""Runs the cases, fits prices, keeps them."""

from __future__ import annotations

import json as json_
import time
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from statistics import median
from typing import Final

from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from eddyline.cli.calibration.cases import CASES, SCHEMA, Case, Rows
from eddyline.engine.calibration import machine, write_prices
from eddyline.engine.engine import Engine
from eddyline.engine.options import EngineOptions, StrategyOptions
from eddyline.kernels.deferred import report_compilations
from eddyline.optimizer.price_fit import Observation, fitted, predicted
from eddyline.optimizer.prices import TYPICAL, Prices
from eddyline.physical.flows import Executor

#: Event time that runs before the clock does, as long as the longest window; and that is timed.
_WARM_S: Final = 1.0
_TIMED_S: Final = 0.4
_REPETITIONS: Final = 3


@dataclass(frozen=True)
class Measured:
    """A case and what it took."""

    case: Case
    observation: Observation


def run_calibration(*, json: bool = False) -> None:
    """Measure, fit, keep and show the prices of this machine."""
    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("measuring", total=len(CASES))

        def compiling(kernel: str) -> None:
            bar.update(task, description=f"compiling {kernel} (on the first start only)")

        measured = []
        for case in CASES:
            bar.update(task, description=case.name)
            with report_compilations(compiling):
                measured.append(measure(case))
            bar.advance(task)
    prices = fitted([m.observation for m in measured])
    file = write_prices(prices)
    if json:
        print(json_.dumps(_as_dict(prices, measured, str(file))))
        return
    _show(prices, measured)
    Console().print(f"kept in {file} for {machine()}", soft_wrap=True)


def engine_of(case: Case) -> Engine:
    """An engine with the queries of a case, before any row."""
    executor: Executor = "tree" if case.queries == 1 else "eddy"
    engine = Engine(
        EngineOptions(chunk_rows=case.chunk_rows, prices=TYPICAL),
        StrategyOptions(executor=executor, feedback="off", replan=inf),  # as the cases are written
    )
    engine.sql(SCHEMA)
    for n in range(case.queries):
        engine.query(case.sql.format(n=n))
    return engine


def measure(case: Case) -> Measured:
    """What a case takes, windows being full: the median of several stretches of time."""
    engine = engine_of(case)
    rows = Rows(case)
    engine.process(rows.between(0.0, _WARM_S), watermark=_us(_WARM_S))
    took = []
    for n in range(_REPETITIONS):
        start = _WARM_S + n * _TIMED_S
        new = rows.between(start, start + _TIMED_S)
        began = time.process_time()
        for _ in engine.process(new, watermark=_us(start + _TIMED_S)).batches():
            pass
        took.append(time.process_time() - began)
    calls = case.calls(len(engine.stats()["operators"]))
    cores = median(took) / _TIMED_S
    return Measured(
        case, Observation(engine.parts.queries.workload.works(), case.statistics, calls, cores)
    )


def _us(seconds: float) -> int:
    return round(seconds * 1e6)


def _show(prices: Prices, measured: Sequence[Measured]) -> None:
    console = Console()
    table = Table("step", title="Prices, per row and step")
    for head in ("ns", "typical"):
        table.add_column(head, justify="right")
    for name, price in prices.as_dict().items():
        typical = TYPICAL.as_dict()[name]
        table.add_row(name, f"{price * 1e9:,.1f}", f"{typical * 1e9:,.1f}")
    console.print(table)
    table = Table("case", title="CPU per second of these streams, in cores")
    for head in ("measured", "by the prices"):
        table.add_column(head, justify="right")
    for m in measured:
        expected = predicted(m.observation, prices)
        table.add_row(m.case.name, f"{m.observation.cores:.3f}", f"{expected:.3f}")
    console.print(table)
    console.print(f"half of the cases are told within {_median_error(prices, measured):.0%}")


def _as_dict(prices: Prices, measured: Sequence[Measured], file: str) -> dict[str, object]:
    return {
        "machine": machine(),
        "file": file,
        "prices": prices.as_dict(),
        "median_error": _median_error(prices, measured),
        "cases": [
            {
                "case": m.case.name,
                "cores": m.observation.cores,
                "predicted_cores": predicted(m.observation, prices),
            }
            for m in measured
        ],
    }


def _median_error(prices: Prices, measured: Sequence[Measured]) -> float:
    """The relative error that half of the cases stay below."""
    return median(abs(predicted(m.observation, prices) / m.observation.cores - 1) for m in measured)
