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

from eddyline.engine.changes import Changes
from eddyline.engine.checkpoint.files import write_saved
from eddyline.engine.definitions import Definitions
from eddyline.engine.execution.bad_rows import FailureCounts
from eddyline.engine.execution.progress import Progress
from eddyline.engine.functions import add_declared, function_declarations
from eddyline.engine.ingest.inputs import Inputs
from eddyline.engine.options import EngineOptions, StrategyOptions
from eddyline.engine.overload.controller import Overload
from eddyline.engine.overload.shedding import Shedding
from eddyline.engine.query_set import QuerySet
from eddyline.engine.statements import Statements
from eddyline.runtime.state import State, array, nested
from eddyline.sql.catalog import Catalog
from eddyline.sql.parser import parse

_PENDING: Final = "pending:"  # prefix among the tables: changes of a query that were not fetched


class EngineCheckpoint:
    """Writes the state of an engine, and restores it into a new one.

    Args:
        catalog, inputs, queries, definitions, statements, shedding, overload, progress: the parts
            of the engine that have state.
    """

    def __init__(
        self,
        catalog: Catalog,
        inputs: Inputs,
        queries: QuerySet,
        definitions: Definitions,
        statements: Statements,
        shedding: Shedding,
        overload: Overload,
        progress: Progress,
    ) -> None:
        self._catalog = catalog
        self._inputs = inputs
        self._queries = queries
        self._definitions = definitions
        self._statements = statements
        self._shedding = shedding
        self._overload = overload
        self._progress = progress

    def save(
        self, target: str | Path | BinaryIO, options: EngineOptions, strategy: StrategyOptions
    ) -> None:
        """Write everything to a path or a binary file.

        Args:
            options, strategy: for the engine that is made of the file.
        """
        self._queries.finish()
        changes = Changes(self._queries.everyone(), self._queries.peek())
        pending = {_PENDING + name: changes[name] for name in changes.active()}
        tables = {**self._inputs.contents, **pending}
        statements = [entry.sql for entry in self._definitions]
        write_saved(target, statements, tables, self._header(options, strategy), self._state())

    def _header(self, options: EngineOptions, strategy: StrategyOptions) -> dict[str, Any]:
        """What is written as JSON: the options, and state that is no array."""
        keep = {} if self._overload.decides else self._shedding.requested
        return {
            "options": replace(options, keep=keep).as_dict(),
            "strategy": strategy.as_dict(),
            "shedding": {"since": self._shedding.saved(), "overload": self._overload.saved()},
            "functions": function_declarations(self._catalog),
            "groups": self._progress.saved(),
            "placements": self._queries.placements.saved(),
            "aside": {n: q.set_aside for n, q in self._queries.aside.items()},
            "trouble": self._queries.troubles(),
        }

    def _state(self) -> State:
        inputs = self._inputs
        counters = [
            inputs.arrived,
            inputs.sequence,
            self._statements.unnamed,
        ]
        return {
            "counters": np.array(counters, np.int64),
            **inputs.state(),
            "operators": {str(i): o.state() for i, o in enumerate(self._queries.to_save())},
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
        add_declared(self._catalog, header["functions"], functions)
        self._statements.aside = header["aside"]
        self._carry_out(program, tables, header["placements"]["queries"])
        self._statements.aside = {}
        self._restore(state, header["groups"])
        queries = self._queries.everyone()
        for name, trouble in header["trouble"].items():
            queries[name].failures = FailureCounts(*trouble)
        self._queries.placements.restore_measured(header["placements"])
        self._overload.restore(header["shedding"]["overload"])
        self._shedding.restore(header["shedding"]["since"])
        for name, rows in tables.items():
            if name.startswith(_PENDING):
                self._queries.put_back(name.removeprefix(_PENDING), rows)

    def _carry_out(
        self, program: Sequence[str], tables: Mapping[str, pa.Table], placements: Mapping[str, Any]
    ) -> None:
        """Create streams, tables and queries again; static tables get their rows at once."""
        self._statements.placements = placements
        for text in program:
            for statement in parse(text):
                self._statements.execute(statement)
            for name in self._catalog.tables:
                if name in tables:
                    self._inputs.contents.setdefault(name, tables[name])
        self._statements.placements = {}

    def _restore(self, state: State, groups: Sequence[dict[str, Any]]) -> None:
        inputs = self._inputs
        inputs.arrived, inputs.sequence, self._statements.unnamed = (
            int(v) for v in array(state, "counters")
        )
        self._progress.resume(groups)
        inputs.restore(state)
        self._queries.sync()
        places = {operator: str(i) for i, operator in enumerate(self._queries.to_save())}
        for operator in self._queries.operators():
            place = places.get(operator, "")  # probed inputs have no state of their own
            operator.restore(nested(nested(state, "operators"), place))
        for group in inputs.groups:
            for operator in self._queries.execution.operators_of(group):
                operator.clock = group.clock
