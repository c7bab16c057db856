"""Joins that run: streams to the measure of a model, and what an engine makes of them."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

import numpy as np
import pyarrow as pa

import eddyline
from eddyline.algebra.plan import Plan, StreamScan
from eddyline.optimizer.cost import cost
from eddyline.optimizer.joins.query import JoinQuery, Source, Term
from eddyline.optimizer.joins.trees import Tree, leaves
from eddyline.optimizer.prices import Prices
from eddyline.optimizer.statistics import Statistics

_CHUNK_ROWS: Final = 16_384  # that run through the operators at once
_CALL_ROWS: Final = 4 * _CHUNK_ROWS  # of all streams, in one call of the engine
_QUERY: Final = "q"
_UNLIMITED: Final = 1e9  # cores


@dataclass(frozen=True)
class WindowedStream:
    """A stream of rows at random instants.

    Attributes:
        rate: rows per second. seconds, rows: of its window; one of them is None.
    """

    rate: float
    seconds: float | None = None
    rows: int | None = None

    @property
    def window(self) -> str:
        """As in SQL."""
        if self.seconds is not None:
            return f"[RANGE {round(self.seconds * 1e6)} MICROSECONDS]"
        return f"[ROWS {self.rows}]"

    @property
    def span_s(self) -> float:
        """How far the window reaches back."""
        return self.seconds if self.seconds is not None else (self.rows or 0) / self.rate

    def source(self, name: str) -> Source:
        """The source of the model; in the engine a row leaves a window of rows by a '-'."""
        if self.seconds is not None:
            return Source.range(name, self.rate, self.seconds)
        return replace(Source.last(name, self.rate, self.rows or 0), taken_back=self.rate)


@dataclass(frozen=True)
class JoinCase:
    """A conjunctive query and its streams.

    Attributes:
        edges: pairs of streams that are to agree on a column of their own, and how many values
            this takes, evenly.
    """

    streams: tuple[WindowedStream, ...]
    edges: tuple[tuple[int, int, int], ...]

    @property
    def query(self) -> JoinQuery:
        """As the model has it."""
        sources = tuple(s.source(f"s{i}") for i, s in enumerate(self.streams))
        return JoinQuery(sources, tuple(Term.edge(a, b, 1 / d) for a, b, d in self.edges))

    @property
    def ddl(self) -> str:
        """The CREATE STREAM statements."""
        return ";".join(
            f"CREATE STREAM s{i} (ts TIMESTAMP, {', '.join(f'{c} BIGINT' for c in columns)}) "
            "TIMESTAMP BY ts"
            for i, columns in enumerate(map(self.columns, range(len(self.streams))))
        )

    def columns(self, stream: int) -> dict[str, int]:
        """The columns of a stream, and how many values each takes."""
        return {f"e{k}": d for k, (a, b, d) in enumerate(self.edges) if stream in (a, b)}

    def statistics(self, keep: Sequence[float]) -> Statistics:
        """Statistics of the streams behind drop boxes."""
        return Statistics(
            rates={
                f"s{i}": s.rate * x for i, (s, x) in enumerate(zip(self.streams, keep, strict=True))
            },
            values={
                (f"s{i}", column): distinct
                for i in range(len(self.streams))
                for column, distinct in self.columns(i).items()
            },
        )

    @property
    def flat(self) -> str:
        """One SELECT over all streams: the optimizer decides."""
        streams = ", ".join(f"s{i} {s.window}" for i, s in enumerate(self.streams))
        equal = " AND ".join(f"s{a}.e{k} = s{b}.e{k}" for k, (a, b, _) in enumerate(self.edges))
        shown = ", ".join(f"s{i}.{c}" for i in range(len(self.streams)) for c in self.columns(i))
        return f"SELECT {shown} FROM {streams} WHERE {equal}"

    def nested(self, tree: Tree) -> str:
        """Nested SELECTs: joins are those of a tree."""
        assert not isinstance(tree, int), "a stream is no join"
        inputs: list[str] = []
        names: dict[str, str] = {}
        for place, side in enumerate(tree):
            if isinstance(side, int):
                inputs.append(f"s{side} {self.streams[side].window}")
                names |= {f"s{side}_{c}": f"s{side}.{c}" for c in self.columns(side)}
            else:
                inputs.append(f"({self.nested(side)}) AS q{place}")
                names |= {n: f"q{place}.{n}" for i in leaves(side) for n in self._outputs(i)}
        left, right = leaves(tree[0]), leaves(tree[1])
        equal = [
            f"{names[f's{a}_e{k}']} = {names[f's{b}_e{k}']}"
            for k, (a, b, _) in enumerate(self.edges)
            if (a in left and b in right) or (a in right and b in left)
        ]
        shown = ", ".join(f"{expr} AS {name}" for name, expr in names.items())
        where = f" WHERE {' AND '.join(equal)}" if equal else ""
        return f"SELECT {shown} FROM {', '.join(inputs)}{where}"

    def _outputs(self, stream: int) -> list[str]:
        return [f"s{stream}_{column}" for column in self.columns(stream)]


@dataclass(frozen=True)
class TrialOutcome:
    """What an engine did over some seconds of event time, its windows being full.

    Attributes:
        output: results per second. active: results alive, on average.
        cores: CPU seconds per second. plan: that ran. calls: of operators per second.
    """

    output: float
    active: float
    cores: float
    plan: Plan
    calls: float

    def predicted_cores(self, statistics: Statistics, prices: Prices) -> float:
        """What the plan should take."""
        return cost(self.plan, statistics, prices).total + self.calls * prices.call_s


class JoinTrial:
    """An engine at work on a case, with its own drop boxes.

    Args:
        sql: the query; ``JoinCase.flat`` or ``nested``.
        keep: by stream, the keep rate; None: those that the engine chooses for ``capacity``, and
            with them the order of the joins.
        capacity: in cores; None: without limit.
    """

    def __init__(
        self,
        case: JoinCase,
        sql: str,
        keep: Sequence[float] | None = None,
        capacity: float | None = None,
    ) -> None:
        self.case = case
        names = [f"s{i}" for i in range(len(case.streams))]
        everything = (1.0,) * len(names)
        self.engine = eddyline.Engine(
            eddyline.EngineOptions(
                chunk_rows=_CHUNK_ROWS,
                statistics=case.statistics(everything),
                capacity=_UNLIMITED if capacity is None else capacity,
                decide_every="1 day",
                costs="modelled",  # decisions are by the statistics, which are right
                keep=dict(zip(names, keep or (), strict=False)),
            ),
            # the joins stay in the order that is to be measured
            eddyline.StrategyOptions(executor="tree", feedback="off", replan=math.inf),
        )
        self.engine.sql(case.ddl)
        self.query = self.engine.query(f"{sql} ON OVERLOAD SHED", name=_QUERY)
        self.engine.process({})  # decides
        verdict = self.engine.verdict
        assert verdict is not None, "rates are known"
        self.verdict = verdict
        self.keep = everything if keep is None else tuple(keep)
        if keep is None:
            boxes = self.engine.shedding
            self.keep = tuple(boxes[n]["keep"] if n in boxes else 1.0 for n in names)
        self._rng = np.random.default_rng(2004)
        self._clock_s = 0.0
        self._changes: list[pa.Table] = []
        self.fill_s = 1.2 * max(
            s.span_s / max(x, 0.01) for s, x in zip(case.streams, self.keep, strict=True)
        )

    @cached_property
    def call_s(self) -> float:
        """Event time of one call."""
        return _CALL_ROWS / sum(s.rate for s in self.case.streams)

    @property
    def _chunks(self) -> int:
        """Of one call."""
        kept = sum(s.rate * x for s, x in zip(self.case.streams, self.keep, strict=True))
        return max(1, round(kept * self.call_s / _CHUNK_ROWS))

    def measure(self, seconds: float) -> TrialOutcome:
        """Go on for some event time; the first time, after the windows have been filled."""
        if not self._clock_s:
            self._play(self.fill_s)
        start = self._clock_s
        spent = self._play(seconds)
        results, active = _results(self._changes, start, self._clock_s)
        took = self._clock_s - start
        calls = len(self.engine.stats()["operators"]) * self._chunks / self.call_s
        return TrialOutcome(results / took, active, spent / took, self.query.plan, calls)

    def _play(self, seconds: float) -> float:
        """Take in the rows of some event time; returns CPU seconds."""
        spent = 0.0
        for _ in range(-(-int(seconds * 1e6) // int(self.call_s * 1e6))):
            batch = self._rows(self._clock_s, self._clock_s + self.call_s)
            begin = time.process_time()
            end_us = round((self._clock_s + self.call_s) * 1e6)
            changes = self.engine.process(batch, watermark=end_us - 1)[_QUERY]
            spent += time.process_time() - begin
            self._changes.append(changes.select(["_op", "_ts", "_exp"]))
            self._clock_s += self.call_s
        return spent

    def _rows(self, start_s: float, end_s: float) -> dict[str, pa.Table]:
        return {f"s{i}": self._stream(i, start_s, end_s) for i in range(len(self.case.streams))}

    def _stream(self, number: int, start_s: float, end_s: float) -> pa.Table:
        """The rows of a stream."""
        count = self._rng.poisson(self.case.streams[number].rate * (end_s - start_s))
        ts = np.sort(self._rng.integers(round(start_s * 1e6), round(end_s * 1e6), count))
        columns: dict[str, Any] = {"ts": ts}
        for name, distinct in self.case.columns(number).items():
            columns[name] = self._rng.integers(0, distinct, count)
        return pa.table(columns)


def _results(changes: Sequence[pa.Table], start_s: float, end_s: float) -> tuple[int, float]:
    """The number of results between two instants, and of those alive on average."""
    table = pa.concat_tables(changes)
    new = np.asarray(table["_op"].to_pandas() == "+")
    ts = table["_ts"].cast(pa.int64()).to_numpy() / 1e6
    exp = table["_exp"].cast(pa.int64()).fill_null(2**62).to_numpy() / 1e6
    alive = np.clip(np.minimum(exp, end_s) - np.maximum(ts, start_s), 0.0, None)
    came = int((new & (ts >= start_s)).sum())
    return came, float((alive * np.where(new, 1, -1)).sum()) / (end_s - start_s)


def ratio(measured: float, predicted: float) -> float:
    """By which factor they differ, whichever is larger.

    >>> ratio(2.0, 1.0), ratio(1.0, 2.0)
    (2.0, 2.0)
    """
    return max(measured / predicted, predicted / measured) if measured and predicted else np.inf


def tree_of(plan: Plan) -> Tree:
    """The joins of a plan over streams ``s0``, ``s1``, ..."""
    if isinstance(plan, StreamScan):
        return int(plan.stream.removeprefix("s"))
    inputs = [tree_of(i) for i in plan.inputs]
    return inputs[0] if len(inputs) == 1 else (inputs[0], inputs[1])


def by_name(values: Mapping[str, float]) -> str:
    """Shares, for a table: ``s0 40 %, s1 100 %``."""
    return ", ".join(f"{name} {value:.0%}" for name, value in values.items())
