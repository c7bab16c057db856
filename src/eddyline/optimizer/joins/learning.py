"""Selectivities, corrected by what joins that run have made of their rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from eddyline.optimizer.joins.flows import Flow, joined, source_flows
from eddyline.optimizer.joins.query import JoinQuery, Mask
from eddyline.optimizer.joins.trees import Tree, mask, subtrees

#: What has matched nothing so far may match something yet.
_LEAST_SHARE = 1e-12


def corrected(query: JoinQuery, fan_outs: Mapping[Tree, float]) -> JoinQuery:
    """The query with selectivities by which joins make as much as they have been seen to make.

    Values that are not spread evenly, or go together in several columns, make estimates wrong by
    any factor; where a join has run, its results are counted. A correction is shared among the
    terms that the join decides, but for those that a join of two sources has decided alone. If such
    a join has decided each of several terms, there is no correction: they are not independent.

    Args:
        fan_outs: results per input row of a join from either side, by its tree.

    >>> from eddyline.optimizer.joins.query import Source, Term
    >>> a, b = Source.last("a", 10, 10), Source.last("b", 10, 10)
    >>> query = JoinQuery((a, b), (Term.edge(0, 1, 0.5),))
    >>> corrected(query, {(0, 1): 1.0}).terms[0].selectivity
    0.1
    """
    known: set[int] = set()
    for tree in sorted(fan_outs, key=lambda t: mask(t).bit_count()):
        decided = _decided(query, tree)
        unknown = [n for n in decided if n not in known]
        expected = _fan_out(query, tree)
        if expected and (unknown or len(decided) == 1):
            query = _scaled(query, unknown or decided, fan_outs[tree] / expected)
        if len(decided) == 1 and mask(tree).bit_count() == 2:
            known.update(decided)
    return query


def _fan_out(query: JoinQuery, tree: Tree) -> float:
    """Results per input row of a join, by the query's selectivities."""
    flows: dict[Tree, Flow[float]] = dict(enumerate(source_flows(query)))
    for part in subtrees(tree):
        if not isinstance(part, int):
            share = query.tie(mask(part[0]), mask(part[1])).share
            flows[part] = joined(flows[part[0]], flows[part[1]], share)
    assert not isinstance(tree, int), "a source is no join"
    load = flows[tree[0]].load + flows[tree[1]].load
    return flows[tree].load / load if load else 0.0


def _decided(query: JoinQuery, tree: Tree) -> list[int]:
    """The numbers of the terms that the join on top of a tree decides."""
    assert not isinstance(tree, int), "a source is no join"
    left, right = map(mask, tree)
    return [n for n, t in enumerate(query.terms) if _decides(left, right, t.sources)]


def _scaled(query: JoinQuery, numbers: Sequence[int], factor: float) -> JoinQuery:
    """The query with a factor on some of its terms together."""
    terms = list(query.terms)
    for number in numbers:
        share = terms[number].selectivity * factor ** (1 / len(numbers))
        terms[number] = replace(terms[number], selectivity=min(1.0, max(_LEAST_SHARE, share)))
    return JoinQuery(query.sources, tuple(terms))


def _decides(left: Mask, right: Mask, read: Mask) -> bool:
    return not read & ~(left | right) and bool(read & left) and bool(read & right)
