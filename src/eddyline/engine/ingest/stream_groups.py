"""Which streams run on one clock: those that queries bring together.

Streams, and tables that change, that a query reads form a *group*. A group has a watermark and a
clock of its own, so what it does depends on nothing outside of it. Groups grow when a query reads
from several of them, and stay as they are when queries are dropped.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from eddyline.sql.catalog import Names
from eddyline.types import BEGINNING


@dataclass(eq=False, slots=True)
class Group:
    """Streams and tables on one clock.

    Attributes:
        members: their names.
        watermark: rows before this instant are late, in microseconds.
        clock: the instant up to which everything is processed.
        began: the first instant at which anything happened; None: nothing has.
    """

    members: list[str] = field(default_factory=list)
    watermark: int = BEGINNING
    clock: int = BEGINNING
    began: int | None = None

    @property
    def reached(self) -> int:
        """The clock; before anything has happened the watermark."""
        return self.watermark if self.began is None else self.clock


class Groups:
    """The groups of an engine's streams and of its tables that change, each in one group.

    Without any stream or table there is one group nevertheless.
    """

    def __init__(self) -> None:
        self._of: Names[Group] = Names()
        self._empty = Group()
        self._readers: Counter[str] = Counter()

    def __iter__(self) -> Iterator[Group]:
        return iter(dict.fromkeys(self._of.values()) or [self._empty])

    def add(self, name: str) -> None:
        """A stream or a table that changes has been declared: it is a group of its own."""
        self._of[name] = Group([name])

    def drop(self, name: str) -> None:
        """It is gone; not for a table that does not change."""
        if name in self._of:
            self._of.pop(name).members.remove(name)

    def of(self, names: Iterable[str]) -> Group:
        """The group of these; the foremost one if none of them changes, as then nothing is to be
        waited for.
        """
        found = next((self._of[name] for name in names if name in self._of), None)
        return found or max(self, key=lambda g: (g.began is not None, g.reached))

    def among(self, names: Iterable[str]) -> list[Group]:
        """The groups of these streams and tables, each once, in the order of their declaration."""
        found = {self._of[name] for name in names if name in self._of}
        return [group for group in self if group in found]

    def apart(self, group: Group) -> frozenset[str]:
        """The streams and tables of all other groups."""
        return frozenset(name for name, other in self._of.items() if other is not group)

    def merge(self, groups: Iterable[Group]) -> Group:
        """Let groups that have come equally far be one from now on."""
        first, *others = groups
        for other in others:
            first.watermark = max(first.watermark, other.watermark)
            first.clock = max(first.clock, other.clock)
            first.began = min(
                (b for b in (first.began, other.began) if b is not None), default=None
            )
            first.members += other.members
            for name in other.members:
                self._of[name] = first
        return first

    # -- who reads what ----------------------------------------------------------------------------

    def read(self, names: Iterable[str]) -> None:
        """A query that reads these has been added."""
        self._readers.update(names)

    def unread(self, names: Iterable[str]) -> None:
        """It has been dropped."""
        self._readers.subtract(names)

    def is_read(self, name: str) -> bool:
        """Whether a query reads a stream or table."""
        return self._readers[name] > 0
