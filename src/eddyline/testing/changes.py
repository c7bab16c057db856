"""Compares a query's change table with its answer at many instants.

The change table is replayed by the semantics in DESIGN, per mode of EMIT::

    EMIT INSERTS     '+' with _ts <= tau < _exp  minus  '-' with _ts <= tau < _exp
      (GROUP BY)     per group the newest '+' up to tau, unless a '-' follows it
    EMIT CHANGES     '+' minus '-' with _ts <= tau
    EMIT SNAPSHOT    the rows with _ts = tick
"""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from eddyline.testing.bags import Row, difference, rows_of
from eddyline.testing.text import format_time, pretty
from eddyline.types import BEGINNING, FOREVER

AnswerAt = Callable[[int], list[Row]]


class WrongAnswer(AssertionError):
    """A change table or a snapshot differs from the query's answer."""


@dataclass(frozen=True, slots=True)
class Change:
    """One row of a change table; ``exp_us`` is FOREVER for NULL."""

    op: str
    ts_us: int
    exp_us: int
    row: Row

    def __str__(self) -> str:
        exp = "never" if self.exp_us == FOREVER else format_time(self.exp_us)
        return f"{self.op} {self.row} at {format_time(self.ts_us)}, until {exp}"


def changes_of(table: pa.Table) -> list[Change]:
    """The rows of a change table: ``_op``, ``_ts``, ``_exp``, then the select list."""
    header = table.column_names[:3]
    if header != ["_op", "_ts", "_exp"]:
        raise WrongAnswer(f"a change table starts with _op, _ts, _exp, not {header}")
    return [
        Change(op, ts, FOREVER if exp is None else exp, row)
        for (op, ts, exp), row in zip(
            rows_of(table, [0, 1, 2]), rows_of(table, range(3, table.num_columns)), strict=True
        )
    ]


def check_changes(
    table: pa.Table,
    answer_at: AnswerAt,
    instants: Iterable[int],
    *,
    mode: str = "inserts",
    key: Sequence[int] | None = None,
) -> None:
    """Check that a change table yields the right answer at every one of the instants.

    Args:
        table: all changes that the query has emitted, in the order of emission.
        answer_at: the bag Q(tau) for tau in us.
        instants: the instants to compare, in us, up to the clock of the engine.
        mode: ``inserts`` or ``changes``; for snapshots see :func:`check_snapshots`.
        key: of a query whose new rows replace older ones under ``EMIT INSERTS`` (GROUP BY), the
            ordinals of the group's columns in the select list; None for all other queries.

    Raises:
        WrongAnswer: names the first wrong instant or change.
    """
    pending = changes_of(table)
    _check_order(pending)
    replay = _replay(mode, key)
    done = 0
    try:
        for tau in sorted(instants):
            while done < len(pending) and pending[done].ts_us <= tau:
                replay.apply(pending[done])
                done += 1
            compare(answer_at(tau), replay.alive(tau), f"at {format_time(tau)}")
        for change in pending[done:]:
            replay.apply(change)
    except WrongAnswer as error:
        raise WrongAnswer(f"{error}\n\nchanges:\n{pretty(table)}") from None


