"""Writing an engine to a checkpoint, and restoring a new engine from it.

A new engine with the same options executes the statements again; its queries get the placements
that they had. Then its parts restore their state. ``files.py`` has the format.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO, Final

import numpy as np
import pyarrow as pa

from eddyline.bulk import without_collections
from eddyline.engine.changes import Changes
from eddyline.engine.checkpoint.files import write_saved
from eddyline.engine.checkpoint.segments import Segments
from eddyline.engine.execution.bad_rows import FailureCounts
from eddyline.engine.functions import add_declared, function_declarations
from eddyline.engine.options import EngineOptions, StrategyOptions
from eddyline.engine.stateful_parts import StatefulParts
from eddyline.engine.statements import Statements
from eddyline.runtime.state import State, array, nested
from eddyline.sql.parser import parse

_PENDING: Final = "pending:"  # prefix among the tables: changes of a query that were not fetched


class EngineCheckpoint:
    """Writes the state of an engine, and restores it into a new one."""

    def __init__(self, parts: StatefulParts, statements: Statements) -> None:
        self._parts = parts
        self._statements = statements

    def save(
        self,
        target: str | Path | BinaryIO,
        options: EngineOptions,
        strategy: StrategyOptions,
        segments: Segments | None = None,
    ) -> None:
        """Write everything to a path or a binary file.

        Args:
            options, strategy: for the engine that is made of the file.
            segments: keep the rows of stores; None: they are written to the same file.
        """
        self._parts.queries.finish()
        changes = Changes(
            self._parts.queries.all.now(), self._parts.queries.execution.pending.changes()
        )
        pending = {_PENDING + name: changes[name] for name in changes.active()}
        tables = {**self._parts.inputs.contents, **pending}
        statements = [entry.text for entry in self._parts.definitions]
        header = self._header(options, strategy)
        write_saved(target, statements, tables, header, self._state(), segments)

    def _header(self, options: EngineOptions, strategy: StrategyOptions) -> dict[str, Any]:
        """What is written as JSON: the options, and state that is no array."""
        keep = {} if self._parts.overload.decides else self._parts.shedding.requested
        return {
            "options": replace(options, keep=keep).as_dict(),
            "strategy": strategy.as_dict(),
            "shedding": {
                "since": self._parts.shedding.saved(),
                "overload": self._parts.overload.saved(),
            },
            "functions": function_declarations(self._parts.catalog),
            "counted": sorted(self._parts.inputs.counted),
            "groups": self._parts.progress.saved(),
            "placements": self._parts.queries.placements.saved(),
            "aside": {n: q.set_aside for n, q in self._parts.queries.aside.items()},
            "trouble": self._parts.queries.troubles(),
        }

    def _state(self) -> State:
        inputs = self._parts.inputs
        counters = [
            inputs.arrived,
            inputs.arrival,
            inputs.sequence,
            self._statements.unnamed,
        ]
        return {
            "counters": np.array(counters, np.int64),
            **inputs.state(),
            "instances": self._parts.queries.instances(),
            "operators": {str(i): o.state() for i, o in enumerate(self._parts.queries.to_save())},
        }

    def restore(
        self,
        program: Sequence[str],
        tables: Mapping[str, pa.Table],
        header: Mapping[str, Any],
        state: State,
        functions: Mapping[str, Callable[..., Any]],
    ) -> None:
        """Restore a new engine from the result of ``read_saved``.

        Args:
            functions: the code of user-defined functions, by name.
        """
        add_declared(self._parts.catalog, header["functions"], functions)
        self._parts.inputs.counted = frozenset(header["counted"])
        self._statements.aside = header["aside"]
        with without_collections():
            self._carry_out(program, tables, header["placements"]["queries"])
        self._statements.aside = {}
        self._restore(state, header["groups"])
        queries = self._parts.queries.all.now()
        for name, trouble in header["trouble"].items():
            queries[name].failures = FailureCounts(*trouble)
        self._parts.queries.placements.restore_measured(header["placements"])
        self._parts.overload.restore(header["shedding"]["overload"])
        self._parts.shedding.restore(header["shedding"]["since"])
        for name, rows in tables.items():
            if name.startswith(_PENDING):
                self._parts.queries.put_back(name.removeprefix(_PENDING), rows)

    def _carry_out(
        self, program: Sequence[str], tables: Mapping[str, pa.Table], placements: Mapping[str, Any]
    ) -> None:
        """Create streams, tables and queries again; static tables get their rows at once."""
        self._statements.placements = placements
        for text in program:
            for statement in parse(text):
                self._statements.execute(statement)
            for name in self._parts.catalog.tables:
                if name in tables:
                    self._parts.inputs.contents.setdefault(name, tables[name])
        self._statements.placements = {}

    def _restore(self, state: State, groups: Sequence[dict[str, Any]]) -> None:
        inputs = self._parts.inputs
        arrived, arrival, sequence, unnamed = (int(v) for v in array(state, "counters"))
        inputs.arrived, inputs.arrival, inputs.sequence = arrived, arrival, sequence
        self._statements.unnamed = unnamed
        self._parts.progress.resume(groups)
        inputs.restore(state)
        self._parts.queries.sync(nested(state, "instances"))
        places = {operator: str(i) for i, operator in enumerate(self._parts.queries.to_save())}
        for operator in self._parts.queries.operators():
            place = places.get(operator, "")  # probed inputs have no state of their own
            operator.restore(nested(nested(state, "operators"), place))
        for group in inputs.groups.all:
            for operator in self._parts.queries.execution.chain_of(group).operators:
                operator.clock = group.clock
        for shared in self._parts.queries.execution.flows.values():
            for view in shared.views:
                view.rebuild(shared.flow.clock)
