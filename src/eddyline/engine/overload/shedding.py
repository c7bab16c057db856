"""Drop boxes of an engine: permission by the queries' ON OVERLOAD clauses, keep rates, reports."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from eddyline.algebra.expressions import Expr
from eddyline.engine.ingest.inputs import Inputs
from eddyline.engine.overload.drop_box import check_rates
from eddyline.engine.query import Query, QuerySpec
from eddyline.errors import CatalogError
from eddyline.optimizer.statistics import Statistics
from eddyline.optimizer.thinned import output_share
from eddyline.sql.binder.utilities import alike, ranking
from eddyline.sql.catalog import Names

#: Maximum number of queries that a message names.
_NAMED: Final = 3


@dataclass(frozen=True, slots=True)
class KeptRows:
    """Rows of a stream that reached its drop box (``seen``) and those that it kept (``kept``)."""

    seen: int = 0
    kept: int = 0

    @property
    def share(self) -> float:
        """The share that was kept; 1 if there was no row."""
        return self.kept / self.seen if self.seen else 1.0

    def since(self, before: KeptRows) -> KeptRows:
        """The rows after ``before`` was counted."""
        return KeptRows(self.seen - before.seen, self.kept - before.kept)


def require_alike(stream: str, query: Query | QuerySpec, other: str, theirs: Expr | None) -> None:
    """Check that a query ranks the rows of a stream as another one.

    Raises:
        CatalogError: it does not.
    """
    ours = query.utilities.get(stream)
    if not alike(ours, theirs):
        raise CatalogError(
            f"query {query.name!r} drops rows of {stream} {ranking(ours)}, and query {other!r} "
            f"{ranking(theirs)}: a stream has one drop box, so write the same behind "
            "ON OVERLOAD SHED in both"
        )


class Shedding:
    """Sets the drop boxes of streams.

    A stream is thinned only if every query that reads it, directly or through views, has the clause
    ON OVERLOAD SHED. All of them rank its rows alike, or none does.

    Args:
        inputs: the streams.
        statistics: declared ones, for the expected output of queries.

    Attributes:
        sheddable: streams that are read, and only by queries with ON OVERLOAD SHED.
        reported: by stream that is or was thinned, the rows counted at the last report.
        period_us: see ``UtilityBox``.
    """

    def __init__(self, inputs: Inputs, statistics: Statistics) -> None:
        self.sheddable: dict[str, None] = {}
        self.reported: dict[str, KeptRows] = {}
        self.period_us = 1
        self._inputs = inputs
        self._statistics = statistics
        self._requested: Names[float] = Names()
        self._readers: dict[str, int] = {}  # number of queries by stream
        self._refusing: dict[str, dict[str, None]] = {}  # by stream: queries without the clause
        self._allowing: dict[str, dict[str, Expr | None]] = {}  # the others, and how they rank rows
        self._before: dict[str, dict[str, KeptRows]] = {}  # by query and stream, when it was added
        self._latest: dict[str, KeptRows] = {}  # those of the last query
        self._metrics_of = self._metrics  # one object for all queries
        self._expected: dict[str, tuple[dict[str, float], float | None]] = {}  # by query

    def request(self, keep: Mapping[str, float]) -> None:
        """Set keep rates by stream, as far as queries permit; other streams keep all rows.

        Raises:
            ValueError: a share is not in (0, 1].
        """
        check_rates(keep)
        self._requested = Names()
        self._requested.update(keep)
        for stream in self._readers:
            self._set_box(stream)

    @property
    def requested(self) -> Mapping[str, float]:
        """The requested shares, by stream."""
        return dict(self._requested)

    def thins(self, streams: Iterable[str]) -> bool:
        """Whether rows of some of these streams are dropped."""
        return any(self._inputs.intake(stream).keep < 1 for stream in streams)

    def require_agreement(self, spec: QuerySpec) -> None:
        """Check that a new query ranks the rows of its streams as the others that allow shedding.

        Raises:
            CatalogError: it does not.
        """
        for stream in sorted(spec.plans.facts.streams) if spec.sheds else ():
            for other, theirs in self._allowing.get(stream, {}).items():
                require_alike(stream, spec, other, theirs)
                break  # the others agree with this one

    def add(self, query: Query) -> None:
        """Register the streams that a new query reads."""
        streams = sorted(query.streams)
        before = {stream: self._count(stream) for stream in streams}
        if before != self._latest:
            self._latest = before
        self._before[query.name] = self._latest  # one for all that are added at a time
        for stream in streams:
            self._readers[stream] = self._readers.get(stream, 0) + 1
            if query.sheds:
                utility = query.utilities.get(stream)
                self._allowing.setdefault(stream, {})[query.name] = utility
            else:
                self._refusing.setdefault(stream, {})[query.name] = None
            self._set_box(stream)
        query.shedding = self._metrics_of

    def drop(self, query: Query) -> None:
        """Undo ``add``."""
        for stream in self._before.pop(query.name, ()):
            self._readers[stream] -= 1
            self._refusing.get(stream, {}).pop(query.name, None)
            self._allowing.get(stream, {}).pop(query.name, None)
            self._set_box(stream)
        self._expected.pop(query.name, None)

    def _set_box(self, stream: str) -> None:
        """Set the drop box as requested, if all queries permit it."""
        self.sheddable.pop(stream, None)
        keep = 1.0
        if self._readers[stream] and not self._refusing.get(stream):
            self.sheddable[stream] = None
            keep = self._requested.get(stream, 1.0)
        if keep < 1:
            self.reported.setdefault(stream, self._count(stream))
        utility = next(iter(self._allowing.get(stream, {}).values()), None)
        self._inputs.intake(stream).rank(utility, self.period_us)
        self._inputs.intake(stream).thin(keep)

    def ranked(self, streams: Iterable[str]) -> dict[str, str]:
        """Those of some streams whose rows are ranked, and by what."""
        found = {stream: self._utility(stream) for stream in streams}
        return {stream: str(utility) for stream, utility in found.items() if utility is not None}

    def ranks(self, query: str, streams: Iterable[str]) -> bool:
        """Whether a query reads one of these streams, and ranks its rows."""
        return any(self._allowing.get(s, {}).get(query) is not None for s in streams)

    def _utility(self, stream: str) -> Expr | None:
        """By what the rows of a stream are ranked; None: those that are dropped are drawn."""
        box = self._inputs.intake(stream).utility
        return None if box is None else box.utility

    def read(self) -> set[str]:
        """The streams that queries read."""
        return {s for s, n in self._readers.items() if n}

    def refusing(self) -> set[str]:
        """The names of the queries without ON OVERLOAD SHED."""
        return {name for names in self._refusing.values() for name in names}

    def _why_not(self, stream: str) -> str:
        """Why a stream is not thinned as requested; empty if it is."""
        if self._requested.get(stream, 1.0) == 1:
            return ""
        if not self._readers.get(stream):
            return "no query reads it"
        refusing = list(self._refusing.get(stream, ()))
        if not refusing:
            return ""
        more = f" and {len(refusing) - _NAMED:,} more" if len(refusing) > _NAMED else ""
        names = ", ".join(refusing[:_NAMED]) + more
        what, verb = ("query", "does") if len(refusing) == 1 else ("queries", "do")
        return f"{what} {names} {verb} not allow shedding"

    # -- reports -------------------------------------------------------

    def _count(self, stream: str) -> KeptRows:
        intake = self._inputs.intake(stream)
        return KeptRows(intake.seen, intake.kept)

    def report(self) -> dict[str, dict[str, Any]]:
        """The value of ``Engine.shedding``."""
        found: dict[str, dict[str, Any]] = {}
        streams = self._inputs.streams()
        for stream in streams:
            count, keep = self._count(stream), self._inputs.intake(stream).keep
            if stream in self._requested or keep < 1 or count.kept < count.seen:
                found[stream] = {
                    "keep": keep,
                    "seen": count.seen,
                    "kept": count.kept,
                    "why": self._why_not(stream),
                }
                if (utility := self._utility(stream)) is not None:
                    found[stream]["by"] = str(utility)
        names = {s.lower() for s in streams}
        for unknown in (s for s in self._requested if s.lower() not in names):
            found[unknown] = {"why": "there is no such stream"}
        return found

    def since_last_report(self) -> dict[str, KeptRows]:
        """For streams that are or were thinned: rows since the last call, if any were dropped."""
        found = {}
        for stream, before in self.reported.items():
            count = self._count(stream)
            new = count.since(before)
            if new.seen and (new.kept < new.seen or self._inputs.intake(stream).keep < 1):
                found[stream] = new
            self.reported[stream] = count
        return found

    def _metrics(self, query: Query) -> dict[str, Any]:
        """For a query whose streams are or were thinned: the share of rows kept since it was added,
        by stream, and the expected share of its results.
        """
        before = self._before.get(query.name, {})
        kept = {s: self._count(s).since(b).share for s, b in before.items()}
        keep = {s: self._inputs.intake(s).keep for s in before}
        if not query.sheds and all(share == 1 for share in (*kept.values(), *keep.values())):
            return {}
        return {"kept": kept, "expected_output_share": self._output_share(query, keep)}

    def _output_share(self, query: Query, keep: dict[str, float]) -> float | None:
        if any(s in query.utilities for s, share in keep.items() if share < 1):
            return None  # the rows that are kept are no sample of all
        known = self._expected.get(query.name)
        if known is None or known[0] != keep:
            known = (keep, output_share(query.plan, keep, self._statistics))
            self._expected[query.name] = known
        return known[1]

    def lines(self, query: Query) -> list[str]:
        """Lines of EXPLAIN: keep rates of a query's streams, or why they are not thinned."""
        if not (metrics := self._metrics(query)):
            return []
        by = ", ".join(map(str, query.utilities.values()))
        lines = ["ON OVERLOAD SHED" + (f" BY {by}" if by else "")] if query.sheds else []
        for stream, share in metrics["kept"].items():
            keep = self._inputs.intake(stream).keep
            if keep < 1:
                utility = self._utility(stream)
                which = "" if utility is None else f", those of the highest {utility}"
                lines.append(f"keeps {keep:.3g} of {stream}{which} ({share:.3g} so far)")
            elif why := self._why_not(stream):
                lines.append(f"{stream} is not thinned: {why}")
        if metrics["expected_output_share"] is not None:
            lines.append(f"expected output: {metrics['expected_output_share']:.3g} of full")
        return lines

    # -- checkpoints ---------------------------------------------------

    def saved(self) -> dict[str, Any]:
        """For JSON: the counts when each query was added."""
        return {
            query: {s: [c.seen, c.kept] for s, c in counts.items()}
            for query, counts in self._before.items()
        }

    def restore(self, saved: Mapping[str, Any]) -> None:
        """Restore ``saved``; the queries exist already."""
        for query, counts in saved.items():
            self._before[query] = {s: KeptRows(*count) for s, count in counts.items()}
        self.reported = {s: self._count(s) for s in self.reported}
