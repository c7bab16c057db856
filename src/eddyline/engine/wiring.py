"""The parts of an engine, and how they are connected."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from typing import Any

from eddyline.engine.checkpoint.checkpoint import EngineCheckpoint
from eddyline.engine.declared_statistics import DeclaredStatistics
from eddyline.engine.definitions import Definitions
from eddyline.engine.execution.progress import Progress
from eddyline.engine.feeding import Feeding
from eddyline.engine.ingest.inputs import Inputs
from eddyline.engine.locking import EngineLock
from eddyline.engine.overload.controller import Overload
from eddyline.engine.overload.drop_box import DropBox
from eddyline.engine.overload.intake_times import IntakeTimes
from eddyline.engine.overload.measured import Measured
from eddyline.engine.overload.shedding import Shedding
from eddyline.engine.overload.state_sizes import StateSizes
from eddyline.engine.planning import Planning
from eddyline.engine.query import Query
from eddyline.engine.query_set import QuerySet
from eddyline.engine.settings import Settings
from eddyline.engine.stateful_parts import StatefulParts
from eddyline.engine.statements import Statements
from eddyline.optimizer.prices import Prices
from eddyline.optimizer.statistics import Statistics
from eddyline.sql.catalog import Catalog


@dataclass(frozen=True)
class Parts(StatefulParts):
    """The parts of an engine. ``statistics``: those of the options, and declared ones."""

    statistics: Statistics
    planning: Planning
    statements: Statements
    feeding: Feeding
    checkpoint: EngineCheckpoint

    def configure(self, settings: Settings) -> None:
        """Apply the options; there is no query yet."""
        options, strategy = settings.options, settings.strategy
        self.planning.rewrites = strategy.optimize
        self.planning.margin = strategy.replan if strategy.optimize else inf
        self.queries.plan_by(
            strategy.planned_by(self.statistics), strategy.shared_by(options.chunk_rows)
        )
        self.statements.configure()
        self.inputs.limit_ahead(options.ahead_us)
        self.queries.set_aside_after = options.set_aside_after
        self.progress.chunk_rows = options.chunk_rows
        self.overload.configure(options)
        self.feeding.latency_us = options.latency_us

    def shedding_report(self) -> dict[str, dict[str, Any]]:
        """See :attr:`Engine.shedding`."""
        self.overload.begin_call()
        return self.shedding.report()

    def stats(self, now_us: int) -> dict[str, Any]:
        """See :meth:`Engine.stats`; ``now_us``: the wall clock."""
        streams, tables = self.inputs.stats()
        return {
            "clock": self.progress.clock,
            "watermark": self.progress.watermark,
            "groups": self.progress.stats(now_us),
            "streams": streams,
            "tables": tables,
            "shedding": self.shedding_report(),
            "cores": self.overload.cores(),
            "memory": self.overload.memory_needs_now(),
            "queries": self.queries.stats(),
            "operators": [o.stats() for o in self.queries.operators()],
            "measured": self.inputs.measuring.statistics().as_dict(),
        }


def connect(
    settings: Settings,
    prices: Prices,
    lock: EngineLock,
    wall_clock: Callable[[], int],
) -> Parts:
    """New parts for an engine.

    Args:
        prices: of the steps of operators.
        lock: of the engine. wall_clock: microseconds since 1970.
    """
    options, strategy = settings.options, settings.strategy
    catalog, definitions, inputs = Catalog(), Definitions(), Inputs()
    catalog.kept_by = lambda stream, ts: inputs.intake(stream).steps.at(ts)
    catalog.dealt_by = lambda stream, drawn: DropBox(stream, 1.0).parts(drawn)
    declared = DeclaredStatistics()
    statistics = options.statistics.over(declared.statistics)
    planning = Planning(
        strategy.optimize,
        statistics,
        inputs.measuring.statistics,
        prices,
        margin=strategy.replan if strategy.optimize else inf,
        rows=lambda: inputs.arrived,
        counted=lambda: inputs.counted,
    )
    queries = QuerySet(
        lock,
        inputs.stem,
        strategy.planned_by(statistics),
        strategy.shared_by(options.chunk_rows),
        planning,
        inputs.rows_in,
        inputs.groups,
    )
    planning.corrections = lambda: queries.workload.results.corrections
    progress = Progress(inputs, queries, wall_clock)
    shedding = Shedding(inputs, statistics)
    overload = _overload(shedding, inputs, queries, statistics, prices)
    planning.sheds = lambda streams: overload.decides and shedding.thins(streams)
    stateful = StatefulParts(catalog, inputs, queries, definitions, progress, shedding, overload)
    statements = Statements(stateful, declared, planning)
    parts = Parts(
        **vars(stateful),
        statistics=statistics,
        planning=planning,
        statements=statements,
        feeding=Feeding(stateful, wall_clock, prices, lock),
        checkpoint=EngineCheckpoint(stateful, statements),
    )
    parts.configure(settings)
    return parts


def _overload(
    shedding: Shedding, inputs: Inputs, queries: QuerySet, statistics: Statistics, prices: Prices
) -> Overload:
    graph = queries.execution.graph
    intake = IntakeTimes(lambda: sum(o.cpu_seconds + o.delivering_seconds for o in graph))
    sizes = StateSizes(inputs.stems, queries.holders)
    measured = Measured(inputs.measuring.statistics, intake, sizes)
    overload = Overload(shedding, inputs, queries.workload, statistics, prices, measured)

    def release(query: Query) -> None:
        """A query that is set aside neither needs capacity nor refuses that rows are dropped."""
        shedding.drop(query)
        overload.changed()

    queries.on_set_aside = release
    return overload
