"""``_kept``: the share that drop boxes kept of rows like a row of FROM.

Of a row of a stream it is the keep rate that was in force at its event time; of a row that is
joined the product, because streams are drawn from apart; of rows of tables 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce

import pyarrow as pa
from sqlglot import exp

from eddyline.algebra import functions
from eddyline.algebra.drawn_columns import drawn_columns
from eddyline.algebra.expressions import Expr
from eddyline.algebra.plan import Plan, StreamScan, Unnest, Windowed
from eddyline.algebra.reads import streams_read
from eddyline.sql.binder.context import Context
from eddyline.sql.binder.from_clause import FromClause
from eddyline.sql.binder.relations import Item
from eddyline.sql.binder.scope import KEPT, Relation
from eddyline.sql.binder.time_columns import time_column


@dataclass(frozen=True)
class Kept:
    """What is known of the drop boxes of a FROM clause; see ``KeptValues``."""

    source: FromClause
    context: Context

    def share(self, node: exp.Expr) -> Expr:
        source, context = self.source, self.context
        relations = {r.name.lower(): r for r in source.scope.relations}
        if isinstance(node, exp.Column) and node.table:
            chosen = source.scope.relation(node, context).name.lower()
            relations = {chosen: relations[chosen]}
        items = [i for i in source.items if i.name.lower() in relations]
        shares = [_share(i, relations[i.name.lower()], source, context, node) for i in items]
        known = [share for share in shares if share is not None]
        if not known:
            return functions.literal(1.0, pa.float64())
        return reduce(lambda a, b: functions.resolve("*", (a, b)), known)

    def part(self, node: exp.Expr) -> Expr:
        items = [i for i in self.source.items if streams_read(i.bound.plan)]
        scan = _scan(items[0].bound.plan) if len(items) == 1 else None
        if scan is None:
            message = "how far off an estimate is, is known of the rows of one stream only"
            raise self.context.error(node, f"{message}: not of joins, sub-queries and views")
        relations = {r.name.lower(): r for r in self.source.scope.relations}
        relation, qualified = relations[items[0].name.lower()], len(self.source.items) > 1
        places = drawn_columns([f.type for f in scan.fields])
        drawn = tuple(relation.column(place, qualified) for place in places)
        part = self.context.catalog.dealt(scan.stream).rule(drawn)
        assert part is not None, "columns have their own types"
        return part


def _share(
    item: Item, relation: Relation, source: FromClause, context: Context, node: exp.Expr
) -> Expr | None:
    """That of an item; None: it is always 1."""
    qualified = len(source.items) > 1
    own = relation.positions(KEPT)
    if own:
        return relation.column(own[0], qualified)
    plan = item.bound.plan
    if not streams_read(plan):
        return None
    scan = _scan(plan)
    if scan is None:
        message = f"{KEPT} is not known of the rows of '{item.name}'"
        raise context.error(
            node, f"{message}: write it in the select list of its sub-query or view"
        )
    place = time_column(scan, context)
    if place is None:
        message = f"{KEPT} needs the event time of '{item.name}' as a column"
        raise context.error(node, f"{message}: TIMESTAMP BY a computed column")
    share = context.catalog.kept(scan.stream).rule((relation.column(place, qualified),))
    assert share is not None, "the time of a stream is a timestamp"
    return share


def _scan(plan: Plan) -> StreamScan | None:
    """The stream whose rows a plan has, perhaps with more columns; None: it has others."""
    while isinstance(plan, (Windowed, Unnest)):
        plan = plan.input
    return plan if isinstance(plan, StreamScan) else None
