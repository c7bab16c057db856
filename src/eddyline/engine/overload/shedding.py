"""Which share of each stream's rows an engine keeps, by whose leave, and what it is told of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from eddyline.algebra.reads import streams_read
from eddyline.engine.ingest.inputs import Inputs
from eddyline.engine.overload.drop_box import check_rates
from eddyline.engine.query import Query
from eddyline.optimizer.statistics import Statistics
from eddyline.optimizer.thinned import output_share
from eddyline.sql.catalog import Names

_NAMED = 3  # of the queries that refuse, so many are named


@dataclass(frozen=True, slots=True)
class Kept:
    """How many rows of a stream were looked at, in time and good, and how many of them kept."""

    seen: int = 0
    kept: int = 0

    @property
    def share(self) -> float:
        """The share that was kept; 1 if there was no row."""
        return self.kept / self.seen if self.seen else 1.0

    def since(self, before: Kept) -> Kept:
        """What came after that."""
        return Kept(self.seen - before.seen, self.kept - before.kept)


class Shedding:
    """The drop boxes of an engine's streams.

    A stream is thinned only if every query that reads it allows it, through views as well.

    Args:
        inputs: whose streams are thinned.
        statistics: what is known of the streams, to say what output to expect.
    """

    def __init__(self, inputs: Inputs, statistics: Statistics) -> None:
        self._inputs = inputs
        self._statistics = statistics
        self._asked: Names[float] = Names()
        self._readers: dict[str, int] = {}  # by stream: how many queries
        self._refusing: dict[str, dict[str, None]] = {}  # by stream: those that do not allow it
        self._before: dict[str, dict[str, Kept]] = {}  # by query and stream, when it came
        self._expected: dict[str, tuple[dict[str, float], float | None]] = {}  # by query
        self._told: dict[str, Kept] = {}

    def ask(self, keep: Mapping[str, float]) -> None:
        """Keep these shares of the rows to come, where queries allow it, and all of other streams.

        Raises:
            ValueError: a share is not in (0, 1].
        """
        check_rates(keep)
        self._asked = Names()
        self._asked.update(keep)
        for stream in self._readers:
            self._settle(stream)

    @property
    def asked(self) -> Mapping[str, float]:
        """The shares that were asked for, by stream."""
        return self._asked.listed()

    # -- queries come and go -----------------------------------------------------------------------

    def add(self, query: Query) -> None:
        """A query comes."""
        self._before[query.name] = {}
        for stream in sorted(streams_read(query.plan)):
            self._readers[stream] = self._readers.get(stream, 0) + 1
            if not query.sheds:
                self._refusing.setdefault(stream, {})[query.name] = None
            self._before[query.name][stream] = self._count(stream)
            self._settle(stream)
        query.shedding = partial(self._account, query)

    def drop(self, query: Query) -> None:
        """A query goes."""
        for stream in self._before.pop(query.name, ()):
            self._readers[stream] -= 1
            self._refusing.get(stream, {}).pop(query.name, None)
            self._settle(stream)
        self._expected.pop(query.name, None)

    def _settle(self, stream: str) -> None:
        """Let the stream be thinned as far as its queries allow."""
        allowed = self._readers[stream] and not self._refusing.get(stream)
        self._inputs.thin(stream, self._asked.get(stream, 1.0) if allowed else 1.0)

    def allowed(self) -> list[str]:
        """The streams that are read, by queries that all allow it."""
        return [s for s, n in self._readers.items() if n and not self._refusing.get(s)]

    def read(self) -> set[str]:
        """The streams that are read."""
        return {s for s, n in self._readers.items() if n}

    def refusing(self) -> set[str]:
        """The names of the queries that do not allow it."""
        return {name for names in self._refusing.values() for name in names}

    def _why_not(self, stream: str) -> str:
        """Why a stream is not thinned as was asked for; empty if it is."""
        if self._asked.get(stream, 1.0) == 1:
            return ""
        if not self._readers.get(stream):
            return "no query reads it"
        refuse = list(self._refusing.get(stream, ()))
        if not refuse:
            return ""
        more = f" and {len(refuse) - _NAMED:,} more" if len(refuse) > _NAMED else ""
        names = ", ".join(refuse[:_NAMED]) + more
        one = len(refuse) == 1
        what, verb = ("query", "does") if one else ("queries", "do")
        return f"{what} {names} {verb} not allow shedding"

    # -- what is told of it ------------------------------------------------------------------------

    def _count(self, stream: str) -> Kept:
        return Kept(*self._inputs.seen_and_kept(stream))

    def _is_told_of(self, stream: str) -> bool:
        count = self._count(stream)
        return self._inputs.keep(stream) < 1 or count.kept < count.seen

    def report(self) -> dict[str, dict[str, Any]]:
        """What ``Engine.shedding`` tells."""
        streams = self._inputs.streams()
        found: dict[str, dict[str, Any]] = {}
        for stream in (s for s in streams if s in self._asked or self._is_told_of(s)):
            count = self._count(stream)
            found[stream] = {
                "keep": self._inputs.keep(stream),
                "seen": count.seen,
                "kept": count.kept,
                "why": self._why_not(stream),
            }
        names = {s.lower() for s in streams}
        for unknown in (s for s in self._asked if s.lower() not in names):
            found[unknown] = {"why": "there is no such stream"}
        return found

    def news(self) -> dict[str, Kept]:
        """By stream that is thinned, or was until now: rows since the last call."""
        found = {}
        for stream in self._inputs.streams():
            count = self._count(stream)
            new = count.since(self._told.get(stream, Kept()))
            if new.seen and (new.kept < new.seen or self._inputs.keep(stream) < 1):
                found[stream] = new
            self._told[stream] = count
        return found

    def _account(self, query: Query) -> dict[str, Any]:
        """For a query whose streams are thinned or were: the share of rows kept since it came, by
        stream, and the share of its results that is to be expected now.
        """
        before = self._before.get(query.name, {})
        kept = {s: self._count(s).since(b).share for s, b in before.items()}
        keep = {s: self._inputs.keep(s) for s in before}
        if not query.sheds and all(share == 1 for share in (*kept.values(), *keep.values())):
            return {}
        return {"kept": kept, "expected_output_share": self._output_share(query, keep)}

    def _output_share(self, query: Query, keep: dict[str, float]) -> float | None:
        known = self._expected.get(query.name)
        if known is None or known[0] != keep:
            known = (keep, output_share(query.plan, keep, self._statistics))
            self._expected[query.name] = known
        return known[1]

    def lines(self, query: Query) -> list[str]:
        """What a query is told, as lines of text, with the reasons why streams are not thinned."""
        if not (account := self._account(query)):
            return []
        lines = ["ON OVERLOAD SHED"] if query.sheds else []
        for stream, share in account["kept"].items():
            keep = self._inputs.keep(stream)
            if keep < 1:
                lines.append(f"keeps {keep:.3g} of {stream} ({share:.3g} so far)")
            elif why := self._why_not(stream):
                lines.append(f"{stream} is not thinned: {why}")
        if account["expected_output_share"] is not None:
            lines.append(f"expected output: {account['expected_output_share']:.3g} of full")
        return lines

    # -- saving ------------------------------------------------------------------------------------

    def saved(self) -> dict[str, Any]:
        """For JSON: the counts when each query came."""
        return {
            query: {s: [c.seen, c.kept] for s, c in counts.items()}
            for query, counts in self._before.items()
        }

    def restore(self, saved: Mapping[str, Any]) -> None:
        """Take over what ``saved`` returned; the queries are there already."""
        for query, counts in saved.items():
            self._before[query] = {s: Kept(*count) for s, count in counts.items()}
        self._told = {s: self._count(s) for s in self._inputs.streams()}
