"""The catalog: the declared streams, tables, views, queries and functions. Names ignore case."""

from __future__ import annotations

from collections.abc import Callable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar, overload

import pyarrow as pa

from eddyline.algebra.catalog import StreamDef, TableDef
from eddyline.algebra.drawn_columns import drawn_columns
from eddyline.algebra.functions import CodeFunction, SqlFunction, UserAggregate, UserFunction
from eddyline.errors import CatalogError, did_you_mean
from eddyline.sql.naming import require_name
from eddyline.sql.statements import (
    CreateQuery,
    CreateStream,
    CreateTable,
    CreateView,
    Drop,
    ObjectKind,
    Select,
    Statement,
)
from eddyline.types import TIMESTAMP

OwnFunction = CodeFunction | SqlFunction
V = TypeVar("V")
D = TypeVar("D")


class Names(dict[str, V]):
    """A mapping by name that keeps names as they were declared first, and ignores case in look-ups.

    A name that is spelled as declared is looked up like any key of a dict.

    Attributes:
        version: grows when a name is set or removed.
    """

    def __init__(self) -> None:
        super().__init__()
        self._declared: dict[str, str] = {}  # by name in lower case
        self.version = 0

    def __missing__(self, name: str) -> V:
        return super().__getitem__(self._declared[name.lower()])

    def __setitem__(self, name: str, value: V) -> None:
        super().__setitem__(self._declared.setdefault(name.lower(), name), value)
        self.version += 1

    def __delitem__(self, name: str) -> None:
        super().__delitem__(self._declared.pop(name.lower()))
        self.version += 1

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name.lower() in self._declared

    @overload  # type: ignore[override]  # names only
    def get(self, name: str) -> V | None: ...

    @overload
    def get(self, name: str, default: D) -> V | D: ...

    def get(self, name: str, default: D | None = None) -> V | D | None:
        """The value of a name, or ``default``."""
        declared = self._declared.get(name.lower())
        return default if declared is None else self[declared]

    def pop(self, name: str, *default: D) -> V | D:
        """Remove a name; its value, or ``default``."""
        if default and name not in self:
            return default[0]
        value = self[name]
        del self[name]
        return value

    def setdefault(self, name: str, default: V) -> V:
        """The value of a name, which is set to ``default`` first if there is none."""
        if name not in self:
            self[name] = default
        return self[name]

    def update(self, entries: Mapping[str, V]) -> None:  # type: ignore[override]  # mappings only
        """Set the values of several names."""
        for name, value in entries.items():
            self[name] = value


