"""The statements that made an engine what it is, in order: what is saved, and what reads what."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sqlglot import exp

from eddyline.errors import CatalogError
from eddyline.sql.statements import Kind, Select


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing that exists: its kind and name, the statement that creates it, what it reads."""

    kind: Kind
    name: str
    sql: str
    reads: frozenset[str] = frozenset()


class Program:
    """Entries in the order of their statements; dropped ones are gone."""

    def __init__(self) -> None:
        self._entries: dict[tuple[Kind, str], Entry] = {}
        self._readers: dict[str, dict[tuple[Kind, str], None]] = {}  # by the name that is read

    def __iter__(self) -> Iterator[Entry]:
        return iter(self._entries.values())

    def add(self, kind: Kind, name: str, sql: str, select: Select | None = None) -> None:
        """A statement has been carried out."""
        reads = frozenset() if select is None else names_read(select)
        self._entries[kind, name] = Entry(kind, name, sql, reads)
        for read in reads:
            self._readers.setdefault(read, {})[kind, name] = None

    def remove(self, kind: Kind, name: str) -> None:
        """It has been dropped."""
        for read in self._entries.pop((kind, name)).reads:
            readers = self._readers[read]
            del readers[kind, name]
            if not readers:
                del self._readers[read]

    def readers(self, name: str) -> Iterator[tuple[Kind, str]]:
        """Everything that reads what has this name: kind and name."""
        yield from self._readers.get(name.lower(), ())

    def require_unread(self, kind: Kind, name: str) -> None:
        """Check that nothing else reads it.

        Raises:
            CatalogError: something does; the message names it.
        """
        for reader_kind, reader in self.readers(name):
            raise CatalogError(
                f"cannot drop {kind} {name!r}: {reader_kind} {reader!r} reads it; "
                f"DROP {reader_kind.upper()} {reader} first"
            )


def names_read(select: Select) -> frozenset[str]:
    """Everything that stands in FROM or FOR EACH ROW OF anywhere in a SELECT, in lower case."""
    rules = () if select.for_each is None else (select.for_each.table.lower(),)
    return frozenset((*rules, *(t.name.lower() for t in select.ast.find_all(exp.Table))))
