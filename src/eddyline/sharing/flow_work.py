"""The cost of a flow, and of each of its queries.

A flow filters, stores and joins each row once for all its queries: a row of source i, of which a
share q_i passes the predicates of some query, probes the other SteMs in turn. With rates l, windows
W (the longest of any query) and fan-outs f of these probes, each row of i costs

    pass + look-ups in grouped filters + q_i (insert + invalidate + probe + f1 (pair + probe) + ...)

and every result of a query costs its delivery; GROUP BY on top is computed per query.

Source: Madden et al. 2002, sections 2 and 3; the terms are those of ``eddyline.optimizer.cost``.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import pyarrow.types as pt

from eddyline.algebra.expressions import ColumnRef, Expr, Literal, conjunction, rewrite, walk
from eddyline.algebra.plan import StreamScan
from eddyline.algebra.reads import streams_read
from eddyline.algebra.windows import Unbounded
from eddyline.optimizer.cost import Cost, cost
from eddyline.optimizer.estimates import Estimate, estimate, estimate_node
from eddyline.optimizer.memory import bytes_of, index_bytes, stored_row_bytes
from eddyline.optimizer.prices import Prices
from eddyline.optimizer.selectivity import equality_share, selectivity, values_of
from eddyline.optimizer.statistics import Statistics
from eddyline.optimizer.stored import StateSize, StoredRows, state_size
from eddyline.optimizer.work import Work
from eddyline.sharing.grouping import lowest_grouping
from eddyline.sharing.signature import Edge, Part, Signature, spanning, with_length


def alike(part: Part) -> Part:
    """The part without its constants: parts that are equal then have the same expected cost.

    >>> import pyarrow as pa
    >>> from eddyline.algebra.expressions import Call
    >>> x = ColumnRef(pa.int64(), 0, "x")
    >>> def above(n):
    ...     term = Call(pa.bool_(), ">", (x, Literal(pa.int64(), n)))
    ...     return Part(((term,),), (), (None,), (x,), ("x",))
    >>> alike(above(1)) == alike(above(2))
    True
    """
    filters = tuple(tuple(map(_without_values, terms)) for terms in part.filters)
    residual = tuple(map(_without_values, part.residual))
    return replace(part, filters=filters, residual=residual, constants=())


def _without_values(expr: Expr) -> Expr:
    def change(e: Expr) -> Expr | None:
        known = isinstance(e, Literal) and not pt.is_boolean(e.type)
        return Literal(e.type, None) if known else None

    return rewrite(expr, change)


@dataclass(frozen=True, eq=False)
class FlowWork(Work):
    """The work that a flow does once for all its queries.

    Attributes:
        signature: of the flow. parts: of its queries, with the number of queries of each.
        readers: per source, how many flows share what filters and stores its rows; none: no others.
    """

    signature: Signature
    parts: Mapping[Part, int]
    readers: tuple[int, ...] = ()

    @property
    def label(self) -> str:
        queries = sum(self.parts.values())
        streams = sorted(streams_read(self.plan))
        return f"filters and joins of {', '.join(streams)} for {queries:,} queries"

    def expected(self, statistics: Statistics, prices: Prices) -> dict[Hashable, float]:
        if len(self.signature.sources) == 1:
            below = cost(self.signature.sources[0], statistics, prices)
            load = below.estimate.rate + below.estimate.retracted
            filtering = load * self._look_ups[0] * prices.route_s
            return {**{n.plan: n.own for n in below.nodes()}, self: filtering}
        arriving = [self._arriving(n, statistics) for n in range(len(self.signature.sources))]
        passing = [e.scaled(self._interest(n, e)) for n, e in enumerate(arriving)]
        total = 0.0
        for number, rows in enumerate(arriving):
            load = rows.rate + rows.retracted
            kept = passing[number].rate + passing[number].retracted
            once = load * (prices.pass_s + self._look_ups[number] * prices.route_s)
            once += kept * (prices.insert_s + prices.invalidate_s)
            total += once / (self.readers[number] if self.readers else 1)
            total += self._joining(number, passing, prices)
        return {self: total}

    def state(self, statistics: Statistics) -> StateSize:
        if len(self.signature.sources) == 1:
            return self._state_of_one(statistics)
        stems: dict[str, StoredRows] = {}
        others: dict[Hashable, float] = {}
        words = -(-sum(self.parts.values()) // 64)
        for number, scan in enumerate(self.signature.sources):
            assert isinstance(scan, StreamScan), "flows join streams"
            rows = self._arriving(number, statistics)
            stored = StoredRows(rows.rows, stored_row_bytes(scan))
            stems[scan.stream] = stored.with_(stems.get(scan.stream, StoredRows()))
            kept = rows.rows * self._interest(number, rows)
            keys = {e.left_key if e.left == number else e.right_key for e in self._edges(number)}
            lineage = 8 * words if any(part.filters[number] for part in self.parts) else 0
            others[self, number] = len(keys) * index_bytes(kept) + kept * lineage
        return StateSize(stems, others)

    def _state_of_one(self, statistics: Statistics) -> StateSize:
        """The rows of the only source, in the longest window of a query."""
        source = self.signature.sources[0]
        lengths = {part.windows[0] for part in self.parts}
        if isinstance(source, StreamScan) and None not in lengths and lengths:
            source = with_length(source, max(n for n in lengths if n is not None))
        return state_size(source, statistics)

    def _edges(self, number: int) -> list[Edge]:
        return [e for e in self.signature.edges if number in (e.left, e.right)]

    @cached_property
    def _look_ups(self) -> list[int]:
        """By source, the number of columns with predicates."""
        found: list[set[Expr]] = [set() for _ in self.signature.sources]
        for part in self.parts:
            for columns, terms in zip(found, part.filters, strict=True):
                columns.update(e for t in terms for e in walk(t) if isinstance(e, ColumnRef))
        return list(map(len, found))

    def _arriving(self, number: int, statistics: Statistics) -> Estimate:
        """The rows of a source, in the longest window of any query."""
        scan = self.signature.sources[number]
        assert isinstance(scan, StreamScan), "flows join streams"
        lengths = [part.windows[number] for part in self.parts]
        known = [n for n in lengths if n is not None]
        if len(known) < len(lengths):
            return estimate_node(replace(scan, window=Unbounded()), (), statistics)
        longest = max(known, default=1)  # no row of the table of FOR EACH: no query
        return estimate_node(with_length(scan, longest), (), statistics)

    def _interest(self, number: int, arriving: Estimate) -> float:
        """The share of a source's rows that pass the predicates of at least one query."""
        rejected = 1.0
        for part, queries in self.parts.items():
            share = selectivity(conjunction(part.filters[number]), arriving.values)
            rejected *= (1 - share) ** queries
        return 1 - rejected

    def _joining(self, first: int, sources: Sequence[Estimate], prices: Prices) -> float:
        """The cost of the probes of a source's rows: the SteM with the least fan-out is next."""
        each_pair = prices.compare_s + prices.make_s
        load, found = sources[first].rate + sources[first].retracted, 0.0
        reached, waiting = {first}, set(range(len(sources))) - {first}
        while waiting:
            matches = {n: self._matches(n, reached, sources) for n in waiting}
            next_ = min(matches, key=lambda n: (matches[n] is None, matches[n] or 0.0, n))
            fan_out = matches[next_]
            if fan_out is None:  # no key: a scan of all rows
                fan_out = sources[next_].rows
                found += load * fan_out * prices.compare_s
                fan_out *= self._theta(sources)
                found += load * fan_out * prices.make_s
            else:
                found += load * (prices.probe_s + fan_out * each_pair)
            load *= fan_out
            reached.add(next_)
            waiting.remove(next_)
        if any(part.residual for part in self.parts):
            found += load * prices.pass_s
        return found

    def _matches(self, number: int, reached: set[int], sources: Sequence[Estimate]) -> float | None:
        """Rows of a source that match one joined row; None without a key."""
        keyed, share = False, 1.0
        for edge in spanning(self.signature.edges, [*sorted(reached), number]):
            if number in (edge.left, edge.right):
                keyed = True
                share *= equality_share(
                    values_of(edge.left_key, sources[edge.left].values),
                    values_of(edge.right_key, sources[edge.right].values),
                )
        return sources[number].rows * share if keyed else None

    def _theta(self, sources: Sequence[Estimate]) -> float:
        values = [v for e in sources for v in e.values]
        return selectivity(conjunction(self.signature.theta), values)


