"""The program of a job: its layouts, and what its checkpoint keeps of them."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from eddyline.engine.options import EngineOptions, StrategyOptions
from eddyline.errors import StateError
from eddyline.optimizer.byte_sizes import part_of
from eddyline.spark.layouts.layout_shards import LayoutShards, layouts_of
from eddyline.spark.layouts.program_diff import first_sinks, require_same
from eddyline.spark.script import QueryGroup, Script
from eddyline.spark.storage.directory import Directory
from eddyline.spark.storage.program_file import (
    BAD_ROWS,
    SPARK_DIRECTORY,
    SavedLayout,
    SavedProgram,
    SavedStatement,
    read_program,
    write_program,
)
from eddyline.spark.storage.spark_batches import interruption, spark_batches

_CAPACITY_TOLERANCE: Final = 1.001
_log = logging.getLogger(__name__)


class JobProgram:
    """The layouts of a script's queries, claimed for a checkpoint.

    Prices, and the cells of each layout, are those of the first start, because the state fits them.

    Args:
        checkpoint: its directory; a new one is written.
        shards: number of partitions; None: as many as the checkpoint has, and a new one as there
            are cores.
        max_shards: the largest number of cells of a layout; None: as the checkpoint has, and a new
            one as many as ``shards``.
        cores: available for tasks.

    Attributes:
        shards: as chosen. layouts: of all groups, with the cores of a shard now.
        first_sinks: by query, the options of its sink at the first start, where they differ.

    Raises:
        StateError: the checkpoint belongs to another program, has another number of shards, or
            cannot be read or written.
    """

    def __init__(
        self,
        checkpoint: Directory,
        script: Script,
        groups: Sequence[QueryGroup],
        shards: int | None,
        max_shards: int | None,
        cores: int,
    ) -> None:
        saved, running = read_program(checkpoint), _partitions(checkpoint)
        fixed = saved.max_shards if saved is not None else None
        self._script = script
        self.shards = running or shards or _first_shards(saved, cores, max_shards)
        cells = max_shards or fixed or self.shards
        self.layouts = layouts_of(script, groups, cells, self.shards, cores)
        program = self._program(cells)
        if saved is not None:
            require_same(checkpoint.path, saved, program, script.functions)
        if shards not in (None, self.shards):
            raise StateError(
                f"the job of {checkpoint.path} has {self.shards} shards side by side, not {shards}:"
                " start it without this number, or change it by "
                f"eddyline rescale {checkpoint.path} --shards {shards}"
            )
        if saved is None or (running is None and saved.shards != self.shards):
            write_program(checkpoint, program)
            for place in (SPARK_DIRECTORY, "late", "bad", BAD_ROWS):
                checkpoint.make(place)  # Eddyline creates them readable by the owner only
            saved = program
        self._saved = saved
        self.first_sinks = first_sinks(saved, script)
        self._first_cores = {of.shards: of.cores for of in saved.layouts}
        if self.shards == saved.shards:
            self.layouts = [replace(of, cores=self._first_cores[of.ids]) for of in self.layouts]

    @property
    def max_shards(self) -> int:
        """The largest number of cells of a layout."""
        return self._saved.max_shards

    @property
    def first_shards(self) -> int:
        """Number of partitions of the first batch, for which the engines were built."""
        return self._saved.shards

    @property
    def strategy(self) -> StrategyOptions:
        """The algorithms and structures of the engines."""
        return self._saved.strategy

    def options(self, layout: LayoutShards) -> EngineOptions:
        """The options with which the engines of a layout are built: those of the first start, with
        the part of a shard of what is for all together.
        """
        options, shards = self._saved.options, sum(len(ids) for ids in self._first_cores)
        memory = part_of(options.memory, 1 / shards)
        return replace(options, capacity=self._first_cores[layout.ids], memory=memory)

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
            groups = self._script.groups()
            shards = [sum(len(of.ids) for of in self.layouts if of.group == g) for g in groups]
            shares = [n / sum(shards) for n in shards]
            for _, _, advice in self._script.verdicts(list(map(self._cores, groups)), shares):
                if advice is not None:
                    _log.warning("overload: %s", advice)

    def _cores(self, group: QueryGroup) -> float:
        return sum(of.cores * len(of.ids) for of in self.layouts if of.group == group)

    def _program(self, cells: int) -> SavedProgram:
        script = self._script
        return SavedProgram(
            self.shards,
            cells,
            tuple(SavedStatement(d.kind, d.name, d.sql) for d in script.definitions),
            tuple(SavedLayout(of.ids, of.queries, of.cores, of.text) for of in self.layouts),
            tuple(map(str, script.functions)),
            script.options,
            script.strategy,
        )


def _first_shards(saved: SavedProgram | None, cores: int, max_shards: int | None) -> int:
    """The default number of partitions, before the first batch."""
    return saved.shards if saved is not None else min(cores, max_shards or cores)


def _partitions(checkpoint: Directory) -> int | None:
    """The number of partitions of the last batch of a checkpoint; None: none has begun.

    Raises:
        StateError: a rescaling was interrupted, or Spark's log cannot be read.
    """
    found = spark_batches(checkpoint.below(SPARK_DIRECTORY))
    if (interrupted := interruption(checkpoint, found)) is not None:
        raise StateError(interrupted)
    return found.partitions
