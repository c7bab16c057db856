"""Whether the cells along an axis can compute a query each for itself: the proof.

Rows of the inputs have coordinates along an axis; each cell runs the query over the rows of its own
coordinate. That is right if, at every instant, the answer over all rows is the bag sum of the
answers of all coordinates. It is shown from the leaves of the plan to its root, by what holds of
the rows of each node at every instant:

- :class:`Everywhere`: every coordinate has all of them;
- :class:`Once`: each is at exactly one coordinate;
- :class:`Keyed`: likewise, and its coordinate is the hash of an expression over its own columns.

Each node preserves this, given what is written at its function, or :class:`NotLocal` is raised. The
root has to be ``Once`` or ``Keyed``: then each result is made at exactly one coordinate. What is
equal (0.0 and -0.0, NaN and NaN, NULL and NULL) has the same hash.

A query whose groups are computed in parts has :class:`PartialGroupBy` as root. There the answers
are parts, and what has to be shown is that each row of the input is in exactly one part: the groups
of all rows are then the merged parts (``algebra/parts.py``).

Axes are independent of each other: a row is in a cell if it is at the cell's coordinate along each
axis, so the argument for one axis holds within every coordinate of the others.

The argument is about rows and instants, not about operators: each engine may run any plan of the
query. Three things are not rows of the answer. When an engine begins: with the first row of all
that is not late, which only the cell with this row knows if there were late ones before it. So rows
of divided tables alone are no result, they only join rows of streams. What a window by number
contains depends on rows that have no result: each cell gets the timestamps of all rows of a stream
with such a window (``Layout.counted``). And an expression that fails for a row is reported, so it
must not be evaluated at several coordinates for the same row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from eddyline.algebra.expressions import (
    Aggregate,
    ColumnRef,
    Expr,
    columns_of,
    conjuncts,
    shift_columns,
)
from eddyline.algebra.plan import (
    AntiJoin,
    AsofJoin,
    Distinct,
    Filter,
    FinalRows,
    GroupBy,
    Join,
    MatchRecognize,
    Negation,
    Over,
    PartialGroupBy,
    Plan,
    Product,
    Project,
    RunningOver,
    SemiJoin,
    SessionGroups,
    SessionRows,
    StreamScan,
    TableScan,
    Union,
    Unnest,
    Windowed,
)
from eddyline.algebra.windows import PartitionRows
from eddyline.spark.partitioning.equalities import Equalities
from eddyline.spark.partitioning.held_rows import (
    Everywhere,
    Held,
    Keyed,
    NotLocal,
    Once,
    by_keys,
    determined,
    key_text,
    over,
    require_at_one_coordinate,
    require_infallible,
)
from eddyline.spark.partitioning.join_regions import Region, equal_pairs, region
from eddyline.spark.partitioning.layouts import COPIED, ByKey, Coordinate, Spread
from eddyline.spark.partitioning.names import name_of, names_of, why_apart


def require_local(plan: Plan, axis: Mapping[str, Coordinate]) -> None:
    """Check that each result of a plan is made at exactly one coordinate of an axis.

    Args:
        axis: by input of the layout, the coordinate of its rows; other tables are at every
            coordinate.

    Raises:
        NotLocal: this is not shown.
    """
    if isinstance(_with_streams(plan, axis), Everywhere):
        raise NotLocal("every cell would make all results")


def _with_streams(plan: Plan, axis: Mapping[str, Coordinate]) -> Held:
    """What holds of the rows of a node, none of which is made of rows of divided tables alone."""
    held = _held(plan, axis)
    if not isinstance(held, Everywhere) and (table := _table_alone(plan)) is not None:
        raise NotLocal(
            f"rows of {table} without a row of a stream begin with the first one of all streams"
        )
    return held


def _table_alone(plan: Plan) -> str | None:
    """A table, if the rows of a node, or some of them, have no row of a stream; else None."""
    match plan:
        case TableScan():
            return plan.table
        case Filter() | Project() | Product() | Join():
            tables = [_table_alone(p) for p in region(plan).inputs]
            return tables[0] if all(tables) else None
        case Negation() | SemiJoin() | AntiJoin() | AsofJoin():
            return _table_alone(plan.left)
    return next(filter(None, map(_table_alone, plan.inputs)), None)


def _held(node: Plan, axis: Mapping[str, Coordinate]) -> Held:
    match node:
        case StreamScan():
            return _scanned(node, axis[node.stream])
        case TableScan():
            return _placed(axis.get(node.table, COPIED))
        case Filter() | Project() | Product() | Join():
            return _joined(region(node), axis)
        case Negation() | SemiJoin() | AntiJoin():
            return _matched(node, _with_streams(node.left, axis), _held(node.right, axis))
        case AsofJoin():
            return _as_of(node, _with_streams(node.left, axis), _held(node.right, axis))
        case Unnest() | Windowed() | FinalRows():  # rows are where those of the input are
            return _with_streams(node.input, axis)
        case Union():
            return _united([_with_streams(part, axis) for part in node.parts])
        case PartialGroupBy():
            return _in_parts(node, _with_streams(node.input, axis))
        case GroupBy():
            return _grouped(node, _with_streams(node.input, axis))
        case SessionGroups():
            return _in_sessions(node, _with_streams(node.input, axis))
        case MatchRecognize():
            return _matched_rows(node, _with_streams(node.input, axis))
        case Over() | RunningOver() | SessionRows():
            return _partitioned(node, _with_streams(node.input, axis))
        case Distinct():
            held, columns = _with_streams(node.input, axis), _columns(node)
            return by_keys(held, columns, columns, f"DISTINCT of {_list(node)}")
    raise NotLocal(f"{type(node).__name__} is computed of all rows")


def _placed(coordinate: Coordinate) -> Held:
    if isinstance(coordinate, ByKey):
        return Keyed(tuple(frozenset([e]) for e in coordinate.key))
    return Once() if isinstance(coordinate, Spread) else Everywhere()


def _scanned(scan: StreamScan, coordinate: Coordinate) -> Held:
    """A row's lifespan in a window over time is its own. A window of rows ends it by later rows,
    which every cell counts; with PARTITION BY by those with the same values, which must be at the
    same coordinate.
    """
    held, window = _placed(coordinate), scan.window
    if isinstance(window, PartitionRows):
        columns = _columns(scan)
        known: dict[Expr, Expr] = {columns[c]: columns[c] for c in window.columns}
        if not isinstance(held, Keyed) or not determined(held, known):
            raise NotLocal(f"{scan.label} counts rows of equal {', '.join(window.names)}")
    return held


def _joined(found: Region, axis: Mapping[str, Coordinate]) -> Held:
    """A combination of rows is made where all of them are.

    At most one input decides the coordinate if the others are everywhere. Several decide it
    together if their keys are equal in every result, which follows from the equalities.
    """
    held = [_held(plan, axis) for plan in found.inputs]
    copied = frozenset(i for i, h in enumerate(held) if isinstance(h, Everywhere))
    for expr, reads in found.computed:
        if reads and reads <= copied:
            require_infallible(expr)
    once = [i for i, h in enumerate(held) if isinstance(h, Once)]
    keyed = [
        (i, [frozenset(shift_columns(e, found.starts[i]) for e in part) for part in h.key])
        for i, h in enumerate(held)
        if isinstance(h, Keyed)
    ]
    if not once and not keyed:
        return Everywhere()
    if once and len(once) + len(keyed) > 1:
        raise NotLocal(
            f"no equality joins {names_of(found.inputs, [*once, *(i for i, _ in keyed)])}"
        )
    if once:
        return Once()
    own = [(a, b) for _, key in keyed for part in key for a in part for b in part if a != b]
    equal = Equalities([*found.equalities, *own])
    first, *others = keyed
    for i, key in others:
        if not _agree(first[1], key, equal):
            raise NotLocal(why_apart(found, first[0], i, key_text(first[1]), key_text(key)))
    places: dict[Expr, Expr] = {}
    for index, expr in enumerate(found.outputs):
        places.setdefault(expr, ColumnRef(expr.type, index, str(expr)))
    everything = [
        frozenset(same for key in keyed for e in key[1][part] for same in equal.equal_to(e))
        for part in range(len(first[1]))
    ]
    return over(everything, places) or Once()


def _agree(
    first: Sequence[frozenset[Expr]], second: Sequence[frozenset[Expr]], equal: Equalities
) -> bool:
    if len(first) != len(second):
        return False
    return all(
        any(equal.are_equal(x, y) for x in a for y in b) for a, b in zip(first, second, strict=True)
    )


def _matched(node: Negation | SemiJoin | AntiJoin, left: Held, right: Held) -> Held:
    """A left row is kept or not by the right rows that match it; they must be where it is.

    They are if the right rows are everywhere, or if the keys of matching rows are equal. Of equal
    left rows negation keeps some, so they must be together, too.
    """
    width = len(node.left.schema)
    residual = None if isinstance(node, Negation) else node.residual
    for a, b in node.keys:
        require_at_one_coordinate(a, left)
        require_at_one_coordinate(b, right)
    for term in conjuncts(residual):
        on_right = min(columns_of(term), default=0) >= width
        require_at_one_coordinate(term, right if on_right else left)
    if isinstance(right, Everywhere):
        if isinstance(node, Negation) and not isinstance(left, Everywhere):
            known = {a: a for a, _ in node.keys}
            if not isinstance(left, Keyed) or not determined(left, known):
                raise NotLocal(f"EXCEPT ALL counts rows of equal {node.label}")
        return left
    if not isinstance(left, Keyed) or not isinstance(right, Keyed):
        raise NotLocal(f"{_kind(node)} compares with all rows of {name_of(node.right)}")
    pairs = [(a, shift_columns(b, width)) for a, b in node.keys]
    pairs += equal_pairs(conjuncts(residual))
    shifted = [frozenset(shift_columns(e, width) for e in part) for part in right.key]
    if not _agree(left.key, shifted, Equalities(pairs)):
        raise NotLocal(
            f"{_kind(node)} matches rows by other columns than "
            f"{key_text(left.key)} = {key_text(right.key)}"
        )
    return left


def _as_of(node: AsofJoin, left: Held, right: Held) -> Held:
    """All right rows of a key must be where the left rows with this key are."""
    for a, b in node.keys:
        require_at_one_coordinate(a, left)
        require_at_one_coordinate(b, right)
    if isinstance(right, Everywhere):
        return left
    width = len(node.left.schema)
    if isinstance(left, Keyed) and isinstance(right, Keyed):
        pairs = [(a, shift_columns(b, width)) for a, b in node.keys]
        shifted = [frozenset(shift_columns(e, width) for e in part) for part in right.key]
        if _agree(left.key, shifted, Equalities(pairs)):
            return left
    raise NotLocal(f"an ASOF join looks for the latest row of {name_of(node.right)} by its key")


def _united(held: Sequence[Held]) -> Held:
    """Rows are where they were; the key is what is the key of all inputs."""
    if all(isinstance(h, Everywhere) for h in held):
        return Everywhere()
    if any(isinstance(h, Everywhere) for h in held):
        raise NotLocal("UNION ALL would add rows that every cell has to those of one cell")
    keys = [h.key for h in held if isinstance(h, Keyed)]
    if len(keys) < len(held) or len({len(k) for k in keys}) > 1:
        return Once()
    common = tuple(frozenset.intersection(*parts) for parts in zip(*keys, strict=True))
    return Keyed(common) if all(common) else Once()


def _in_parts(node: PartialGroupBy, held: Held) -> Held:
    """The part of a group at a coordinate is of the rows there."""
    _require_computed_once(node, held)
    return held if isinstance(held, Everywhere) else Once()


def _require_computed_once(node: GroupBy, held: Held) -> None:
    arguments = [e for a in node.aggregates for e in (a.argument, a.where) if e is not None]
    for expr in (*node.keys, *arguments):
        require_at_one_coordinate(expr, held)


def _grouped(node: GroupBy, held: Held) -> Held:
    """All rows of a group must be together. The one group without keys has all rows."""
    _require_computed_once(node, held)
    if isinstance(held, Everywhere):
        return held
    if not node.keys:
        raise NotLocal(f"{_aggregates(node.aggregates)} without GROUP BY is over all rows")
    return by_keys(held, node.keys, _columns(node), f"GROUP BY {', '.join(map(str, node.keys))}")


def _in_sessions(node: SessionGroups, held: Held) -> Held:
    """All rows of a session must be together, also those that are not grouped."""
    arguments = [e for a in node.aggregates for e in (a.argument, a.where)]
    for expr in (*node.by, node.where, *arguments):
        if expr is not None:
            require_at_one_coordinate(expr, held)
    if not node.partition and not isinstance(held, Everywhere):
        raise NotLocal("SESSION without PARTITION BY is of all rows")
    what = f"SESSION BY {', '.join(map(str, node.partition))}"
    return by_keys(held, node.partition, _columns(node), what)


def _matched_rows(node: MatchRecognize, held: Held) -> Held:
    """All rows of a partition must be together, and in their order."""
    for expr in filter(None, node.conditions):
        require_at_one_coordinate(expr, held)
    if not node.partition and not isinstance(held, Everywhere):
        raise NotLocal("MATCH_RECOGNIZE without PARTITION BY is over all rows")
    columns = _columns(node)
    own = [columns[c.index] for c in node.partition] if node.all_rows else columns
    what = f"PARTITION BY {', '.join(map(str, node.partition))}"
    return by_keys(held, node.partition, own, what)


def _partitioned(node: Over | RunningOver | SessionRows, held: Held) -> Held:
    """All rows of a partition must be together; they stay where they are."""
    for expr in node.expressions:
        require_at_one_coordinate(expr, held)
    if not node.partition and not isinstance(held, Everywhere):
        raise NotLocal(f"{node.label} without PARTITION BY is over all rows")
    what = f"PARTITION BY {', '.join(map(str, node.partition))}"
    by_keys(held, node.partition, node.partition, what)
    return held


# -- words -------------------------------------------------------------


def _columns(plan: Plan) -> tuple[ColumnRef, ...]:
    return tuple(ColumnRef(f.type, i, f.name) for i, f in enumerate(plan.schema))


def _list(plan: Plan) -> str:
    return ", ".join(f.name for f in plan.schema)


def _kind(node: Negation | SemiJoin | AntiJoin) -> str:
    if isinstance(node, Negation):
        return "EXCEPT ALL"
    return "EXISTS" if isinstance(node, SemiJoin) else "NOT EXISTS (or an outer join)"


def _aggregates(aggregates: Sequence[Aggregate]) -> str:
    return ", ".join(map(str, aggregates)) or "one group"
