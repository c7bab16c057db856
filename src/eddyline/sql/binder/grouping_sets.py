"""GROUPING SETS, ROLLUP and CUBE: several groupings of the same rows.

Each row comes once per set, with the set's number as one more key, beside which the keys that the
set does not have are NULL::

    GROUP BY ROLLUP (a, b)      GroupBy  a if number in (0, 1), b if number in (0), number
                                  Unnest  array(0, 1, 2): number
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import combinations, product
from typing import Final

import pyarrow as pa
from sqlglot import exp

from eddyline.algebra import functions
from eddyline.algebra.expressions import ColumnRef, Expr
from eddyline.algebra.plan import Plan, Unnest
from eddyline.errors import SqlError
from eddyline.sql.binder.context import Context

#: The most sets of one GROUP BY: a row is in as many groups.
MAX_SETS: Final = 64
_NUMBER: Final = "grouping set"
_SEVERAL: Final = (exp.GroupingSets, exp.Cube, exp.Rollup)
#: Keys as written, of one set.
_Set = tuple[exp.Expr, ...]


@dataclass(frozen=True, slots=True)
class GroupingCall(Expr):
    """GROUPING(key) or GROUPING_ID(key, ...) until the sets are known.

    Attributes:
        name: of the function as written. keys: empty: all keys of GROUP BY. node: for errors.
    """

    name: str
    keys: tuple[Expr, ...]
    node: exp.Expr = field(compare=False)

    def __str__(self) -> str:
        return f"{self.name}({', '.join(map(str, self.keys))})"


@dataclass(frozen=True)
class GroupingSets:
    """The sets of a GROUP BY.

    Attributes:
        keys: all keys. sets: positions of the keys that each set has.
    """

    keys: tuple[Expr, ...]
    sets: tuple[frozenset[int], ...]

    def grouped_input(self, plan: Plan) -> tuple[Plan, tuple[Expr, ...]]:
        """The rows once per set, and the keys over them, the last one the number of the set."""
        numbers = functions.resolve("array", self._constants(range(len(self.sets)), pa.int32()))
        number = ColumnRef(pa.int32(), len(plan.schema), _NUMBER)
        keys = tuple(self._key(i, key, number) for i, key in enumerate(self.keys))
        return Unnest(plan, numbers, None, (_NUMBER,)), (*keys, number)

    def _key(self, place: int, key: Expr, number: ColumnRef) -> Expr:
        having = [n for n, positions in enumerate(self.sets) if place in positions]
        if len(having) == len(self.sets):
            return key
        chosen = functions.resolve("in", (number, *self._constants(having, pa.int32())))
        return functions.resolve("case", (chosen, key))

    def bits(self, call: GroupingCall) -> Expr:
        """Which of a call's keys a group does not have, as bits, over GROUP BY's output.

        Raises:
            SqlError: an argument is not a key; without a position.
        """
        is_id = call.name.lower() == "grouping_id"
        if not is_id and len(call.keys) != 1:
            raise SqlError(f"{call.name} takes one key of GROUP BY, not {len(call.keys)}")
        places = {key: i for i, key in enumerate(self.keys)}
        for key in call.keys:
            if key not in places:
                valid = ", ".join(map(str, self.keys))
                raise SqlError(f"{call.name} takes keys of GROUP BY, not {key}; valid: {valid}")
        wanted = [places[k] for k in call.keys or self.keys]
        type_ = pa.int64() if is_id else pa.int8()
        values = [_bits(wanted, positions) for positions in self.sets]
        number = ColumnRef(pa.int32(), len(self.keys), _NUMBER)
        return functions.resolve(
            "get", (functions.resolve("array", self._constants(values, type_)), number)
        )

    @staticmethod
    def _constants(values: Sequence[int] | range, type_: pa.DataType) -> tuple[Expr, ...]:
        return tuple(functions.literal(v, type_) for v in values)


def _bits(wanted: Sequence[int], positions: frozenset[int]) -> int:
    found = 0
    for place in wanted:
        found = 2 * found + (place not in positions)
    return found


def has_sets(group: exp.Group) -> bool:
    """Whether GROUP BY has several sets of keys."""
    if any(group.args.get(clause) for clause in ("grouping_sets", "cube", "rollup")):
        return True
    return any(isinstance(e, _SEVERAL) for e in group.expressions)


def bind_sets(
    group: exp.Group, bind: Callable[[exp.Expr], tuple[Expr, ...]], context: Context
) -> GroupingSets:
    """The sets of a GROUP BY that has some.

    Args:
        bind: makes the keys of a node.
    """
    found: dict[Expr, int] = {}
    sets = []
    for nodes in _sets(group, context):
        positions = set()
        for key in (key for node in nodes for key in bind(node)):
            positions.add(found.setdefault(key, len(found)))
        sets.append(frozenset(positions))
    return GroupingSets(tuple(found), tuple(sets))


def _sets(group: exp.Group, context: Context) -> list[_Set]:
    plain = [e for e in group.expressions if not isinstance(e, _SEVERAL)]
    for clause in ("rollup", "cube"):  # GROUP BY a, b WITH ROLLUP
        for node in group.args.get(clause) or ():
            if not node.expressions:
                return _limited(_of(type(node)(expressions=plain), context), group, context)
    sets = group.args.get("grouping_sets")
    if sets:  # GROUP BY a, b GROUPING SETS (...)
        return _limited([s for node in sets for s in _of(node, context)], group, context)
    parts = [_of(e, context) for e in group.expressions]
    count = 1
    for part in parts:
        count *= len(part)
        _require(count, group, context)
    return [tuple(k for keys in chosen for k in keys) for chosen in product(*parts)]


def _of(node: exp.Expr, context: Context) -> list[_Set]:
    """The sets of an element of GROUP BY."""
    if isinstance(node, exp.GroupingSets):
        return [s for e in node.expressions for s in _of(e, context)]
    if isinstance(node, exp.Rollup):
        parts = [_keys(e) for e in node.expressions]
        return [tuple(k for keys in parts[:n] for k in keys) for n in range(len(parts), -1, -1)]
    if isinstance(node, exp.Cube):
        parts = [_keys(e) for e in node.expressions]
        _require(2 ** len(parts), node, context)
        chosen = (c for n in range(len(parts), -1, -1) for c in combinations(parts, n))
        return [tuple(k for keys in c for k in keys) for c in chosen]
    return [_keys(node)]


def _keys(node: exp.Expr) -> _Set:
    """The keys of an element, which is one or several in parentheses."""
    if isinstance(node, exp.Tuple):
        return tuple(node.expressions)
    return (node.unnest(),)


def _limited(sets: list[_Set], node: exp.Expr, context: Context) -> list[_Set]:
    _require(len(sets), node, context)
    return sets


def _require(count: int, node: exp.Expr, context: Context) -> None:
    if count > MAX_SETS:
        message = f"these are {count} grouping sets, of which each row makes a group; at most"
        raise context.error(node, f"{message} {MAX_SETS}: leave out what is not needed")
