"""The overload controller: compares what the queries need with the limits, and sheds load."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from math import inf
from typing import Any, Final

from eddyline.algebra.plan import Plan
from eddyline.algebra.reads import streams_read
from eddyline.engine.ingest.inputs import Inputs
from eddyline.engine.options import EngineOptions
from eddyline.engine.overload.measured import Measured
from eddyline.engine.overload.needs import largest_cores, largest_state
from eddyline.engine.overload.shedding import Shedding
from eddyline.engine.placement.workload import Workload
from eddyline.engine.query import Query
from eddyline.optimizer.overload import verdict
from eddyline.optimizer.prices import Prices
from eddyline.optimizer.statistics import Statistics
from eddyline.optimizer.thinned import thinned
from eddyline.optimizer.verdict import Limits, Verdict
from eddyline.optimizer.work import Work
from eddyline.types import BEGINNING

#: Relative change of a measured rate since the last decision that causes a new decision.
_CHANGED: Final = 0.1
#: The first period over which rates are measured; each one is twice as long as the last, up to
#: ``decide_every``.
_FIRST_PERIOD_US: Final = 5_000_000
#: The same while it is not known what feedback between joins saves.
_FEEDBACK_PERIOD_US: Final = 1_000_000
#: How far needs may be above a limit with drop boxes.
_TOLERANCE: Final = 0.01


class Overload:
    """Decides the share of rows to keep per stream, from the expected load of the queries.

    It decides when queries were added or dropped, and when the rates, CPU times or sizes of state
    measured over a period differ from those of the last decision; always between two calls with
    rows. Times are other ones when a call is repeated: what was decided has to be known then.

    Args:
        shedding: sets the drop boxes. workload: the load of the running queries.
        inputs: the streams whose rates are measured.
        statistics: supplied and declared ones. Rates that are measured here, before the drop
            boxes, take precedence over these and over those of the engine.
        measured: what the engine measures.

    Attributes:
        capacity: CPU cores that the queries may use. memory: bytes of state that they may have.
        decides: False if the shares are set by the caller.
        held: all rows are kept until queries are added or dropped.
    """

    def __init__(
        self,
        shedding: Shedding,
        inputs: Inputs,
        workload: Workload,
        statistics: Statistics,
        prices: Prices,
        measured: Measured,
    ) -> None:
        self.decides = True
        self.held = False
        self.capacity = 1.0
        self.memory = inf
        self._afterwards = False
        self._repeats = False
        self._every_us = 1
        self._shedding = shedding
        self._inputs = inputs
        self._workload = workload
        self._reordered = workload.reordered
        self._statistics = statistics
        self._measured = measured.statistics
        self._prices = prices
        self.intake = measured.intake
        self._sizes = measured.sizes
        self._measures = True  # CPU time and state are measured
        self._rates: dict[str, float] = {}  # measured, of the last decision
        self._since: tuple[int, dict[str, int]] | None = None  # start of measuring: instant, rows
        self._began_us = 0  # when rates were measured first
        self._period_us = _FIRST_PERIOD_US
        self._kept_since: int | None = None  # when shares of rows changed last
        self._due = False
        self._awaits_feedback = False  # nothing is dropped until its CPU time is known
        self._known: Verdict | None = None
        self._largest: dict[str, float] | None = None  # of ``_known``; None: not computed
        self._state: tuple[float, dict[str, float]] | None = None  # likewise
        self._is_known = False

    def configure(self, options: EngineOptions) -> None:
        """Apply the options that concern overload."""
        self.capacity = 1.0 if options.capacity is None else options.capacity
        self.memory = float(options.memory_bytes or inf)
        self._every_us = self._shedding.period_us = options.decide_every_us
        self._afterwards = options.decide == "after"
        self._measures = options.costs == "measured"
        self.shed(options.keep or None)

    def shed(self, keep: Mapping[str, float] | None) -> None:
        """Keep these shares of the rows, by stream; None: decide them here.

        Raises:
            ValueError: a share is not in (0, 1].
        """
        self._shedding.request(keep or {})
        self.decides = keep is None
        self.changed()

    def allot(self, cores: float) -> None:
        """Change the capacity, from the next decision on."""
        self.capacity = cores
        self.changed()

    def changed(self) -> None:
        """Require a new decision: queries were added or dropped, or the shares were set."""
        self._due, self._is_known, self.held = True, False, False

    def restart(self) -> None:
        """Restart the measurement of rates after a watermark was reset."""
        self._since, self._period_us, self._kept_since = None, _FIRST_PERIOD_US, None
        self.changed()

    def begin_call(self) -> None:
        """Decide if it is due, unless decisions are made at the end of calls."""
        if not self._afterwards:
            self._decide()

    def end_call(self) -> None:
        """Decide if it is due, unless decisions are made at the beginning of calls."""
        if self._afterwards:
            self._decide()

    @property
    def requested(self) -> dict[str, float]:
        """The shares of rows of the next call, by stream; others keep all."""
        return dict(self._shedding.requested)

    @contextmanager
    def repeating(self, keep: Mapping[str, float]) -> Iterator[None]:
        """Inside, a call is repeated of which it is known what was decided: ``requested``."""
        self._repeats = True
        try:
            yield
        finally:
            self._repeats = False
        if self.decides:
            self._request(keep)
            self._due = False

    def hold(self) -> None:
        """Keep all rows from the next decision on, until queries are added or dropped."""
        self.held = self._due = True

    def _decide(self) -> None:
        if not self.decides or min(self.capacity, self.memory) == inf:
            return
        if self.held:
            self._shedding.request({})
            return
        self._measure()
        if not self._shedding.sheddable or self._repeats:
            return
        if self._reordered != self._workload.reordered:  # the cost has changed
            self._reordered = self._workload.reordered
            self.changed()
        if not self._due:
            return
        self._due = False
        found = self.verdict()
        self._awaits_feedback = self._must_wait(found)
        if self._awaits_feedback:
            self._due = True
            self._request({})
        elif found is not None:
            self._request(found.keep)
            self._workload.reorder(found.reordered)
            self._reordered = self._workload.reordered
            self._is_known = not found.reordered

    def _request(self, keep: Mapping[str, float]) -> None:
        if dict(keep) != self.requested:
            self._kept_since = self._inputs.newest
        self._shedding.request(keep)

    def verdict(self) -> Verdict | None:
        """The expected load and the best drop boxes; None if rates are not known."""
        if not self._is_known:
            self._known, self._is_known = self._verdict(self._shedding.sheddable), True
            self._largest = self._state = None
        return self._known

    def cores(self) -> dict[str, Any]:
        """CPU cores that the queries ``had`` and ``needed`` (None: rates are not known), and what
        needs most of them.
        """
        found = self.verdict()
        if found is None:
            return {"had": self.capacity, "needed": None, "largest": {}}
        if self._largest is None:
            known = self._known_rows()
            self._largest = largest_cores(self._works(known), known, self._prices)
        return {"had": self.capacity, "needed": found.needed, "largest": self._largest}

    def memory_needs(self, *, used: int | None = None) -> dict[str, Any]:
        """Bytes of state that the queries may have, ``had`` (None: no limit), that they ``needed``
        for all rows (None: rates are not known), what needs most of them, and that they ``used``.

        Args:
            used: bytes now; None: those of the last decision with a limit.
        """
        found = self.verdict()
        if found is not None and self._state is None:
            known = self._known_rows()
            self._state = largest_state(self._works(known), known, self._sizes.factors)
        needed, largest = (None, {}) if found is None or self._state is None else self._state
        had = None if self.memory == inf else self.memory
        used = self._sizes.used if used is None else used
        return {"had": had, "needed": needed, "used": used, "largest": largest}

    def memory_needs_now(self) -> dict[str, Any]:
        """The same, with the bytes that are used now."""
        return self.memory_needs(used=sum(self._sizes.measured().values()))

    @property
    def known(self) -> Verdict | None:
        """The verdict, if it has been computed for the current queries and rates."""
        return self._known if self._is_known else None

    def advice(self) -> str | None:
        """A sentence if the queries need more than a limit, else None."""
        found = self.verdict()
        if found is None or found.feasible:
            return None
        if found.fits(_TOLERANCE):
            return found.text()
        refused = sorted(self._shedding.refusing())
        if not refused:
            return found.text()
        other = self._verdict(self._inputs.streams())
        assert other is not None, "rates are known"
        names = ", ".join(refused[:3]) + (f" and {len(refused) - 3:,} more" if refused[3:] else "")
        return f"{other.text()}; no rows are dropped without ON OVERLOAD SHED in {names}"

    def lines(self, query: Query) -> list[str]:
        """Lines of EXPLAIN for a running query."""
        self.begin_call()
        advice = self.advice() if self.decides else None
        return [*self._shedding.lines(query), *([f"all queries: {advice}"] if advice else [])]

    def lines_with(self, plan: Plan, *, sheds: bool) -> list[str]:
        """Lines of EXPLAIN for a query that is not running."""
        streams = streams_read(plan)
        allowed = set(self._shedding.sheddable)
        idle = streams - self._shedding.read()
        thinnable = allowed | idle if sheds else allowed - streams
        found = self._verdict(thinnable, [Work(plan, ("this query",))])
        if found is None or found.feasible:
            return []
        return [f"with all running queries: {found.text()}"]

    def _verdict(self, thinnable: Iterable[str], more: Sequence[Work] = ()) -> Verdict | None:
        known = self._known_rows()
        works = self._works(known, more)
        limits = Limits(self.capacity, self.memory, self._sizes.factors)
        found = verdict(works, frozenset(thinnable), limits, known, self._prices)
        if found is None or not (ranked := self._shedding.ranked(found.keep)):
            return found
        samples = {q: s for q, s in found.outputs.items() if not self._shedding.ranks(q, ranked)}
        return replace(found, outputs=samples, ranked=ranked)

    def _works(self, known: Statistics, more: Sequence[Work] = ()) -> list[Work]:
        works = [*self._workload.works(), *more]
        works += self.intake.works(works, known) if self._measures else ()
        return works

    def _known_rows(self) -> Statistics:
        """Statistics of all rows, before the drop boxes."""
        known = self._statistics.over(self._measured())
        rates = {**self._statistics.rates, **self._rates}
        return replace(known, rates=rates, corrections=self._workload.results.corrections)

    # -- measuring -----------------------------------------------------

    def _measure(self) -> None:
        """Look at what was measured, if a period begins or is over."""
        newest = self._inputs.newest
        if newest == BEGINNING:
            return
        if self._since is not None:
            first_us = _FEEDBACK_PERIOD_US if self._awaits_feedback else self._every_us
            period_us = min(self._period_us, self._every_us, first_us)
            if newest - self._since[0] < period_us:
                return
        seen = {s: self._inputs.intake(s).seen for s in self._inputs.streams()}
        if self._since is None:
            since = self._workload.since()
            self._since, self._began_us = (newest, seen), newest if since is None else since
            self._workload.learn(self._known_rows(), 0.0, inf, self._timed_by)
            self._look_at_intake()
            return
        before_us, before = self._since
        if not self._awaits_feedback:
            self._period_us = min(2 * self._period_us, self._every_us)
        seconds = (newest - before_us) / 1e6
        rates = {s: (n - before.get(s, 0)) / seconds for s, n in seen.items()}
        self._since = (newest, seen)
        keep = {s: self._inputs.intake(s).keep for s in rates}
        age_s = ((newest + before_us) / 2 - self._began_us) / 1e6
        kept = thinned(replace(self._known_rows(), rates=rates, age_s=age_s), keep)
        steady_us = inf if self._kept_since is None else before_us - self._kept_since
        learnt = self._workload.learn(kept, seconds, steady_us, self._timed_by)
        if any([learnt, self._look_at_intake(), self._look_at_state(kept)]):
            self.changed()
        if any(_differ(rate, self._rates.get(s)) for s, rate in rates.items()):
            self._rates = rates
            self.changed()

    def _must_wait(self, found: Verdict | None) -> bool:
        """Whether rows would be dropped for CPU time that feedback may save: the model does not
        know what it saves, so that is measured first.
        """
        if found is None or not found.keep or not self._measures or self.memory < inf:
            return False
        return self._workload.awaits_feedback()

    @property
    def _timed_by(self) -> Prices | None:
        return self._prices if self._measures else None

    def _look_at_intake(self) -> bool:
        """Whether what rows cost before the operators has changed."""
        kept = read = 0
        for stream in self._inputs.streams():
            intake = self._inputs.intake(stream)
            kept += intake.kept
            read_here = not self._afterwards or intake.utility is not None
            read += intake.seen if read_here else intake.kept
        return self._measures and self.intake.look(read, kept)

    def _look_at_state(self, kept: Statistics) -> bool:
        """Whether the size of the state has changed, against the expected one.

        Args:
            kept: statistics of the rows that were kept.
        """
        if self.memory == inf or not self._measures:
            return False
        return self._sizes.look(self._workload.works(), kept)

    # -- checkpoints ---------------------------------------------------

    def saved(self) -> dict[str, Any]:
        """For JSON."""
        decided = self.requested if self.decides else {}
        return {
            "decides": self.decides,
            "rates": self._rates,
            "since": self._since,
            "began": self._began_us,
            "period": self._period_us,
            "kept_since": self._kept_since,
            "due": self._due,
            "held": self.held,
            "learnt": self._workload.learnt(),
            "intake": self.intake.saved(),
            "capacity": self.capacity,
            "sizes": self._sizes.saved(),
            "keep": decided,
        }

    def restore(self, saved: Mapping[str, Any]) -> None:
        """Restore ``saved``."""
        self.decides, self._due, self.held = saved["decides"], saved["due"], saved["held"]
        self._rates, self.capacity = dict(saved["rates"]), saved["capacity"]
        self._began_us, self._period_us = saved["began"], saved["period"]
        self._kept_since = saved["kept_since"]
        if saved["since"] is not None:
            newest, seen = saved["since"]
            self._since = (newest, dict(seen))
        self._workload.restore_learnt(saved["learnt"])
        self.intake.restore(saved["intake"])
        self._sizes.restore(saved["sizes"])
        if self.decides:
            self._shedding.request(saved["keep"])
        self._is_known = False


def _differ(rate: float, known: float | None) -> bool:
    return known is None or abs(rate - known) > _CHANGED * max(rate, known)
