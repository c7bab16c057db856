"""What a sharded job and one engine have emitted, compared."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from eddyline import Engine
from eddyline.algebra.plan import Plan
from eddyline.algebra.reads import nodes
from eddyline.engine.query import Query
from eddyline.spark.delivery.final_stage import FinalStage
from eddyline.spark.layouts.layout_shards import LayoutShards
from eddyline.spark.operation.running_queries import RunningQueries
from eddyline.testing.bags import Row, difference, rows_of
from net_changes import answer_at, net_changes
from sharded_engines import Follower, Output, Shard

#: Before all instants.
FROM_START: Final = -(1 << 62)


class Comparisons:
    """The comparisons of ``Sharded``.

    Attributes:
        expected, found: what one engine, and the job, have emitted. expected_of_added: what one
            engine with the queries of added layouts has.
        compared_from: by added query, from when on it is compared; None: not at all.
    """

    engine: Engine
    running: RunningQueries
    shards: dict[int, Shard]
    expected: Output
    found: Output
    expected_of_added: Output
    compared_from: Mapping[str, int | None]
    _final: FinalStage
    _runs: dict[int, Follower]
    _joins: set[str]
    _of_added: dict[str, tuple[Query, int]]
    _divided: dict[str, Query]
    _until: dict[str, int]

    @property
    def layouts(self) -> list[LayoutShards]:
        """All layouts."""
        raise NotImplementedError

    def check(self) -> None:
        """Compare what was emitted; a job has no rows of inputs that none of its queries reads."""
        unread = {*self.engine.catalog.streams, *self.engine.catalog.tables} - self._read
        for kind in ("changes", "late", "bad"):
            expected, found = getattr(self.expected, kind), getattr(self.found, kind)
            for name in sorted(expected.keys() | found.keys()):
                start = self.compared_from.get(name, FROM_START)
                if kind != "changes" and name in unread:
                    continue
                if start is None:
                    continue
                if kind == "bad" and (name in self.compared_from or name in self._joins):
                    continue
                of_one, of_all = expected.get(name, []), found.get(name, [])
                if kind == "bad" and name in self._divided:
                    continue  # one engine reports what a group is within an instant
                if kind == "changes" and name in self._divided:
                    of_one, of_all = (self._net(name, rows, start) for rows in (of_one, of_all))
                elif kind == "changes":
                    of_one = [r for r in of_one if r[1] > start]
                    of_all = [r for r in of_all if r[1] > start]
                missing, extra = difference(of_one, of_all)
                assert not missing and not extra, self._report(f"{kind} {name}", missing, extra)
        for what in ("rows", "late", "bad"):
            self._check_counts(what)
        for kind in ("changes", "bad"):
            expected, found = getattr(self.expected_of_added, kind), getattr(self.found, kind)
            compared = self._of_added.keys()
            for name in sorted(compared - self._joins if kind == "bad" else compared):
                # What there was when it was added has the instants of the rows, or that of the
                # addition if operators are shared: its answer then is compared.
                query, after = self._of_added[name]
                of_one, of_all = expected.get(name, []), found.get(name, [])
                if kind == "changes":
                    self._check_answer(query, of_one, of_all, after)
                if name in self._divided:
                    if kind == "bad":
                        continue
                    of_one, of_all = (self._net(name, rows, after) for rows in (of_one, of_all))
                elif kind == "changes":
                    of_one = [r for r in of_one if r[1] > after]
                    of_all = [r for r in of_all if r[1] > after]
                missing, extra = difference(of_one, of_all)
                assert not missing and not extra, self._report(f"{kind} {name}", missing, extra)

    def check_answers(self) -> int:
        """Compare the present answers of the queries; returns the number of rows."""
        rows = 0
        for name, query in self.running.queries.items():
            of_one = self._answer_of_one(query)
            if of_one is None:
                continue
            if name in self.running.divided.by_name:
                found = rows_of(self._final.answer(name))
            else:
                own = (self.shards[shard] for shard in self.running.layout_of(name).ids)
                found = [row for shard in own for row in rows_of(shard.engine.answer(name))]
            missing, extra = difference(of_one, found)
            assert not missing and not extra, self._report(f"answer of {name}", missing, extra)
            rows += len(found)
        return rows

    def _answer_of_one(self, query: Query) -> list[Row] | None:
        """The present answer of one engine; None: it is not compared."""
        name, start = query.name, self.compared_from.get(query.name, FROM_START)
        engine = self.engine
        if name in self._of_added:
            engine = self._runs[self.running.layout_of(name).ids[0]].engine.engine
        elif start is None or engine.clock <= start:
            return None
        aside = {*engine.parts.queries.aside, *self._final.aside}
        aside |= {n for shard in self.shards.values() for n in shard.engine.aside}
        if name in aside or not query.keeps_answer:
            return None
        return rows_of(engine.queries[name].snapshot())

    def _check_answer(self, query: Query, of_one: list[Row], of_all: list[Row], at: int) -> None:
        answers = (answer_at(query, rows, at) for rows in (of_one, of_all))
        missing, extra = difference(*answers)
        assert not missing and not extra, self._report(f"answer of {query.name}", missing, extra)

    def _net(self, name: str, rows: list[Row], after: int) -> list[Row]:
        """The net changes of a divided query after an instant."""
        until = self._until.get(name, self.engine.clock)
        found = net_changes(self._divided[name], rows, until)
        return [net for net in found if net[0] > after]

    @property
    def _read(self) -> set[str]:
        """The inputs that the job reads."""
        return {n for of in self.layouts for n in (*of.group.streams, *of.group.live)}

    def _check_counts(self, what: str) -> None:
        streams, tables = (self.engine.stats()[k] for k in ("streams", "tables"))
        key = "rows_in" if what == "rows" else what
        read = self._read
        expected = {n: of[key] for n, of in {**streams, **tables}.items() if n in read and of[key]}
        found: dict[str, int] = {}
        for shard in self.shards.values():
            for name, n in shard.record.notes.get(what, {}).items():
                if n and name in read:
                    found[name] = found.get(name, 0) + n
        assert found == expected, f"{what}: {found}, not {expected}"

    def _report(self, what: str, missing: list[Row], extra: list[Row]) -> str:
        lines = [f"{what} differ from those of one engine:"]
        lines += [f"  missing {row}" for row in missing[:10]]
        lines += [f"  in excess {row}" for row in extra[:10]]
        lines += [f"  {of.text}: {', '.join(of.queries)}" for of in self.layouts]
        return "\n".join(lines)


def joins(plan: Plan) -> bool:
    """Whether a query has several inputs."""
    return sum(not node.inputs for node in nodes(plan)) > 1