@dataclass
class Catalog:
    """Streams, tables, views and queries, whose names are distinct together, and user functions.

    Attributes:
        kept_by: by stream and instants (int64[n], us), the shares of rows that drop boxes kept
            (float64[n]); None: all rows.
        dealt_by: by stream and the columns that decide on its rows, the parts that these are dealt
            to (int64[n]); None: one.
    """

    streams: Names[StreamDef] = field(default_factory=Names)
    tables: Names[TableDef] = field(default_factory=Names)
    views: Names[Select] = field(default_factory=Names)
    queries: Names[Select] = field(default_factory=Names)
    functions: Names[OwnFunction] = field(default_factory=Names)
    kept_by: Callable[[str, Any], Any] | None = None
    dealt_by: Callable[[str, Sequence[pa.Array]], Any] | None = None
    _kept: Names[UserFunction] = field(default_factory=Names)
    _dealt: Names[UserFunction] = field(default_factory=Names)

    def kept(self, stream: str) -> UserFunction:
        """The function from the event time of a stream's row to the share that was kept then."""
        if stream not in self._kept:

            def evaluate(ts: pa.Array) -> Any:
                if self.kept_by is None:
                    return pa.repeat(1.0, len(ts))
                return self.kept_by(stream, ts.cast(pa.int64()).to_numpy())

            arguments, result = (TIMESTAMP,), pa.float64()
            self._kept[stream] = UserFunction("_kept", arguments, result, "arrow", evaluate)
        return self._kept[stream]

    def dealt(self, stream: str) -> UserFunction:
        """The function from the columns that decide on a stream's row to the part that it is in."""
        if stream not in self._dealt:
            types = [f.type for f in self.streams[stream].schema]

            def evaluate(*drawn: pa.Array) -> Any:
                if self.dealt_by is None:
                    return pa.repeat(0, len(drawn[0]))
                return self.dealt_by(stream, drawn)

            arguments, result = tuple(types[i] for i in drawn_columns(types)), pa.int64()
            self._dealt[stream] = UserFunction("_part", arguments, result, "arrow", evaluate)
        return self._dealt[stream]

    @property
    def version(self) -> tuple[int, ...]:
        """Another one when something else than queries was created or dropped."""
        return tuple(
            names.version for names in (self.streams, self.tables, self.views, self.functions)
        )

    @property
    def code(self) -> tuple[CodeFunction, ...]:
        """The functions that have code, in order."""
        return tuple(f for f in self.functions.values() if not isinstance(f, SqlFunction))

    def aggregate(self, name: str) -> UserAggregate | SqlFunction | None:
        """The aggregate of this name that is defined here."""
        found = self.functions.get(name)
        if isinstance(found, UserAggregate) or (
            isinstance(found, SqlFunction) and found.is_aggregate
        ):
            return found
        return None

    def create_stream(self, definition: StreamDef) -> None:
        """Add a stream.

        Raises:
            CatalogError: the name is taken.
            SqlError: the name is not valid. Both also for the other three kinds.
        """
        self._require_free("stream", definition.name)
        for functions in (self._kept, self._dealt):  # of an earlier stream of this name
            functions.pop(definition.name, None)
        self.streams[definition.name] = definition

    def create_table(self, definition: TableDef) -> None:
        """Add a table."""
        self._require_free("table", definition.name)
        self.tables[definition.name] = definition

    def create_view(self, name: str, select: Select) -> None:
        """Add a view."""
        self._require_free("view", name)
        self.views[name] = select

    def create_query(self, name: str, select: Select) -> None:
        """Add a query, so that others can read it as a view."""
        self._require_free("query", name)
        self.queries[name] = select

    def require_free(self, query: str) -> None:
        """Check that a query can have this name.

        Raises:
            CatalogError: it is taken. SqlError: it is not valid.
        """
        self._require_free("query", query)

    def drop(self, kind: ObjectKind, name: str) -> None:
        """Remove a stream, table, view, query or function. The caller checks that nothing reads it.

        Raises:
            CatalogError: the name is unknown.
        """
        names = self._of(kind)
        if name not in names:
            raise CatalogError(f"there is no {kind} '{name}'; {did_you_mean(name, names)}")
        del names[name]

    def apply(self, statement: Statement) -> None:
        """Carry out a CREATE or DROP statement.

        Raises:
            CatalogError: the name of CREATE is taken, or that of DROP is unknown.
        """
        match statement:
            case CreateStream():
                self.create_stream(statement.definition)
            case CreateTable():
                self.create_table(statement.definition)
            case CreateView():
                self.create_view(statement.name, statement.select)
            case CreateQuery():
                self.create_query(statement.name, statement.select)
            case Drop():
                self.drop(statement.kind, statement.name)
            case _:
                raise TypeError(f"{type(statement).__name__} does not change the catalog")

    def names(self) -> list[str]:
        """The names that FROM accepts."""
        return [*self.streams, *self.tables, *self.views, *self.queries]

    def _of(self, kind: ObjectKind) -> MutableMapping[str, StreamDef | TableDef | Select]:
        # the value types of the four mappings differ; only look-up and removal are used here
        found: MutableMapping[str, StreamDef | TableDef | Select]
        found = getattr(self, {"query": "queries"}.get(kind, f"{kind}s"))
        return found

    def _require_free(self, kind: ObjectKind, name: str) -> None:
        require_name(name)
        kinds: tuple[ObjectKind, ...] = ("stream", "table", "view", "query")
        if any(name in names for names in (self.streams, self.tables, self.views, self.queries)):
            taken = next(k for k in kinds if name in self._of(k))
            raise CatalogError(
                f"cannot create {kind} '{name}': a {taken} of this name exists; DROP it first"
            )
