"""The options of an engine: what a user sets, and which strategies a researcher compares."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Final, Literal, get_args

from eddyline.engine.overload.drop_box import check_rates
from eddyline.errors import StateError, did_you_mean
from eddyline.optimizer.byte_sizes import parse_bytes
from eddyline.optimizer.prices import Prices
from eddyline.optimizer.statistics import UNKNOWN, Statistics
from eddyline.physical.flows import Executor, Schedules, Sharing
from eddyline.physical.strategy import Feedback, FeedbackForm, Mns, StateStrategy, Strategy
from eddyline.runtime.eddy.join_flow import Selections
from eddyline.runtime.eddy.policies import PolicyName
from eddyline.sql.durations import parse_duration

Decide = Literal["before", "after"]
Costs = Literal["measured", "modelled"]

#: Rows of a shared window join that are served in one step, at most.
_ROWS_PER_STEP: Final = 4_096


@dataclass(frozen=True)
class EngineOptions:
    """What a user sets. Answers depend on ``keep``, ``capacity``, ``memory`` and ``ahead_at_most``
    only.

    Attributes:
        chunk_rows: rows that run through the operators in one batch; 1 is tuple-at-a-time
            processing.
        keep: share of the rows to keep, by stream, in (0, 1]. A stream is thinned if every query
            that reads it says ``ON OVERLOAD SHED``. Whether a row is kept depends on its values
            only. Empty: the engine decides, from the expected load.
        capacity: CPU cores that the queries may use, for that decision. None: 1 for an engine; on
            Spark 1 for each group of streams, or its part where there are fewer shards or cores.
        memory: state that the queries may have ("4 GB"), for that decision: the rows in windows,
            and all that operators keep. On Spark for all shards together. None: no limit.
        decide_every: event time over which rates are measured before the next decision; the first
            periods are shorter, from 5 seconds on.
        decide: whether the engine decides at the start of a call with rows, or at its end,
            for the next call: ``Engine.shedding`` then says which rows need not be sent. On Spark
            always at the end.
        set_aside_after: number of bad rows since its last result, and at least a tenth of the rows
            of its streams, after which a query is set aside: it keeps its name, does not run, and
            its ``stats`` give the reason. None: never.
        ahead_at_most: how far timestamps may be ahead of the wall clock in streams without AHEAD
            AT MOST ("1 day"). None: any distance for an engine, one day on Spark.
        costs: what the load is computed from: ``measured`` CPU time of the operators, functions
            and streams and sizes of state, or ``modelled``, the prices and the model alone; then
            the same calls always drop the same rows. On Spark the log has what was decided, and a
            replay drops the same rows.
        latency: time budget of a call of ``process``, or of a batch on Spark, for queries that join
            the same two streams over different windows ("500 ms"): small windows are served first
            (see ``schedule``), and what is left when the budget is used up waits for the next call.
            The time is counted work by ``prices``, so a repeated call stops at the same place.
            None: every call finishes.
        statistics: rates and numbers of values by which plans are chosen. They take precedence over
            those that CREATE STREAM and CREATE TABLE declare.
        prices: costs of the steps of operators, by which the load is computed. None: those that
            ``eddyline calibrate`` measured on this machine, else typical ones.

    Raises:
        ValueError: a value is not valid.
    """

    chunk_rows: int = 16_384
    keep: Mapping[str, float] = field(default_factory=dict)
    capacity: float | None = None
    memory: str | None = None
    decide_every: str = "1 minute"
    decide: Decide = "before"
    set_aside_after: int | None = 1_000
    ahead_at_most: str | None = None
    costs: Costs = "measured"
    latency: str | None = None
    statistics: Statistics = UNKNOWN
    prices: Prices | None = None

    def __post_init__(self) -> None:
        _check_at_least(1, chunk_rows=self.chunk_rows, set_aside_after=self.set_aside_after)
        check_rates(self.keep)
        if self.capacity is not None and not self.capacity > 0:
            raise ValueError(f"capacity must be above 0 cores, not {self.capacity}")
        if self.memory_bytes == 0:
            raise ValueError(f"memory must be above 0 bytes, not {self.memory!r}")
        _check_choice("decide", self.decide, Decide)
        _check_choice("costs", self.costs, Costs)
        _duration_us("decide_every", self.decide_every)
        _duration_us("latency", self.latency)
        _duration_us("ahead_at_most", self.ahead_at_most, least_us=0)

    @property
    def memory_bytes(self) -> int | None:
        """``memory`` in bytes.

        Raises:
            ValueError: it is not an amount of memory.
        """
        if self.memory is None:
            return None
        try:
            return parse_bytes(self.memory)
        except ValueError as e:
            raise ValueError(f"memory: {e}") from None

    @property
    def decide_every_us(self) -> int:
        """``decide_every`` in microseconds."""
        return parse_duration(self.decide_every)

    @property
    def ahead_us(self) -> int | None:
        """``ahead_at_most`` in microseconds."""
        return None if self.ahead_at_most is None else parse_duration(self.ahead_at_most)

    @property
    def latency_us(self) -> int | None:
        """``latency`` in microseconds."""
        return None if self.latency is None else parse_duration(self.latency)

    def as_dict(self) -> dict[str, Any]:
        """By field, for JSON."""
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        return values | {
            "keep": dict(self.keep),
            "statistics": self.statistics.as_dict(),
            "prices": None if self.prices is None else self.prices.as_dict(),
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> EngineOptions:
        """What ``as_dict`` returned."""
        prices = values["prices"]
        return cls(
            **{
                **values,
                "statistics": Statistics.from_dict(values["statistics"]),
                "prices": None if prices is None else Prices.from_dict(prices),
            }
        )


@dataclass(frozen=True)
class StrategyOptions:
    """Which algorithms and structures run the queries. Answers do not depend on them.

    Sources: Golab and Ozsu 2005 (state, partitions, views, negative_tuples_from), Madden et al.
    2002 (sharing, executor, policy, selections), Hammad et al. 2003 (schedule), Yang and Papadias
    2008 (feedback, mns, combinations, feedback_form).

    Attributes:
        state: ``upa`` picks each structure by the update pattern of its content; ``direct`` keeps
            lists that are scanned for expired rows; ``negative-tuple`` makes every window emit a
            '-' for each row that expires.
        partitions: number of partitions by expiry time, of the stores for WK and STR patterns.
        views: whether the answer of every query is materialised, instead of assembled from the
            state of the operators when ``snapshot`` is called. Queries share flows as without.
        negative_tuples_from: expected share of results that are taken back before they expire from
            which on the operators above a negation use negative tuples, under ``upa``. None: never,
            which was fastest at every share (docs/decisions/0008).
        lazy_expiry: how often state that is looked up by key drops expired rows ("5 minutes").
            None: when up to half of it may have expired.
        feedback: which rows the joins of a tree pass on: ``off`` all, ``doe`` those after which
            some other input has rows at all, ``jit`` those that have a partner there, ``auto`` as
            ``jit`` while that saves rows.
        mns: structure that finds rows without a partner by equal keys: an ``index``, or ``bloom``
            filters, which need less memory and let some such rows pass.
        combinations: whether joins also suppress pairs of rows without a partner in the next join
            when each of the two has one (Type II MNSs).
        feedback_form: another form of feedback than the product's, which checks whether a row has
            a partner before it is joined. Not saved: ``Engine.load`` takes it again.
        nested_loops: whether every probe of a join scans all rows.
        sharing: whether queries with the same signature run in one flow.
        executor: ``eddy`` runs select-project-join queries in flows, ``tree`` as trees of
            operators; ``auto`` takes the tree for a query that is alone with its signature.
        policy: how a flow routes rows among its grouped filters and SteMs.
        selections: ``push`` filters rows before they are stored and joined, ``pull`` after;
            ``auto`` before, but by slow functions after, where joins leave so few rows that it
            costs less.
        schedule: the order in which ``Engine.stream``, and ``process`` with a ``latency``, serve
            queries that join the same two streams over different windows.
        optimize: whether plans are rewritten by rule; else joins run in the order written, and
            filters where they are written.
        replan: by which factor another join order must be expected to cost less, by the measured
            statistics, before a running query changes to it; ``inf``: never.

    Raises:
        ValueError: a value is not valid.
    """

    state: StateStrategy = "upa"
    partitions: int = 64
    views: bool = False
    negative_tuples_from: float | None = None
    lazy_expiry: str | None = None
    feedback: Feedback = "auto"
    mns: Mns = "index"
    combinations: bool = False
    feedback_form: FeedbackForm | None = None
    nested_loops: bool = False
    sharing: bool = True
    executor: Executor = "auto"
    policy: PolicyName = "ticket"
    selections: Selections = "auto"
    schedule: Schedules = "greedy"
    optimize: bool = True
    replan: float = 1.5

    def __post_init__(self) -> None:
        for name, choices in CHOICES.items():
            _check_choice(name, getattr(self, name), choices)
        _check_at_least(1, partitions=self.partitions, replan=self.replan)
        _duration_us("lazy_expiry", self.lazy_expiry)

    def planned_by(self, statistics: Statistics) -> Strategy:
        """What the planner of trees of operators follows."""
        return Strategy(
            self.state,
            self.partitions,
            self.views,
            self.negative_tuples_from,
            statistics,
            feedback=self.feedback,
            feedback_form=self.feedback_form,
            nested_loops=self.nested_loops,
            mns=self.mns,
            combinations=self.combinations,
            lazy_us=None if self.lazy_expiry is None else parse_duration(self.lazy_expiry),
        )

    def shared_by(self, chunk_rows: int) -> Sharing:
        """What the planner of flows follows, in an engine that processes chunks of this size."""
        return Sharing(
            self.sharing,
            self.executor,
            self.policy,
            self.selections,
            self.schedule,
            rows_per_step=min(chunk_rows, _ROWS_PER_STEP),
        )

    def as_dict(self) -> dict[str, Any]:
        """By field, for JSON; of ``feedback_form`` the name."""
        form = self.feedback_form
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        return values | {"feedback_form": None if form is None else form.name}

    @classmethod
    def from_dict(
        cls, values: Mapping[str, Any], feedback_form: FeedbackForm | None
    ) -> StrategyOptions:
        """What ``as_dict`` returned, with the form of feedback of that name.

        Raises:
            StateError: the form has another name.
        """
        needed, given = values["feedback_form"], feedback_form and feedback_form.name
        if needed != given:
            raise StateError(f"saved with feedback_form {needed!r}, loaded with {given!r}")
        return cls(**{**values, "feedback_form": feedback_form})


#: Options that are one of several names.
CHOICES: Final = {
    "state": StateStrategy,
    "feedback": Feedback,
    "mns": Mns,
    "executor": Executor,
    "policy": PolicyName,
    "selections": Selections,
    "schedule": Schedules,
}


def _check_choice(name: str, value: object, choices: Any) -> None:
    valid = get_args(choices)
    if value not in valid:
        raise ValueError(f"{name} {value!r}; {did_you_mean(str(value), valid)}")


def _check_at_least(least: int, **values: float | None) -> None:
    for name, value in values.items():
        if value is not None and not value >= least:
            raise ValueError(f"{name} must be at least {least}, not {value}")


def _duration_us(name: str, text: str | None, *, least_us: int = 1) -> None:
    if text is None:
        return
    try:
        us = parse_duration(text)
    except ValueError as e:
        raise ValueError(f"{name}: {e}") from None
    if us < least_us:
        rule = "longer than zero" if least_us else "zero or longer"
        raise ValueError(f"{name} must be {rule}, not {text!r}")


#: The options of an engine that is given none.
DEFAULTS: Final = EngineOptions()
DEFAULT_STRATEGY: Final = StrategyOptions()
