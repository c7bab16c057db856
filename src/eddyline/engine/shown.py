"""SHOW and DESCRIBE: what an engine knows, as tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import pyarrow as pa

from eddyline.algebra import functions
from eddyline.algebra.durations import format_duration
from eddyline.algebra.functions import SqlFunction
from eddyline.engine.pictures import table_html
from eddyline.engine.query import Query
from eddyline.errors import CatalogError, did_you_mean
from eddyline.sql.binder import view_schema
from eddyline.sql.catalog import Catalog
from eddyline.sql.statements import Show
from eddyline.types import Field, Schema, sql_type

_TEXT = pa.string()


def shown(statement: Show, catalog: Catalog, queries: Mapping[str, Query]) -> pa.Table:
    """The rows of a SHOW or DESCRIBE statement, in the order of their names.

    Raises:
        CatalogError: there is no object of the name.
    """
    if statement.what == "columns":
        return _described(statement.name, catalog, queries)
    return _listed(statement.what, catalog, queries)


def _listed(what: str, catalog: Catalog, queries: Mapping[str, Query]) -> pa.Table:
    """The objects of a kind."""
    match what:
        case "streams":
            streams = [
                (
                    s.name,
                    s.timestamp,
                    format_duration(s.lateness_us) if s.lateness_us else "0 SECONDS",
                )
                for s in catalog.streams.values()
            ]
            return _table(("name", "event_time", "lateness"), streams)
        case "tables":
            tables = [(t.name, t.updates) for t in catalog.tables.values()]
            return _table(("name", "updates"), tables)
        case "views":
            return _table(("name", "sql"), [(n, s.text) for n, s in catalog.views.items()])
        case "queries":
            rows = [
                (q.name, str(q.emit), catalog.queries[q.name].text, q.set_aside)
                for q in queries.values()
            ]
            return _table(("name", "emit", "sql", "set_aside"), rows)
    return _table(("name", "form", "kind"), _functions(catalog))


def overview(catalog: Catalog, queries: Mapping[str, Query]) -> str:
    """What is declared, and the queries, as HTML."""
    kinds = ("streams", "tables", "views", "queries")
    found = {kind: _listed(kind, catalog, queries) for kind in kinds}
    return "".join(table_html(rows, kind) for kind, rows in found.items() if rows.num_rows)


def _functions(catalog: Catalog) -> Iterable[tuple[str, str, str]]:
    """Own functions, then the built-in ones: a row for each form."""
    for function in catalog.functions.values():
        kind = "sql" if isinstance(function, SqlFunction) else str(function.kind)
        yield function.name, str(function), kind
    for name, scalar in functions.FUNCTIONS.items():
        yield from ((name, form, "scalar") for form in scalar.forms if name[0].isalpha())
    for known in (functions.AGGREGATES, functions.COMPOSED):
        for name, aggregate in known.items():
            yield from ((name, form, "aggregate") for form in aggregate.forms)


def _described(name: str, catalog: Catalog, queries: Mapping[str, Query]) -> pa.Table:
    """The columns of a stream, table, view or query."""
    notes: Mapping[str, str] = {}
    schema: Schema
    if name in catalog.streams:
        stream = catalog.streams[name]
        schema, computed = stream.schema, stream.computed
        notes = {n: f"AS ({e})" for n, e in computed.items()}
        if any(f.name == stream.timestamp for f in schema):
            time = f"event time {notes.get(stream.timestamp, '')}".strip()
            notes = {**notes, stream.timestamp: time}
    elif name in catalog.tables:
        schema = catalog.tables[name].schema
    elif name in catalog.views:
        schema = view_schema(catalog.views[name], catalog)
    elif name in queries:
        schema = tuple(Field(f.name, f.type) for f in queries[name].schema)
    else:
        hint = did_you_mean(name, catalog.names())
        raise CatalogError(f"there is no stream, table, view or query '{name}'; {hint}")
    rows = [(f.name, sql_type(f.type), notes.get(f.name)) for f in schema]
    return _table(("column", "type", "note"), rows, in_order=False)


def _table(
    names: Sequence[str], rows: Iterable[tuple[str | None, ...]], *, in_order: bool = True
) -> pa.Table:
    listed = sorted(rows, key=lambda r: str(r[0]).lower()) if in_order else list(rows)
    columns = zip(*listed, strict=True) if listed else ([] for _ in names)
    arrays = [pa.array(list(c), _TEXT) for c in columns]
    return pa.table(arrays, names=list(names))
