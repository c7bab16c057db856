"""An engine in which queries share, beside one in which each runs alone."""

from __future__ import annotations

import io
from typing import Final

import pyarrow as pa

import eddyline

DDL: Final = "CREATE STREAM s (ts TIMESTAMP, k BIGINT, v DOUBLE, i BIGINT) TIMESTAMP BY ts"


class Pair:
    """An engine in which queries share, and one in which each runs alone."""

    def __init__(self) -> None:
        alone = eddyline.StrategyOptions(sharing=False)
        self.engines = [eddyline.Engine(), eddyline.Engine(strategy=alone)]
        self.names: list[str] = []
        self._judged: set[str] = set()  # whose groups may fail at any instant, not at ticks only
        self._new: set[str] = set()
        for engine in self.engines:
            engine.sql(DDL)

    def add(self, name: str, sql: str) -> None:
        self.names.append(name)
        self._new.add(name)
        if "SNAPSHOT" not in sql:
            self._judged.add(name)
        for engine in self.engines:
            engine.query(sql, name=name)

    def drop(self, name: str) -> None:
        self.names.remove(name)
        for engine in self.engines:
            engine.drop(name)

    def restart(self) -> None:
        for i, engine in enumerate(self.engines):
            saved = io.BytesIO()
            engine.save(saved)
            saved.seek(0)
            self.engines[i] = eddyline.Engine.load(saved)

    def process(self, table: pa.Table) -> int:
        """Returns the number of changes."""
        newest = table["ts"][-1].value
        shared, alone = (e.process({"s": table}, watermark=newest) for e in self.engines)
        for name in self.names:
            if name not in self._new:  # these report their answers so far, each in its own way
                assert _plain(shared, name) == _plain(alone, name), name
            answers = [e.queries[name].snapshot().to_pylist() for e in self.engines]
            first, second = (sorted(map(repr, answer)) for answer in answers)
            assert first == second, name
        assert _bad(shared, self._judged) == _bad(alone, self._judged)
        self._new = set()
        return sum(shared[n].num_rows for n in self.names)


def _plain(changes: eddyline.Changes, name: str) -> list[str]:
    """The changes in any order within an instant, as texts: NaN equals NaN."""
    return sorted(map(repr, changes[name].to_pylist()))


def _bad(changes: eddyline.Changes, names: set[str]) -> list[str]:
    tables = [table for name, table in changes.bad.items() if name in names]
    return sorted(repr(row) for table in tables for row in table.to_pylist())
