"""``_kept``: the share that drop boxes kept of rows like a row of FROM.

Of a row of a stream it is the keep rate that was in force at its event time; of a row that is
joined the product, because streams are drawn from apart; of rows of tables 1.
"""

from __future__ import annotations

from functools import reduce

import pyarrow as pa
from sqlglot import exp

from eddyline.algebra import functions
from eddyline.algebra.expressions import Expr
from eddyline.algebra.plan import StreamScan, Unnest, Windowed
from eddyline.algebra.reads import streams_read
from eddyline.sql.binder.context import Context
from eddyline.sql.binder.from_clause import FromClause
from eddyline.sql.binder.relations import Item
from eddyline.sql.binder.scope import KEPT, Relation
from eddyline.sql.binder.time_columns import time_column


def kept_share(source: FromClause, context: Context, node: exp.Column) -> Expr:
    """``_kept`` of a FROM clause, or of one of its items if it is qualified.

    Raises:
        SqlError: it is not known of an item.
    """
    relations = {r.name.lower(): r for r in source.scope.relations}
    if node.table:
        chosen = source.scope.relation(node, context).name.lower()
        relations = {chosen: relations[chosen]}
    items = [i for i in source.items if i.name.lower() in relations]
    shares = [_share(i, relations[i.name.lower()], source, context, node) for i in items]
    known = [share for share in shares if share is not None]
    if not known:
        return functions.literal(1.0, pa.float64())
    return reduce(lambda a, b: functions.resolve("*", (a, b)), known)


def _share(
    item: Item, relation: Relation, source: FromClause, context: Context, node: exp.Column
) -> Expr | None:
    """That of an item; None: it is always 1."""
    qualified = len(source.items) > 1
    own = relation.positions(KEPT)
    if own:
        return relation.column(own[0], qualified)
    plan = item.bound.plan
    if not streams_read(plan):
        return None
    scan = plan
    while isinstance(scan, (Windowed, Unnest)):
        scan = scan.input
    if not isinstance(scan, StreamScan):
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
