"""Other spellings of a SELECT, written as those that the binder knows.

``a LEFT SEMI JOIN b ON c`` is ``WHERE EXISTS (SELECT 1 FROM b WHERE c)``, and ``SELECT explode(xs)
AS x FROM s`` is ``SELECT x FROM s LATERAL VIEW explode(xs) t AS x``; posexplode also numbers them.
"""

from __future__ import annotations

from typing import Final

from sqlglot import exp

from eddyline.errors import UnsupportedError
from eddyline.sql.nodes import own_nodes
from eddyline.sql.source import SourceText
from eddyline.sql.unnest_syntax import Unnesting

_HALF: Final = ("SEMI", "ANTI")
_NUMBERING: Final = ("posexplode", "posexplode_outer")
_EXPLODING: Final = ("explode", "explode_outer", "unnest", *_NUMBERING)
#: The FROM item of exploded elements, their column and that of their numbers without a name.
_ELEMENTS, _COLUMN, _NUMBER = "__elements", "col", "pos"


#: The argument of an IN that is a comparison with ANY or ALL: its sign and this word.
COMPARED: Final = "compared"
_COMPARED: Final[dict[type[exp.Expr], str]] = {
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.GT: ">",
    exp.GTE: ">=",
    exp.LT: "<",
    exp.LTE: "<=",
}


def rewritten(select: exp.Select, source: SourceText) -> None:
    """Rewrite a SELECT in place.

    Raises:
        SqlError: a SEMI or ANTI JOIN has no ON, or several lists are exploded; with a position.
    """
    for node in own_nodes(select):
        if isinstance(node, tuple(_COMPARED)):
            _of_rows(node)
        if isinstance(node, exp.EQ):
            _of_any(node)
    _without_half_joins(select, source)
    _without_exploding(select, source)


def _of_rows(node: exp.Expr) -> None:
    """``x = ANY (SELECT ...)`` as IN, ``x <> ALL (SELECT ...)`` as NOT IN; ``x > ANY (SELECT ...)``
    and the like as IN with another comparison.
    """
    of = node.expression
    query = of.this if isinstance(of, (exp.Any, exp.All)) else None
    if not isinstance(query, exp.Query):
        return
    query = query if isinstance(query, exp.Subquery) else exp.Subquery(this=query)
    found: exp.Expr = exp.In(this=node.this, query=query)
    found.meta.update(node.meta or of.meta)
    is_all = isinstance(of, exp.All)
    if isinstance(node, exp.NEQ) and is_all:
        found = exp.Not(this=found)
    elif is_all or not isinstance(node, exp.EQ):
        found.set(COMPARED, f"{_COMPARED[type(node)]} {'ALL' if is_all else 'ANY'}")
    node.replace(found)


def _of_any(node: exp.EQ) -> None:
    """``x = ANY(list)`` as ``array_contains(list, x)``."""
    called = node.expression
    is_any = isinstance(called, exp.Anonymous) and called.name.lower() in ("any", "some")
    if is_any and len(called.expressions) == 1:
        contains = exp.Anonymous(
            this="array_contains", expressions=[called.expressions[0], node.this]
        )
        contains.meta.update(called.meta)
        node.replace(contains)


def _without_half_joins(select: exp.Select, source: SourceText) -> None:
    joins = select.args.get("joins") or []
    half = [j for j in joins if str(j.args.get("kind") or "").upper() in _HALF]
    for join in half:
        on = join.args.get("on")
        kind = str(join.args["kind"]).upper()
        if on is None or join.args.get("using"):
            message = f"{kind} JOIN takes ON, with the columns of both sides"
            raise source.error(join, message)
        later = joins[joins.index(join) + 1 :]
        if any(str(j.args.get("side") or "").upper() in ("RIGHT", "FULL") for j in later):
            message = f"{kind} JOIN before a RIGHT or FULL JOIN is not supported: write it in a "
            raise source.error(join, f"{message}sub-query in FROM", UnsupportedError)
        found = exp.Select(
            expressions=[exp.Literal.number(1)],
            from_=exp.From(this=join.this),
            where=exp.Where(this=on),
        )
        condition: exp.Expr = exp.Exists(this=found)
        for node in (found, condition):
            node.meta.update(join.this.meta)
        condition = exp.Not(this=condition) if kind == "ANTI" else condition
        where = select.args.get("where")
        if where is not None:
            condition = exp.And(this=where.this, expression=condition)
        select.set("where", exp.Where(this=condition))
    if half:
        select.set("joins", [j for j in joins if j not in half] or None)


def _without_exploding(select: exp.Select, source: SourceText) -> None:
    calls = [(i, _call(e)) for i, e in enumerate(select.expressions)]
    found = [(i, c) for i, c in calls if c is not None]
    if not found:
        return
    if len(found) > 1:
        message = "a SELECT explodes one list: write LATERAL VIEW explode(list) t AS x for each"
        raise source.error(found[1][1], message, UnsupportedError)
    ((place, call),) = found
    numbered, alias = call.name.lower() in _NUMBERING, select.expressions[place].alias
    if numbered and alias:
        message = "posexplode makes the columns pos and col: leave AS out, or write FROM s, UNNEST("
        raise source.error(call, f"{message}list) WITH ORDINALITY AS t (x, n)")
    names = [_NUMBER, _COLUMN] if numbered else [alias or _COLUMN]
    elements = Unnesting(
        this=call.expressions[0],
        function="EXPLODE_OUTER" if call.name.lower().endswith("outer") else "EXPLODE",
        numbered=numbered,
        alias=exp.TableAlias(
            this=exp.to_identifier(_ELEMENTS), columns=[exp.to_identifier(n) for n in names[::-1]]
        ),
    )
    elements.meta.update(call.meta)
    projections = list(select.expressions)
    projections[place : place + 1] = [_of_elements(n, call) for n in names]
    if numbered:  # WITH ORDINALITY counts from 1
        number = projections[place]
        less = exp.Sub(this=number.this, expression=exp.Literal.number(1))
        to = exp.DataType.build("int")
        projections[place] = exp.alias_(exp.Cast(this=less, to=to), names[0])
    select.set("expressions", projections)
    select.set("laterals", [*(select.args.get("laterals") or []), elements])


def _of_elements(name: str, call: exp.Anonymous) -> exp.Expr:
    """A column of the exploded elements."""
    shown = exp.column(name, table=_ELEMENTS)
    shown.meta.update(call.meta)
    return exp.alias_(shown, name)


def _call(projection: exp.Expr) -> exp.Anonymous | None:
    """The call that explodes a list in an entry of the select list."""
    node = projection.unalias()
    if not isinstance(node, exp.Anonymous) or node.name.lower() not in _EXPLODING:
        return None
    return node if len(node.expressions) == 1 else None