def check_snapshots(
    table: pa.Table,
    answer_at: AnswerAt,
    *,
    every_us: int,
    offset_us: int = 0,
    first_us: int,
    until_us: int,
    since_us: int = BEGINNING,
) -> None:
    """Check ``EMIT SNAPSHOT``: the whole answer at each multiple of ``every_us``.

    Args:
        table: all changes that the query has emitted, in the order of emission.
        answer_at: the bag Q(tau) for tau in us.
        every_us: the period. offset_us: of snapshots behind its multiples.
        first_us: instant of the first event; snapshots before it are optional.
        until_us: the engine's clock; all snapshots are before it.
        since_us: earlier snapshots are not compared.

    Raises:
        WrongAnswer: names the first wrong snapshot.
    """
    changes = changes_of(table)
    _check_order(changes)
    for change in changes:
        off = (change.ts_us - offset_us) % every_us
        if change.op != "+" or off or change.exp_us != change.ts_us + every_us:
            raise WrongAnswer(f"not a row of a snapshot every {format_time(every_us)}: {change}")
        if change.ts_us >= until_us:
            raise WrongAnswer(f"a snapshot not before the clock {format_time(until_us)}: {change}")
    first = first_us + (offset_us - first_us) % every_us
    due = range(first, until_us, every_us)
    for tick in sorted(t for t in {*due, *(c.ts_us for c in changes)} if t >= since_us):
        rows = [c.row for c in changes if c.ts_us == tick]
        compare(answer_at(tick), rows, f"in the snapshot at {format_time(tick)}")


def compare(expected: Iterable[Row], actual: Iterable[Row], where: str) -> None:
    """Raise WrongAnswer unless both bags are equal."""
    missing, extra = difference(expected, actual)
    if missing or extra:
        lines = [f"wrong answer {where}:"]
        lines += [f"  missing    {row}" for row in missing]
        lines += [f"  unexpected {row}" for row in extra]
        raise WrongAnswer("\n".join(lines))


def _check_order(changes: Sequence[Change]) -> None:
    for before, after in itertools.pairwise(changes):
        if after.ts_us < before.ts_us:
            raise WrongAnswer(f"changes out of order: {before}, then {after}")


class _Replay(ABC):
    """Replays changes; holds the rows that are live at an instant."""

    def apply(self, change: Change) -> None:
        if change.op not in ("+", "-"):
            raise WrongAnswer(f"not an operation: {change}")
        if change.op == "+" and change.exp_us <= change.ts_us:
            raise WrongAnswer(f"a row expires when it is added: {change}")
        self._apply(change)

    @abstractmethod
    def _apply(self, change: Change) -> None: ...

    @abstractmethod
    def alive(self, tau: int) -> Iterable[Row]:
        """The rows at ``tau``, after all changes up to it."""


@dataclass
class _Bag(_Replay):
    """Rows are added and removed one by one; ``expires``: ``_exp`` also removes them."""

    expires: bool
    rows: Counter[tuple[int, Row]] = field(default_factory=Counter)

    def _apply(self, change: Change) -> None:
        item = (change.exp_us, change.row)
        if change.op == "+":
            self.rows[item] += 1
            return
        if not self.rows[item] or (self.expires and change.exp_us <= change.ts_us):
            raise WrongAnswer(f"a change removes a missing row: {change}")
        self.rows[item] -= 1

    def alive(self, tau: int) -> Iterable[Row]:
        return [r for exp, r in self.rows.elements() if tau < exp or not self.expires]


@dataclass
class _Groups(_Replay):
    """The newest row of each group; a ``-`` for it removes the group."""

    key: Sequence[int]
    rows: dict[Row, Change] = field(default_factory=dict)

    def _apply(self, change: Change) -> None:
        group: tuple[Any, ...] = tuple(change.row[i] for i in self.key)
        if change.op == "+":
            self.rows[group] = change
            return
        current = self.rows.pop(group, None)
        if current is None or (current.row, current.exp_us) != (change.row, change.exp_us):
            raise WrongAnswer(f"a change removes a missing row: {change}; current row: {current}")

    def alive(self, tau: int) -> Iterable[Row]:
        for change in self.rows.values():
            if change.exp_us <= tau:
                raise WrongAnswer(f"at {format_time(tau)} no change replaces the expired {change}")
        return [change.row for change in self.rows.values()]


def _replay(mode: str, key: Sequence[int] | None) -> _Replay:
    if mode == "changes":
        return _Bag(expires=False)
    if mode != "inserts":
        raise ValueError(f"no replay for EMIT {mode.upper()}; valid: inserts, changes")
    return _Bag(expires=True) if key is None else _Groups(key)
