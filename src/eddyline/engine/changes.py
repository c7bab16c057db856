"""The result of a call of the engine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import pyarrow as pa

from eddyline.engine.execution.pieces import TableChanges
from eddyline.engine.overload.shedding import KeptRows
from eddyline.engine.pictures import table_html
from eddyline.engine.query import Query
from eddyline.runtime.output import concat_changes

#: The column that names the query where changes of several are in one table.
QUERY_COLUMN = "_query"
#: The column that numbers the set of queries that get a result, where each is there once.
SET_COLUMN = "_set"
_SHOWN = 20
_TABLES_SHOWN = 5


class KnownQueries:
    """Queries by name. What ``now`` returns stays as it is when queries are added and dropped."""

    def __init__(self) -> None:
        self._by_name: dict[str, Query] = {}
        self._lent = False  # whether a caller of ``now`` has the dict

    def put(self, query: Query) -> None:
        """Add a query, as the last one."""
        own = self._own()
        own.pop(query.name, None)
        own[query.name] = query

    def drop(self, name: str) -> None:
        """Remove a query."""
        del self._own()[name]

    def now(self) -> Mapping[str, Query]:
        """All of them, as of now."""
        self._lent = True
        return self._by_name

    def _own(self) -> dict[str, Query]:
        if self._lent:
            self._by_name, self._lent = dict(self._by_name), False
        return self._by_name


class Changes(Mapping[str, pa.Table]):
    """Changes by query name: ``_op``, ``_ts``, ``_exp``, then the select list.

    Queries that share a flow and a select list have their changes in one table, from which those
    of a query are cut on access. With thousands of queries, use ``active`` or ``batches``.

    Attributes:
        late: by stream, the rows that came behind the watermark, with ``_reason``.
        bad: by stream, the rows that could not be used, as text, with ``_reason``.
        kept: by stream that is thinned, number of its rows and of those that were kept.
    """

    def __init__(
        self,
        queries: Mapping[str, Query],
        tables: Sequence[TableChanges] = (),
        late: Mapping[str, pa.Table] | None = None,
        bad: Mapping[str, pa.Table] | None = None,
        kept: Mapping[str, KeptRows] | None = None,
    ) -> None:
        self._queries = queries
        self._tables = tuple(tables)
        self._shared: list[TableChanges] = []
        self._owned: dict[str, list[TableChanges]] = {}
        for table in tables:
            if table.owner is None:
                self._shared.append(table)
            else:
                self._owned.setdefault(table.owner, []).append(table)
        self.late = dict(late or {})
        self.bad = dict(bad or {})
        self.kept = dict(kept or {})

    def __getitem__(self, name: str) -> pa.Table:
        query = self._queries[name]
        parts = [t.of(name) for t in self._owned.get(name, ())]
        parts += [t.of(name) for t in self._shared if name in t]
        return concat_changes(parts, query.change_schema) if parts else query.no_changes

    def __iter__(self) -> Iterator[str]:
        return iter(self._queries)

    def __len__(self) -> int:
        return len(self._queries)

    def active(self) -> list[str]:
        """The names of the queries that have changes."""
        names = dict.fromkeys(self._owned)
        for shared in self._shared:
            names.update(dict.fromkeys(shared.active()))
        return [n for n in names if n in self._queries]

    def batches(self) -> Iterator[pa.Table]:
        """All changes, one table per select list of a flow or per other query, with ``_query`` as
        the first column.

        The changes of one query are in order; those of several follow query by query.
        """
        for table in self._tables:
            yield table.together(QUERY_COLUMN)

    def sets(self) -> Iterator[tuple[pa.Table, Sequence[list[str]]]]:
        """All changes, each once, with the queries that get them.

        Where a thousand queries differ in their windows only, this takes a fraction of the time of
        a copy for each of them. The expiry of a result is left out: it differs per query.

        Yields:
            A table without ``_exp`` whose first column, ``_set``, numbers a set of queries; and
            those sets, as lists of names.
        """
        for table in self._tables:
            yield from table.sets(SET_COLUMN)

    def _repr_html_(self) -> str:
        """For notebooks: the changes of the first queries that have some, late and bad rows."""
        names = self.active()
        parts = [table_html(self[name], name) for name in names[:_TABLES_SHOWN]]
        if len(names) > _TABLES_SHOWN:
            parts.append(f"<p>... and changes of {len(names) - _TABLES_SHOWN:,} more queries</p>")
        parts += [table_html(rows, f"late rows of {s}") for s, rows in self.late.items()]
        parts += [table_html(rows, f"bad rows of {s}") for s, rows in self.bad.items()]
        return "".join(parts) or "<p>no changes</p>"

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
