"""Statistics of all queries: the cost of each, and its share where operators are shared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from eddyline.engine.execution.subscriptions import FlowSubscription, rows_seen, seconds_unshared
from eddyline.engine.query import Query
from eddyline.runtime.footprint import nbytes_of
from eddyline.runtime.graph import in_order
from eddyline.runtime.operators.base import Operator
from eddyline.runtime.operators.stateless import Scan
from eddyline.runtime.stores.stem import Stem


def stats_of(queries: Iterable[Query]) -> dict[str, dict[str, Any]]:
    """Per query, since it was added:

    ``rows_seen`` of its streams and ``rows_out``; ``seconds`` of computing and ``state_bytes``, its
    shares where operators or SteMs are shared; ``checks``, its share of the tests of rows in
    grouped filters, and ``checks_alone``, the number of tests without sharing; ``shared_with``, the
    number of other queries that share operators with it; ``executor`` and ``why``; and
    ``reordered``, how many times the order of its joins has changed while it ran.
    """
    running = list(queries)
    trees = {q.name: in_order([q.operator]) for q in running}
    readers = Counter(o for operators in trees.values() for o in operators)
    stems = Counter(s for operators in trees.values() for s in set(_stems(operators)))
    stem_bytes = {stem: nbytes_of(stem) for stem in stems}
    own_bytes = {o: nbytes_of(o, [*o.inputs, *(o.readers or ()), *stem_bytes]) for o in readers}
    stats = {}
    for query in running:
        operators = trees[query.name]
        state = sum(own_bytes[o] / readers[o] for o in operators)
        state += sum(stem_bytes[s] / stems[s] for s in set(_stems(operators)))
        seconds = float(query.counted.seconds[0])
        stats[query.name] = {
            **query.counters(),
            "rows_seen": rows_seen(query.operator) - query.seen_before,
            "seconds": seconds + seconds_unshared(query.running, readers),
            "state_bytes": round(state),
            **_checks(query),
            "shared_with": max((readers[o] for o in operators if o.inputs), default=1) - 1,
            "executor": "tree" if query.flow is None else "eddy",
            "why": query.why,
            "reordered": query.reordered,
        }
    return stats


def _stems(operators: Iterable[Operator]) -> list[Stem]:
    return [o.stem for o in operators if isinstance(o, Scan)]


def _checks(query: Query) -> dict[str, int]:
    subscription = query.running
    if not isinstance(subscription, FlowSubscription):
        return {}
    alone = (rows_seen(query.operator) - query.seen_before) * subscription.predicates
    return {"checks": round(float(query.counted.checks[0])), "checks_alone": alone}
