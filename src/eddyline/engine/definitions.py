"""The statements that created an engine's objects; which object reads which."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from sqlglot import exp

from eddyline.errors import CatalogError
from eddyline.sql.nodes import all_nodes
from eddyline.sql.statements import ObjectKind, Select


@dataclass(frozen=True, slots=True)
class Definition:
    """One object: its kind and name, its CREATE statement, the lower-case names that it reads, and
    those of functions that it may call; and the ALTER statement that was the last to change it.
    """

    kind: ObjectKind
    name: str
    sql: str
    reads: frozenset[str] = frozenset()
    calls: frozenset[str] = frozenset()
    altered: str = ""

    @property
    def text(self) -> str:
        """The statements that make the object as it is."""
        return f"{self.sql};\n{self.altered}" if self.altered else self.sql


class Definitions:
    """The definitions of all existing objects, in the order of their statements."""

    def __init__(self) -> None:
        self._entries: dict[tuple[ObjectKind, str], Definition] = {}
        self._readers: dict[
            str, dict[tuple[ObjectKind, str], None]
        ] = {}  # by the name that is read
        self._callers: dict[str, dict[tuple[ObjectKind, str], None]] = {}  # by function
        self._altered: dict[tuple[ObjectKind, str], None] = {}
        self._reads: dict[str, frozenset[str]] = {}  # by the lower-case name of the reader

    def __iter__(self) -> Iterator[Definition]:
        return iter(self._entries.values())

    def add(
        self,
        kind: ObjectKind,
        name: str,
        sql: str,
        reads: frozenset[str] = frozenset(),
        calls: frozenset[str] = frozenset(),
    ) -> None:
        """Add the definition of a new object; ``reads`` and ``calls`` as of :class:`Definition`."""
        self._entries[kind, name] = Definition(kind, name, sql, reads, calls)
        if reads:
            self._reads[name.lower()] = reads
        for names, readers in ((reads, self._readers), (calls, self._callers)):
            for read in names:
                readers.setdefault(read, {})[kind, name] = None

    def alter(self, kind: ObjectKind, name: str, sql: str) -> None:
        """Note the ALTER statement of an object."""
        self._entries[kind, name] = replace(self._entries[kind, name], altered=sql)
        self._altered[kind, name] = None

    def altered(self, kind: ObjectKind) -> list[str]:
        """The names of objects of a kind that were altered."""
        return [name for of, name in self._altered if of == kind]

    def remove(self, kind: ObjectKind, name: str) -> None:
        """Remove the definition of a dropped object."""
        self._reads.pop(name.lower(), None)
        self._altered.pop((kind, name), None)
        entry = self._entries.pop((kind, name))
        for names, readers in ((entry.reads, self._readers), (entry.calls, self._callers)):
            for read in names:
                del readers[read][kind, name]
                if not readers[read]:
                    del readers[read]

    def reads(self, name: str) -> frozenset[str]:
        """What the query or view of this name reads, as of :class:`Definition`; else nothing."""
        return self._reads.get(name.lower(), frozenset())

    def called_by(self, names: Iterable[str]) -> frozenset[str]:
        """The lower-case names of functions that the views and queries of these names may call, and
        those that they read.
        """
        called = {e.name.lower(): e.calls for e in self if e.kind in ("view", "query")}
        found: set[str] = set()
        waiting, seen = list(names), set(names)
        while waiting:
            name = waiting.pop()
            found |= called.get(name, frozenset())
            waiting.extend(self.reads(name) - seen)
            seen |= self.reads(name)
        return frozenset(found)

    def readers(self, name: str) -> Iterator[tuple[ObjectKind, str]]:
        """Kind and name of all objects that read the one of this name."""
        yield from self._readers.get(name.lower(), ())

    def require_unread(self, kind: ObjectKind, name: str) -> None:
        """Check that no object reads this one, or calls it.

        Raises:
            CatalogError: some object does; the message names it.
        """
        is_function = kind == "function"
        callers = self._callers.get(name.lower(), ())
        for reader_kind, reader in callers if is_function else self.readers(name):
            raise CatalogError(
                f"cannot drop {kind} {name!r}: {reader_kind} {reader!r} "
                f"{'calls' if is_function else 'reads'} it; "
                f"DROP {reader_kind.upper()} {reader} first"
            )


def names_read(select: Select) -> frozenset[str]:
    """The lower-case names in FROM and FOR EACH ROW OF anywhere in a SELECT."""
    rules = () if select.for_each is None else (select.for_each.table.lower(),)
    return frozenset(
        (*rules, *(n.name.lower() for n in all_nodes(select.ast) if isinstance(n, exp.Table)))
    )


def names_called(node: exp.Expr) -> frozenset[str]:
    """The lower-case names of functions in a syntax tree that SQL does not know."""
    return frozenset(n.name.lower() for n in all_nodes(node) if isinstance(n, exp.Anonymous))
