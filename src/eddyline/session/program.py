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
        self._entries: list[Entry] = []

    def __iter__(self) -> Iterator[Entry]:
        return iter(self._entries)

    def add(self, kind: Kind, name: str, sql: str, select: Select | None = None) -> None:
        """A statement has been carried out."""
        reads = frozenset() if select is None else names_read(select)
        self._entries.append(Entry(kind, name, sql, reads))

    def remove(self, kind: Kind, name: str) -> None:
        """It has been dropped."""
        self._entries = [e for e in self._entries if (e.kind, e.name) != (kind, name)]

    def require_unread(self, kind: Kind, name: str) -> None:
        """Check that nothing else reads it.

        Raises:
            CatalogError: something does; the message names it.
        """
        for entry in self._entries:
            if name.lower() in entry.reads:
                raise CatalogError(
                    f"cannot drop {kind} {name!r}: {entry.kind} {entry.name!r} reads it; "
                    f"DROP {entry.kind.upper()} {entry.name} first"
                )


def names_read(select: Select) -> frozenset[str]:
    """Everything that stands in FROM anywhere in a SELECT, in lower case."""
    return frozenset(t.name.lower() for t in select.ast.find_all(exp.Table))
