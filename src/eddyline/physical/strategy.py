"""How a plan's rows leave its state: the execution strategies of the update-patterns paper."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, get_args

from eddyline.algebra.plan import (
    AntiJoin,
    GroupBy,
    Negation,
    Plan,
    SemiJoin,
    looks_up,
)
from eddyline.errors import did_you_mean
from eddyline.optimizer.estimates import premature_share
from eddyline.optimizer.statistics import UNKNOWN, Statistics

StateStrategy = Literal["upa", "direct", "negative-tuple"]
STATE_STRATEGIES: Final[tuple[str, ...]] = get_args(StateStrategy)
Feedback = Literal["off", "doe", "jit", "auto"]
FEEDBACK: Final[tuple[str, ...]] = get_args(Feedback)
Mns = Literal["index", "bloom"]
MNS: Final[tuple[str, ...]] = get_args(Mns)


@dataclass(frozen=True)
class Strategy:
    """How operators keep their rows, and what producers of rows know of their consumers.

    Source: Golab and Ozsu 2005, sections 2.3 and 5.3.2.

    Attributes:
        state: ``upa`` picks each structure by the update pattern of what it holds; ``direct`` keeps
            lists that are scanned for what has expired; ``negative-tuple`` makes every window emit
            a '-' for each row that expires, and looks rows up by key.
        partitions: of the stores by expiry time that ``upa`` uses for WK and STR patterns.
        views: whether the answer of every query is materialised, rather than put together from the
            operators' state when it is read.
        negative_tuples_from: the expected share of results that are taken back before they expire
            from which on the operators above a negation work with negative tuples, under ``upa``;
            None: never, which was fastest at every share (docs/decisions/0008).
        statistics: what this share is expected by.
        feedback: what consumers report to the joins of a tree that produce their rows: ``off``
            nothing, ``doe`` whether any row is needed, ``jit`` which rows are needed, ``auto`` the
            same as long as that avoids work (Yang and Papadias 2008).
        admission: check whether a row is needed before results are made of it; else afterwards,
            which is the reactive form of the paper, for comparison.
        combinations: whether joins also suspend pairs of rows without a match in the next join
            where either row alone has one (Type II MNSs).
        mns: how joins find the rows without a match by equal keys (MNS): by an ``index``, or by
            ``bloom`` filters, which take less memory, and let some rows pass that are not needed.
        nested_loops: every probe of a join visits all rows, as in the papers.
        lazy_us: how often join inputs and other results that are probed by key drop what has
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
    def shares(self) -> bool:
        """Whether queries may share a flow: its rows leave by ``exp``, and no answer is kept."""
        return self.state == "upa" and not self.views

    def explicit_above_negation(self, plan: Plan) -> bool:
        """Whether the operators above a negation do better with a '-' for every row that leaves.

        Source: Golab and Ozsu 2005, section 5.4.3.
        """
        least = self.negative_tuples_from
        if self.state != "upa" or least is None or isinstance(plan, GroupBy):
            return False
        if decides_by_matches(plan):
            return premature_share(plan, self.statistics) >= least
        return any(self.explicit_above_negation(p) for p in plan.inputs)


def decides_by_matches(plan: Plan) -> bool:
    """Whether this is a negation, or an existence test that changes of its right input affect."""
    if isinstance(plan, (SemiJoin, AntiJoin)):
        return not looks_up(plan)
    return isinstance(plan, Negation)
