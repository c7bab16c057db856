"""Engines that differ in their feedback alone, over the same rows: CPU time and state."""

from __future__ import annotations

import gc
import math
import statistics
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa

import eddyline
from eddyline.bench.comparison import reactive as comparison
from eddyline.bench.feeding import process_all
from eddyline.optimizer.statistics import UNKNOWN, Statistics
from eddyline.physical.flows import Executor

REF: Final = "REF"
DOE: Final = "DOE"
JIT: Final = "JIT"
#: JIT that judges a row by what has been made of it, as the paper has it.
REACTIVE: Final = "reactive JIT"
#: JIT while it saves rows: the default.
AUTO: Final = "auto"
#: The plan that the optimizer chooses, without feedback and with the default.
OPTIMIZED: Final = "optimized plan"
OPTIMIZED_AUTO: Final = "optimized plan, auto"
#: The options of the contenders.
OPTIONS: Final[Mapping[str, Mapping[str, Any]]] = {
    REF: {"feedback": "off"},
    DOE: {"feedback": "doe"},
    JIT: {"feedback": "jit"},
    REACTIVE: {"feedback": "jit", "feedback_form": comparison.REACTIVE},
    AUTO: {"feedback": "auto"},
    OPTIMIZED: {"feedback": "off"},
    OPTIMIZED_AUTO: {"feedback": "auto"},
}
#: Those of Figures 10 to 17: the paper's three, of which the reactive one is its JIT, the engine's
#: JIT, and its default; and feedback in the plan that the optimizer would choose.
CONTENDERS: Final = (REF, DOE, REACTIVE, JIT, AUTO, OPTIMIZED, OPTIMIZED_AUTO)

#: Rows by stream.
Rows = Mapping[str, pa.Table]
_QUERY: Final = "q"


@dataclass(frozen=True)
class JitPoint:
    """What one contender did.

    Attributes:
        case: which join, by which method. x: the place on the axis.
        rows: input of each measured stretch. results: output in all.
        cpu_s: CPU seconds of each stretch.
        intermediate: largest number of rows that joins held for the joins above them.
        base: largest number of rows that the streams held. Both count rows that have expired and
            are not yet cleared away, and are taken after every call of the engine.
        nbytes: largest number of bytes that both took, indexes and free places included.
    """

    case: str
    x: float
    contender: str
    rows: int
    results: int
    cpu_s: tuple[float, ...]
    intermediate: int
    base: int
    nbytes: int = 0

    @property
    def cpu(self) -> float:
        """CPU seconds of the median stretch."""
        return statistics.median(self.cpu_s)

    @property
    def state(self) -> int:
        """Rows held: the paper's memory."""
        return self.intermediate + self.base


class JitRun:
    """An engine at work.

    Args:
        script: declares the streams.
        query: the join; as a tree, whose joins are those of its sub-selects.
        nested_loops: whether joins scan all rows, or look them up by hash.
        executor: ``eddy``: all its streams are joined in a flow.
        statistics: of the streams, where the plan is the optimizer's.
    """

    def __init__(
        self,
        script: str,
        query: str,
        contender: str,
        *,
        nested_loops: bool,
        executor: Executor = "tree",
        statistics: Statistics = UNKNOWN,
    ) -> None:
        self.contender = contender
        self.cpu_s: list[float] = []
        self.intermediate = self.base = self.nbytes = 0
        self._results = self._checksum = 0
        strategy = eddyline.StrategyOptions(
            executor=executor,
            nested_loops=nested_loops,
            replan=math.inf,  # the plan is what is compared
            **OPTIONS[contender],
        )
        options = eddyline.EngineOptions(statistics=statistics)
        self._engine = eddyline.Engine(options, strategy)
        self._engine.sql(script)
        self._engine.query(query, name=_QUERY)

    def play(self, batches: Iterable[Rows]) -> None:
        """Take in batches, a call of the engine for each, and measure them as one stretch.

        Python's cycles are collected between calls: a collection looks at the engines of all
        contenders, and would be counted for the one whose turn it is.
        """
        spent = 0.0
        for batch in batches:
            gc.disable()
            begin = time.process_time()
            found = process_all(self._engine, dict(batch))[_QUERY]
            spent += time.process_time() - begin
            gc.enable()
            self._results += found.num_rows
            self._checksum = (self._checksum + checksum(found)) % 2**64
            stats = self._engine.stats()
            self.intermediate = max(
                self.intermediate, sum(o["rows_kept"] for o in stats["operators"])
            )
            self.base = max(self.base, sum(s["rows_kept"] for s in stats["streams"].values()))
            self.nbytes = max(self.nbytes, stats["queries"][_QUERY]["state_bytes"])
        self.cpu_s.append(spent)

    def answer(self) -> tuple[int, int]:
        """How many results there were, and their checksum."""
        return self._results, self._checksum

    def point(self, case: str, x: float, rows: int, cpu_s: Sequence[float]) -> JitPoint:
        """What was measured; the arguments as of :class:`JitPoint`."""
        return JitPoint(
            case,
            x,
            self.contender,
            rows,
            self._results,
            tuple(cpu_s),
            self.intermediate,
            self.base,
            self.nbytes,
        )


def require_equal_answers(what: str, runs: Iterable[JitRun]) -> None:
    """Contenders must have the same results.

    Raises:
        AssertionError: they have not; with their number and checksum by contender.
    """
    answers = {run.contender: run.answer() for run in runs}
    assert len(set(answers.values())) == 1, f"{what}: answers differ: {answers}"


def checksum(table: pa.Table) -> int:
    """Of new results, integers and instants in whatever order: equal bags have equal sums."""
    mixed: Any = np.zeros(table.num_rows, np.uint64)
    for column in table.drop_columns(["_op"]).columns:
        values = column.cast(pa.int64()).to_numpy().view(np.uint64)
        mixed = (mixed ^ values) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(29)
    return int(mixed.sum(dtype=np.uint64))
