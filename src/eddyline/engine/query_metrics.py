"""Accounts: what each standing query has cost, and what it has been spared by sharing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from eddyline.engine.query import Query
from eddyline.runtime.footprint import nbytes_of
from eddyline.runtime.graph import in_order
from eddyline.runtime.operators.base import Operator
from eddyline.runtime.operators.scan import Scan
from eddyline.runtime.stores.stem import Stem


def accounts_of(queries: Iterable[Query]) -> dict[str, dict[str, Any]]:
    """Per query, since it was added:

    ``rows_seen`` of its streams and ``rows_out``; ``seconds`` of computing and ``state_bytes``, its
    shares where operators or SteMs are shared; ``checks``, its share of the looks at rows in
    grouped filters, and ``checks_alone``, how many it would take without the others;
    ``shared_with``, how many other queries it shares operators with; ``executor`` and ``why``; and
    ``reordered``, how many times its joins have got another order while it ran.
    """
    standing = list(queries)
    trees = {q.name: in_order([q.operator]) for q in standing}
    readers = Counter(o for operators in trees.values() for o in operators)
    stems = Counter(s for operators in trees.values() for s in set(_stems(operators)))
    stem_bytes = {stem: nbytes_of(stem) for stem in stems}
    own_bytes = {o: nbytes_of(o, [*o.inputs, *stem_bytes]) for o in readers}
    accounts = {}
    for query in standing:
        operators = trees[query.name]
        state = sum(own_bytes[o] / readers[o] for o in operators)
        state += sum(stem_bytes[s] / stems[s] for s in set(_stems(operators)))
        accounts[query.name] = {
            **query.counters(),
            "rows_seen": rows_seen(operators) - query.seen_before,
            "seconds": query.seconds_before + _seconds(query, operators, readers),
            "state_bytes": round(state),
            **_checks(query, operators),
            "shared_with": max((readers[o] for o in operators if o.inputs), default=1) - 1,
            "executor": "tree" if query.seat is None else "eddy",
            "why": query.why,
            "reordered": query.reordered,
        }
    return accounts


@dataclass(frozen=True, slots=True)
class Account:
    """What a query has cost so far, when it begins to run in another way."""

    rows_seen: int
    seconds: float

    def go_on(self, query: Query) -> None:
        """Its new operators have just been made."""
        query.seen_before -= self.rows_seen
        query.seconds_before = self.seconds


def brought_along(query: Query) -> Account:
    """The account of a query that is alone with its operators."""
    operators = in_order([query.operator])
    seconds = query.seconds_before + _seconds(query, operators, Counter(operators))
    return Account(rows_seen(operators) - query.seen_before, seconds)


def rows_seen(operators: Iterable[Operator]) -> int:
    """How many rows the scans among the operators have read."""
    return sum(o.rows_out for o in operators if isinstance(o, Scan))


def _stems(operators: Iterable[Operator]) -> list[Stem]:
    return [o.stem for o in operators if isinstance(o, Scan)]


def _seconds(query: Query, operators: list[Operator], readers: Counter[Operator]) -> float:
    if query.seat is None:
        return sum(o.seconds / readers[o] for o in operators)
    others = (o for o in operators if o is not query.seat.shared.flow)
    return query.seat.seconds + sum(o.seconds / readers[o] for o in others)


def _checks(query: Query, operators: list[Operator]) -> dict[str, int]:
    if query.seat is None:
        return {}
    alone = (rows_seen(operators) - query.seen_before) * query.seat.predicates
    return {"checks": round(query.seat.checks), "checks_alone": alone}
