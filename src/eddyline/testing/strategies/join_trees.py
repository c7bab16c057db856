"""Random trees of window joins over random streams, with enough matches for results.

The tree is written as sub-selects in FROM, so that the plan has its shape; every SELECT returns all
columns of the streams below it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from random import Random
from typing import Any, Final, TypeAlias

import numpy as np
import pyarrow as pa

from eddyline.testing.ingest_model import latest
from eddyline.testing.script import Script
from eddyline.types import TIMESTAMP

#: The number of a stream, or two trees.
Tree: TypeAlias = "int | tuple[Tree, Tree]"

_COLUMNS: Final = ("x", "y", "z")
_SECOND: Final = 1_000_000
_WINDOWS: Final = (2, 5, 10, 20, 40)


@dataclass(frozen=True)
class JoinTreeCase:
    """A join of several streams, and its input batches.

    Attributes:
        streams: their number; they are named s0, s1, ...
        restart: the batches after which the engine is saved and loaded.
        table: a table t(k, w) that the results look up, or None.
        updates: of this table: ``static``, or the batches contain changes.
    """

    streams: int
    sql: str
    batches: tuple[dict[str, pa.Table], ...]
    restart: frozenset[int]
    table: pa.Table | None
    updates: str

    @property
    def ddl(self) -> str:
        """The CREATE STREAM statements."""
        columns = ", ".join(f"{c} BIGINT" for c in _COLUMNS)
        streams = [
            f"CREATE STREAM s{i} (ts TIMESTAMP, {columns}) TIMESTAMP BY ts;"
            for i in range(self.streams)
        ]
        table = f"CREATE TABLE t (k BIGINT, w BIGINT) WITH (updates = '{self.updates}');"
        return "\n".join(streams + [table] * (self.table is not None))

    def play(self, **options: Any) -> Script:
        """Run the case until every row has expired; ``options`` are the Engine's."""
        tables = {} if self.table is None else {"t": self.table}
        script = Script(self.ddl, self.sql, tables=tables, options={"executor": "tree"} | options)
        for number, batch in enumerate(self.batches):
            script.process(**batch)
            if number in self.restart:
                script.restart()
        last = max(
            (
                latest(batch, dict.fromkeys(script.ingest.rules, "ts")) or 0
                for batch in self.batches
            ),
            default=0,
        )
        return script.advance(last + (max(_WINDOWS) + 1) * _SECOND)


def join_tree_case(
    seed: int, *, most_streams: int = 8, distinct: bool = False, counted: bool = False
) -> JoinTreeCase:
    """The case of a seed: 3 streams or more, left-deep, right-deep or bushy, windows per stream,
    ties in time, keys of few values and some NULLs; in some cases a look-up table, which may change
    between the instants of the streams' rows.

    Args:
        distinct: every second join below another one shows each value once; there is no table.
        counted: two of three windows count rows; there is no table.
    """
    random = Random(seed)
    streams = min(random.choice([3, 3, 4, 4, 4, 5, 5, 6, 7, 8]), most_streams)
    tree = _tree(random, range(streams), random.choice(["left", "right", "bushy", "bushy"]))
    lengths = [random.choice(_WINDOWS if streams < 5 else _WINDOWS[2:]) for _ in range(streams)]
    windows = [f"RANGE {length} SECONDS" for length in lengths]
    if counted:
        forms = ["{}", "ROWS {n}", "PARTITION BY x ROWS {n}"]
        windows = [
            random.choice(forms).format(window, n=random.choice([1, 2, 3, 5, 8]))
            for window in windows
        ]
    sql = _select(random, tree, windows)
    if distinct:
        first, *inner = sql.split("(SELECT ")
        inner = [f"DISTINCT {text}" if random.random() < 0.5 else text for text in inner]
        sql = "(SELECT ".join([first, *inner])
    values = random.choice([2, 3, 3, 4] if streams < 6 else [2, 3])
    table, updates = None, random.choice(["static", "non-retroactive"])
    if random.random() < 0.3 and not (distinct or counted):
        held = random.sample(range(values), random.randint(0, values - 1))
        table = pa.table({"k": pa.array(held, pa.int64()), "w": pa.array(held[::-1], pa.int64())})
        columns = [f"s{i}_{c}" for i in range(streams) for c in _COLUMNS]
        terms = [f"l.{random.choice(columns)} = t.{c}" for c in random.choice(["k", "k", "kw"])]
        shown = ", ".join(f"l.{c}" for c in columns)
        sql = f"SELECT {shown}, t.w FROM ({sql}) AS l, t WHERE {' AND '.join(terms)}"
    batches, instants, cuts = random_batches(random, streams, values)
    if table is not None and updates != "static":
        changes = _changes(random, table, sorted(set(instants)), values)
        ends = [0, *(instants[b] for b in cuts), instants[-1] + _SECOND]
        at = np.searchsorted(changes["_ts"].to_numpy().astype(np.int64), ends).tolist()
        slices = (changes.slice(a, b - a) for a, b in pairwise(at))
        batches = tuple({**batch, "t": t} for batch, t in zip(batches, slices, strict=True))
    restart = frozenset(n for n in range(len(batches)) if random.random() < 0.15)
    return JoinTreeCase(streams, sql, batches, restart, table, updates)


