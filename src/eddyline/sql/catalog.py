"""The catalog: the declared streams, tables, views, queries and functions. Names ignore case."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from eddyline.algebra.catalog import StreamDef, TableDef
from eddyline.algebra.functions import UserFunction
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

V = TypeVar("V")


class Names(MutableMapping[str, V], Generic[V]):
    """A mapping by name that ignores case in look-ups and keeps it as declared."""

    def __init__(self) -> None:
        self._entries: dict[str, tuple[str, V]] = {}
        self._listed: dict[str, V] | None = None

    def __getitem__(self, name: str) -> V:
        return self._entries[name.lower()][1]

    def __setitem__(self, name: str, value: V) -> None:
        self._entries[name.lower()] = (name, value)
        self._listed = None

    def __delitem__(self, name: str) -> None:
        del self._entries[name.lower()]
        self._listed = None

    def __iter__(self) -> Iterator[str]:
        return (name for name, _ in self._entries.values())

    def __len__(self) -> int:
        return len(self._entries)

    def listed(self) -> Mapping[str, V]:
        """All entries under their declared names; later changes do not affect the result."""
        if self._listed is None:
            self._listed = dict(self._entries.values())
        return self._listed


@dataclass
class Catalog:
    """Streams, tables, views and queries, whose names are distinct together, and user functions."""

    streams: Names[StreamDef] = field(default_factory=Names)
    tables: Names[TableDef] = field(default_factory=Names)
    views: Names[Select] = field(default_factory=Names)
    queries: Names[Select] = field(default_factory=Names)
    functions: Names[UserFunction] = field(default_factory=Names)

    def create_stream(self, definition: StreamDef) -> None:
        """Add a stream.

        Raises:
            CatalogError: the name is taken.
            SqlError: the name is not valid. Both also for the other three kinds.
        """
        self._require_free("stream", definition.name)
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

    def drop(self, kind: ObjectKind, name: str) -> None:
        """Remove a stream, table, view or query. The caller checks that nothing reads it.

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
        return getattr(self, {"query": "queries"}.get(kind, f"{kind}s"))  # type: ignore[no-any-return]

    def _require_free(self, kind: ObjectKind, name: str) -> None:
        require_name(name)
        kinds: tuple[ObjectKind, ...] = ("stream", "table", "view", "query")
        taken = next((k for k in kinds if name in self._of(k)), None)
        if taken is not None:
            raise CatalogError(
                f"cannot create {kind} '{name}': a {taken} of this name exists; DROP it first"
            )
