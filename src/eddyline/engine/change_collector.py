"""Collects the output of an engine: changes of the queries, and late and bad rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pyarrow as pa

from eddyline.engine.changes import Changes
from eddyline.engine.ingest.inputs import Inputs
from eddyline.engine.overload.shedding import Shedding
from eddyline.engine.query_set import QuerySet


class ChangeCollector:
    """Returns the output of all queries at once, or item by item; the next call returns what was
    not consumed.

    Args:
        inputs, queries, shedding: the parts of the engine with output.
    """

    def __init__(self, inputs: Inputs, queries: QuerySet, shedding: Shedding) -> None:
        self._inputs = inputs
        self._queries = queries
        self._shedding = shedding
        self._rest: dict[str, dict[str, pa.Table]] = {"late": {}, "bad": {}}

    def changes(
        self, late: Mapping[str, pa.Table] | None = None, bad: Mapping[str, pa.Table] | None = None
    ) -> Changes:
        """The changes of all queries and the side outputs: these late and bad rows, by stream, and
        those that were not consumed.
        """
        rest, self._rest = self._rest, {"late": {}, "bad": {}}
        late = _joined(rest["late"], late or {})
        bad = _joined(rest["bad"], bad or {}, self._inputs.refused(), self._queries.take_bad())
        kept = self._shedding.since_last_report() if self._shedding.reported else {}
        return Changes(self._queries.everyone(), self._queries.take(), late, bad, kept)

    def items(self) -> Iterator[tuple[str, pa.Table]]:
        """The output so far: names, and changes or rows."""
        changes = self.changes()
        names = changes.active()[::-1]
        try:
            yield from self.side_output("late", changes.late)
            yield from self.side_output("bad", changes.bad)
            while names:
                name = names.pop()
                yield name, changes[name]
        finally:
            for name in names:
                if name in self._queries.everyone():
                    self._queries.put_back(name, changes[name])

    def side_output(self, kind: str, tables: dict[str, pa.Table]) -> Iterator[tuple[str, pa.Table]]:
        """Rows that are ``late`` or ``bad``, by stream."""
        try:
            for name in list(tables):
                yield f"{kind}:{name}", tables.pop(name)
        finally:
            self._rest[kind] |= tables


def _joined(*parts: Mapping[str, pa.Table]) -> dict[str, pa.Table]:
    """Tables of the same name one behind the other."""
    names = dict.fromkeys(name for part in parts for name in part)
    return {n: pa.concat_tables([part[n] for part in parts if n in part]) for n in names}
