"""What an engine tells its caller: changes of the queries, and rows that they could not have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pyarrow as pa

from eddyline.engine.changes import Changes
from eddyline.engine.ingest.inputs import Inputs
from eddyline.engine.overload.shedding import Shedding
from eddyline.engine.query_set import QuerySet


class Telling:
    """Tells all at once, or one query after the other. What nobody listens to is kept.

    Args:
        inputs, standing, shedding: the parts of the engine that have something to tell.
    """

    def __init__(self, inputs: Inputs, standing: QuerySet, shedding: Shedding) -> None:
        self._inputs = inputs
        self._standing = standing
        self._shedding = shedding
        self._unheard: dict[str, dict[str, pa.Table]] = {"late": {}, "bad": {}}

    def changes(
        self, late: Mapping[str, pa.Table] | None = None, bad: Mapping[str, pa.Table] | None = None
    ) -> Changes:
        """What all queries emitted, with the side outputs: these late and bad rows, by stream, and
        those that nobody has listened to.
        """
        unheard, self._unheard = self._unheard, {"late": {}, "bad": {}}
        late = _joined(unheard["late"], late or {})
        bad = _joined(unheard["bad"], bad or {}, self._inputs.refused(), self._standing.take_bad())
        kept = self._shedding.since_last_report() if self._shedding.reported else {}
        return Changes(self._standing.everyone(), self._standing.take(), late, bad, kept)

    def said(self) -> Iterator[tuple[str, pa.Table]]:
        """What there is to say now: names, and changes or rows."""
        changes = self.changes()
        names = changes.active()[::-1]
        try:
            yield from self.aside("late", changes.late)
            yield from self.aside("bad", changes.bad)
            while names:
                name = names.pop()
                yield name, changes[name]
        finally:
            for name in names:
                if name in self._standing.everyone():
                    self._standing.put_back(name, changes[name])

    def aside(self, kind: str, tables: dict[str, pa.Table]) -> Iterator[tuple[str, pa.Table]]:
        """Rows that are ``late`` or ``bad``, by stream."""
        try:
            for name in list(tables):
                yield f"{kind}:{name}", tables.pop(name)
        finally:
            self._unheard[kind] |= tables


def _joined(*parts: Mapping[str, pa.Table]) -> dict[str, pa.Table]:
    """Tables of the same name one behind the other."""
    names = dict.fromkeys(name for part in parts for name in part)
    return {n: pa.concat_tables([part[n] for part in parts if n in part]) for n in names}
