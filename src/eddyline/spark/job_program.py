"""The program of a job: its layouts, and what its checkpoint keeps of them."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from eddyline.engine.options import EngineOptions, StrategyOptions
from eddyline.spark.directory import Directory
from eddyline.spark.layout_shards import LayoutShards, layouts_of
from eddyline.spark.program_diff import require_same
from eddyline.spark.program_file import (
    SPARK_DIRECTORY,
    SavedLayout,
    SavedProgram,
    read_program,
    write_program,
)
from eddyline.spark.script import QueryGroup, Script

_CAPACITY_TOLERANCE: Final = 1.001
_log = logging.getLogger(__name__)


class JobProgram:
    """The layouts of a script's queries, claimed for a checkpoint.

    Prices and cores are those of the first start, because the state fits the plans that were chosen
    by them.

    Args:
        checkpoint: its directory; a new one is written.
        shards: number of partitions, and the largest number of cells of a layout; None: as many as
            the checkpoint has, and a new one as there are cores.
        cores: available for tasks.

    Attributes:
        shards: as chosen. layouts: of all groups.

    Raises:
        StateError: the checkpoint belongs to another program, or cannot be read or written.
    """

    def __init__(
        self,
        checkpoint: Directory,
        script: Script,
        groups: Sequence[QueryGroup],
        shards: int | None,
        cores: int,
    ) -> None:
        saved = read_program(checkpoint)
        self.shards = shards or (cores if saved is None else saved.shards)
        self._script = script
        self.layouts = layouts_of(script, groups, self.shards, cores)
        program = self._program()
        if saved is None:
            write_program(checkpoint, program)
            for place in (SPARK_DIRECTORY, "late", "bad"):
                checkpoint.make(place)  # Eddyline creates them readable by the owner only
        else:
            require_same(checkpoint.path, saved, program, script.functions)
            cores_of = {of.shards: of.cores for of in saved.layouts}
            self.layouts = [replace(of, cores=cores_of[of.ids]) for of in self.layouts]
        self._saved = program if saved is None else saved

    @property
    def strategy(self) -> StrategyOptions:
        """The algorithms and structures of the engines."""
        return self._saved.strategy

    def options(self, layout: LayoutShards) -> EngineOptions:
        """The options of the engines of a layout."""
        return replace(self._saved.options, capacity=layout.cores)

    def warn(self) -> None:
        """Log a capacity above what engines can use, and queries that need more than they have."""
        usable = sum(of.cores * len(of.ids) for of in self.layouts)
        capacity = self._saved.options.capacity
        if capacity is not None and capacity > usable * _CAPACITY_TOLERANCE:
            _log.warning(
                "of capacity %g only %g cores can be used: a shard runs on one core",
                capacity,
                usable,
            )
        if not self._saved.options.keep:
            cores = [self._cores(group) for group in self._script.groups()]
            for _, _, advice in self._script.verdicts(cores):
                if advice is not None:
                    _log.warning("overload: %s", advice)

    def _cores(self, group: QueryGroup) -> float:
        return sum(of.cores * len(of.ids) for of in self.layouts if of.group == group)

    def _program(self) -> SavedProgram:
        script = self._script
        return SavedProgram(
            self.shards,
            script.definitions,
            tuple(
                SavedLayout(of.ids, {n: script.statement(n) for n in of.queries}, of.cores, of.text)
                for of in self.layouts
            ),
            tuple(map(str, script.functions)),
            script.options,
            script.strategy,
        )