@dataclass(frozen=True, eq=False)
class SubscriptionWork(Work):
    """Queries that subscribe to a flow: delivering, and perhaps grouping, their results.

    The work of the flow itself is a :class:`FlowWork`.

    Attributes:
        factor: the measured number of results as a multiple of the expected one.
    """

    factor: float = 1.0

    def handed_out(self, statistics: Statistics) -> float:
        """Results per second that the flow is expected to deliver to all of them."""
        grouping = lowest_grouping(self.plan)
        read = self.plan if grouping is None else grouping.inputs[0]
        return self.count * estimate(read, statistics).rate

    def expected(self, statistics: Statistics, prices: Prices) -> dict[Hashable, float]:
        grouping = lowest_grouping(self.plan)
        if grouping is None:
            return {self: self.factor * self.handed_out(statistics) * prices.hand_out_s}
        node: Cost = cost(self.plan, statistics, prices)
        own = node.own
        while node.plan is not grouping:
            node = node.inputs[0]  # what its rows are matched with is there once for all queries
            own += node.own
        handed_out = node.inputs[0].estimate.rate * prices.hand_out_s
        return {self: self.factor * self.count * (own + handed_out)}

    def state(self, statistics: Statistics) -> StateSize:
        grouping = lowest_grouping(self.plan)
        if grouping is None:
            return StateSize()
        node, own = cost(self.plan, statistics), 0.0
        while True:
            own += bytes_of(node.plan, node.estimate, [below.estimate for below in node.inputs])
            if node.plan is grouping:
                return StateSize(others={self: self.factor * self.count * own})
            node = node.inputs[0]
