"""What a call of the engine gives back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pyarrow as pa

from eddyline.engine.execution.result_tables import SharedChanges
from eddyline.engine.overload.shedding import KeptRows
from eddyline.engine.query import Query

#: The column that names the query where changes of several are in one table.
QUERY_COLUMN = "_query"
#: The column that numbers the set of queries that get a result, where each is there once.
SET_COLUMN = "_set"
_SHOWN = 20


class Changes(Mapping[str, pa.Table]):
    """Changes by query name: ``_op``, ``_ts``, ``_exp``, then the select list.

    Queries that share a flow and a select list have their changes in one batch, from which those
    of a query are cut when somebody asks. With thousands of queries, ask for ``active`` ones, or
    for ``batches``.

    Attributes:
        late: by stream, the rows that came behind the watermark, with ``_reason``.
        bad: by stream, the rows that could not be used, as text, with ``_reason``.
        kept: by stream that is thinned, how many rows were looked at and how many of them kept.
    """

    def __init__(
        self,
        queries: Mapping[str, Query],
        own: Mapping[str, pa.Table],
        shared: Sequence[SharedChanges] = (),
        late: Mapping[str, pa.Table] | None = None,
        bad: Mapping[str, pa.Table] | None = None,
        kept: Mapping[str, KeptRows] | None = None,
    ) -> None:
        self._queries = queries
        self._own = own
        self._shared = tuple(shared)
        self.late = dict(late or {})
        self.bad = dict(bad or {})
        self.kept = dict(kept or {})

    def __getitem__(self, name: str) -> pa.Table:
        query = self._queries[name]
        parts = [self._own[name]] if name in self._own else []
        parts += [s.of(name) for s in self._shared if name in s]
        return pa.concat_tables(parts) if parts else query.change_schema.empty_table()

    def __iter__(self) -> Iterator[str]:
        return iter(self._queries)

    def __len__(self) -> int:
        return len(self._queries)

    def active(self) -> list[str]:
        """The names of the queries that have changes."""
        names = dict.fromkeys(self._own)
        for shared in self._shared:
            names.update(dict.fromkeys(shared.active()))
        return [n for n in names if n in self._queries]

    def batches(self) -> Iterator[pa.Table]:
        """All changes, one table per shape of queries, with ``_query`` as the first column.

        The changes of one query are in order; those of several stand one query after the other.
        """
        for name, table in self._own.items():
            query = pa.repeat(name, table.num_rows).dictionary_encode()
            yield table.add_column(0, pa.field(QUERY_COLUMN, query.type), query)
        for shared in self._shared:
            yield shared.together(QUERY_COLUMN)

    def sets(self) -> Iterator[tuple[pa.Table, Sequence[list[str]]]]:
        """All changes, each once, with the queries that get them.

        Where a thousand queries differ in their windows only, this takes a fraction of what a copy
        for each of them does. When a result leaves the answers is not said: it differs.

        Yields:
            A table without ``_exp`` whose first column, ``_set``, numbers a set of queries; and
            those sets, as lists of names.
        """
        for name, table in self._own.items():
            zeros = pa.array(np.zeros(table.num_rows, np.int32))
            yield table.drop_columns(["_exp"]).add_column(0, SET_COLUMN, zeros), [[name]]
        for shared in self._shared:
            yield from shared.sets(SET_COLUMN)

    def __repr__(self) -> str:
        names = self.active()
        shown = names if len(self) > _SHOWN else list(self)
        parts = [f"{name}: {self[name].num_rows} changes" for name in shown[:_SHOWN]]
        if len(shown) > _SHOWN or len(self) > _SHOWN:
            parts.append(f"... ({len(names)} of {len(self)} queries have changes)")
        parts += [f"{t.num_rows} late rows of {s}" for s, t in self.late.items()]
        parts += [f"{t.num_rows} bad rows of {s}" for s, t in self.bad.items()]
        parts += [f"kept {k.kept} of {k.seen} rows of {s}" for s, k in self.kept.items()]
        return f"Changes({', '.join(parts)})"
