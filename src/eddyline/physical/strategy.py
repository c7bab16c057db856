"""How a plan's rows leave its state: the execution strategies of the update-patterns paper."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

from eddyline.algebra.patterns import Pattern
from eddyline.algebra.plan import (
    AntiJoin,
    GroupBy,
    Negation,
    Plan,
    SemiJoin,
    StreamScan,
    lifespan_us,
    looks_up,
)
from eddyline.algebra.windows import Range
from eddyline.errors import did_you_mean
from eddyline.optimizer.estimates import premature_share
from eddyline.optimizer.statistics import UNKNOWN, Statistics
from eddyline.runtime.stores.answers import AnswerCalendar, AnswerList, AnswerQueue, AnswerStore
from eddyline.runtime.stores.expiry import ExpiryStore, FifoStore, ListStore, PartitionedStore

StateStrategy = Literal["upa", "direct", "negative-tuple"]
STATE_STRATEGIES: Final[tuple[str, ...]] = get_args(StateStrategy)
Feedback = Literal["off", "doe", "jit", "auto"]
FEEDBACK: Final[tuple[str, ...]] = get_args(Feedback)
Mns = Literal["index", "bloom"]
MNS: Final[tuple[str, ...]] = get_args(Mns)

#: Partitions of a store whose rows may live for ever or nobody knows how long.
_UNKNOWN_LIFESPAN_US: Final = 3_600_000_000


@dataclass(frozen=True)
class Strategy:
    """What the planner is told about state.

    Source: Golab and Ozsu 2005, sections 2.3 and 5.3.2.

    Attributes:
        state: ``upa`` picks each structure by the update pattern of what it holds; ``direct`` keeps
            lists that are scanned for what has expired; ``negative-tuple`` makes every window emit
            a '-' for each row that expires, and looks rows up by key.
        partitions: of the stores by expiry time that ``upa`` uses for WK and STR patterns.
        views: whether the answer of every query is materialised, rather than put together from the
            operators' state when somebody asks for it.
        negative_tuples_from: the expected share of results that are taken back before they expire
            from which on the operators above a negation work with negative tuples, under ``upa``;
            None: never, which was fastest at every share (docs/decisions/0008).
        statistics: what this share is expected by.
        feedback: what the joins of a tree are told about who wants their rows: ``off`` nothing,
            ``doe`` whether anybody can want any, ``jit`` which rows somebody wants, ``auto`` the
            same as long as that spares rows (Yang and Papadias 2008).
        admission: ask for a row before anything is made of it; else when something has been, which
            is the purely reactive form of the paper, to compare with.
        combinations: whether joins also spare pairs of rows that the next join has no match for,
            though it has one for either row (Type II MNSs).
        mns: how joins find out that no row matches one by equal keys, which makes it an MNS: by an
            ``index``, or by ``bloom`` filters, which take less memory, and let some rows pass that
            nobody wants.
        nested_loops: let every probe of a join look at all rows, as the papers do.
        lazy_us: how often join inputs and other results that are looked up by key drop what has
            expired; None: when that may be half of them. Answers never show it.
    """

    state: StateStrategy = "upa"
    partitions: int = 64
    views: bool = False
    negative_tuples_from: float | None = None
    statistics: Statistics = UNKNOWN
    feedback: Feedback = "off"
    admission: bool = True
    nested_loops: bool = False
    mns: Mns = "index"
    combinations: bool = False
    lazy_us: int | None = None

    def __post_init__(self) -> None:
        if self.state not in STATE_STRATEGIES:
            raise ValueError(f"state {self.state!r}; {did_you_mean(self.state, STATE_STRATEGIES)}")
        if self.feedback not in FEEDBACK:
            message = did_you_mean(self.feedback, FEEDBACK)
            raise ValueError(f"feedback {self.feedback!r}; {message}")
        if self.mns not in MNS:
            raise ValueError(f"mns {self.mns!r}; {did_you_mean(self.mns, MNS)}")
        if self.partitions < 1:
            raise ValueError(f"partitions must be at least 1, not {self.partitions}")
        if self.lazy_us is not None and self.lazy_us < 1:
            raise ValueError(f"the lazy expiry interval must be positive, not {self.lazy_us} us")

    @property
    def explicit(self) -> bool:
        """Whether rows leave by '-' alone."""
        return self.state == "negative-tuple"

    @property
    def shares(self) -> bool:
        """Whether queries may share a flow: its rows leave by ``exp``, and nobody keeps answers."""
        return self.state == "upa" and not self.views

    def begins_explicit(self, plan: Plan) -> bool:
        """Whether an explicit plan is an implicit one whose expiries are made explicit."""
        if isinstance(plan, StreamScan):
            return isinstance(plan.window, Range)
        return _tells_who_matches(plan) and not self.explicit

    def explicit_above_negation(self, plan: Plan) -> bool:
        """Whether the operators above a negation do better with a '-' for every row that leaves.

        Source: Golab and Ozsu 2005, section 5.4.3.
        """
        least = self.negative_tuples_from
        if self.state != "upa" or least is None or isinstance(plan, GroupBy):
            return False
        if _tells_who_matches(plan):
            return premature_share(plan, self.statistics) >= least
        return any(self.explicit_above_negation(p) for p in plan.inputs)

    def by_key(self, plan: Plan) -> bool:
        """Whether STR results must be kept by key: nobody knows when the rest of them leaves."""
        return lifespan_us(plan) is None

    def expiries(self, plan: Plan, dtypes: Sequence[Any]) -> ExpiryStore:
        """A store in which the rows of this plan's output wait for their expiry."""
        if self.state == "direct":
            return ListStore(dtypes)
        if plan.pattern <= Pattern.WKS:
            return FifoStore(dtypes)
        return PartitionedStore(dtypes, self._partition_us(plan))

    def answers(self, plan: Plan, width: int) -> AnswerStore:
        """A store for the answer of a plan: ``width`` lanes, the first being the expiry."""
        if self.state != "direct" and plan.pattern <= Pattern.WKS:
            return AnswerQueue(width)
        lifespan = lifespan_us(plan)
        if self.state == "direct" or lifespan is None:
            return AnswerList(width)
        return AnswerCalendar(width, self.partitions, lifespan)

    def _partition_us(self, plan: Plan) -> int:
        lifespan = lifespan_us(plan) or _UNKNOWN_LIFESPAN_US
        return max(lifespan // self.partitions, 1)


def _tells_who_matches(plan: Plan) -> bool:
    """Whether this is a negation or an existence test whose answer may change: rows that are looked
    up in a table are shown, or not, for good.
    """
    if isinstance(plan, (SemiJoin, AntiJoin)):
        return not looks_up(plan)
    return isinstance(plan, Negation)