def random_batches(
    random: Random, streams: int, values: int
) -> tuple[tuple[dict[str, pa.Table], ...], list[int], list[int]]:
    """Batches of rows of s0, s1, ... with keys of few values; the instants of the rows, and the
    numbers of the rows before which batches end.
    """
    now, rows, instants = 0, [], list[int]()
    for _ in range(random.choice([20, 40, 80, 120])):
        now += random.choice([0, 0, 0, 1, 1, 2, 5])
        keys = [random.choice([None, *list(range(values)) * 4]) for _ in _COLUMNS]
        instants.append(now * _SECOND)
        rows.append((random.randrange(streams), instants[-1], *keys))
    # rows of one instant stay together: their order is that of the streams within a call
    clean = [i for i in range(1, len(rows)) if instants[i] != instants[i - 1]]
    cuts = sorted(random.sample(clean, min(len(clean), random.choice([0, 1, 3, 8]))))
    batches = tuple(
        {f"s{i}": _table([r[1:] for r in rows[a:b] if r[0] == i]) for i in range(streams)}
        for a, b in pairwise([0, *cuts, len(rows)])
    )
    return batches, instants, cuts


def _changes(random: Random, table: pa.Table, instants: Sequence[int], values: int) -> pa.Table:
    """Insertions and deletions of a table's rows, each half a second after an instant."""
    current = list(zip(*table.to_pydict().values(), strict=True))
    found = []
    for instant in instants:
        if random.random() < 0.6:
            continue
        deletes = bool(current) and random.random() < 0.5
        new = random.randrange(values), random.randrange(values)
        row = random.choice(current) if deletes else new
        current.remove(row) if deletes else current.append(row)
        found.append((instant + _SECOND // 2, "-" if deletes else "+", *row))
    names, types = ["_ts", "_op", "k", "w"], [TIMESTAMP, pa.string(), pa.int64(), pa.int64()]
    arrays = [pa.array([f[i] for f in found], t) for i, t in enumerate(types)]
    return pa.table(dict(zip(names, arrays, strict=True)))


def _tree(random: Random, leaves: Sequence[int], shape: str) -> Tree:
    if len(leaves) == 1:
        return leaves[0]
    first = {"left": len(leaves) - 1, "right": 1}.get(shape) or random.randint(1, len(leaves) - 1)
    return _tree(random, leaves[:first], shape), _tree(random, leaves[first:], shape)


def _leaves(tree: Tree) -> list[int]:
    return [tree] if isinstance(tree, int) else _leaves(tree[0]) + _leaves(tree[1])


def _select(random: Random, tree: Tree, windows: Sequence[str]) -> str:
    """The SELECT of a tree; it returns column c of stream i as ``s<i>_<c>``."""
    assert isinstance(tree, tuple), "a join"
    items, shown = [], []
    for name, side in zip("lr", tree, strict=True):
        if isinstance(side, int):
            items.append(f"s{side} [{windows[side]}]")
            shown.append([(f"s{side}.{c}", f"s{side}_{c}") for c in _COLUMNS])
        else:
            items.append(f"({_select(random, side, windows)}) AS {name}")
            names = [f"s{i}_{c}" for i in _leaves(side) for c in _COLUMNS]
            shown.append([(f"{name}.{n}", n) for n in names])
    left, right = ([column for column, _ in side] for side in shown)
    least = [1, 1, 1, 2] if len(_leaves(tree)) == 2 else [1, 1, 1, 1, 2, 3, 0]
    terms = [f"{random.choice(left)} = {random.choice(right)}" for _ in range(random.choice(least))]
    if not isinstance(tree[0], int) and random.random() < 0.4:  # one key of either input below
        halves = [_leaves(half) for half in tree[0]]
        below = [[c for c, n in shown[0] if int(n[1 : n.index("_")]) in half] for half in halves]
        terms = [f"{random.choice(columns)} = {random.choice(right)}" for columns in below]
    if random.random() < 0.3 or not terms:
        terms += [_comparison(random, left, right) for _ in range(random.choice([0, 1, 1, 2]))]
    where = f" WHERE {' AND '.join(terms)}" if terms else ""
    columns = ", ".join(f"{column} AS {name}" for column, name in shown[0] + shown[1])
    return f"SELECT {columns} FROM {', '.join(items)}{where}"


def _comparison(random: Random, left: Sequence[str], right: Sequence[str]) -> str:
    """A condition on rows of both sides, over one or two columns of each."""
    a, b = (random.choice(left) for _ in "ab")
    c, d = (random.choice(right) for _ in "cd")
    forms = (f"{a} < {c}", f"{a} <= {c}", f"{a} > {c} + 1", f"{a} <> {c}")
    bands = (f"{a} BETWEEN {c} AND {c} + 1", f"{a} + {b} < {c}", f"{a} * 2 > {c} + {d}")
    return random.choice(forms + bands)


def _table(rows: Sequence[tuple[int | None, ...]]) -> pa.Table:
    types = [TIMESTAMP, *[pa.int64()] * len(_COLUMNS)]
    arrays = [pa.array([r[i] for r in rows], t) for i, t in enumerate(types)]
    return pa.table(dict(zip(["ts", *_COLUMNS], arrays, strict=True)))
