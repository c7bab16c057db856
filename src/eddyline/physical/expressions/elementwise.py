"""Functions with a body over the elements of lists or the entries of maps.

The body is computed once for the elements of all rows, over columns that repeat each row's values
once per element; ``column`` of a negative number gives the variables::

    transform(xs, x -> x + n)      xs = [1, 2], n = 5     x = 1, 2    n = 5, 5     [6, 7]
                                   xs = [3],    n = 6         3           6        [9]

An element for which the body fails lets its row fail.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from eddyline.algebra.expressions import Call
from eddyline.algebra.list_parts import list_parts
from eddyline.kernels.lists import first_in_lists
from eddyline.physical.expressions.data import constant_array
from eddyline.physical.expressions.evaluation import Columns, Evaluation
from eddyline.physical.expressions.kernel import argument_constant
from eddyline.physical.expressions.lazy import Node
from eddyline.physical.expressions.list_sets import chosen_elements
from eddyline.physical.expressions.nested import lists_of, maps_of, zipped
from eddyline.runtime.stores.columns import Array


class _Repeated:
    """The columns of the rows to which elements belong, and variables by negative numbers."""

    def __init__(self, outer: Columns, rows: Array, variables: Mapping[int, pa.Array]) -> None:
        self._outer = outer
        self._rows = pa.array(rows)
        self._columns = dict(variables)

    def column(self, index: int) -> pa.Array:
        if index not in self._columns:
            self._columns[index] = self._outer.column(index).take(self._rows)
        return self._columns[index]

    def __len__(self) -> int:
        return len(self._rows)


def element_column(number: int) -> int:
    """The number of the column of a variable."""
    return -1 - number


def _array(node: Node | pa.Scalar, columns: Columns) -> pa.Array:
    return constant_array(node, len(columns)) if isinstance(node, pa.Scalar) else node(columns)


def _computed(
    body: Node | pa.Scalar, outer: Columns, rows: Array, first: int, variables: Sequence[pa.Array]
) -> pa.Array:
    """The values of a body; ``rows``: int64[k], those of its elements."""
    named = {element_column(first + i): values for i, values in enumerate(variables)}
    inner = _Repeated(outer, rows, named)
    if not isinstance(outer, Evaluation):
        return _array(body, inner)
    part = Evaluation(inner)
    values = _array(body, part)
    if part.has_failed:
        failed, reasons = part.failures()
        parents, places = np.unique(rows[failed], return_index=True)
        outer.fail(parents, reasons.take(pa.array(places)))
    return values


def _rows(offsets: Array) -> Array:
    """int64[elements]: the number of the row of each element."""
    return np.repeat(np.arange(offsets.size - 1), np.diff(offsets))


#: Makes the node of a call of the nodes of its arguments.
_Maker = Callable[[Call, list[Node]], Node]


def _over_elements(finish: Callable[[Call, pa.Array, Array, pa.Array], pa.Array]) -> _Maker:
    """A function of a list and a body over its elements, and over their places from 0.

    Args:
        finish: makes the result of the call, the lists, their offsets and the values of the body.
    """

    def make(call: Call, nodes: list[Node]) -> Node:
        first = argument_constant(call, 2)

        def node(columns: Columns) -> pa.Array:
            lists = _array(nodes[0], columns)
            offsets, elements = list_parts(lists)
            rows = _rows(offsets)
            places = pa.array((np.arange(rows.size) - offsets[rows]).astype(np.int32))
            values = _computed(nodes[1], columns, rows, first, (elements, places))
            return finish(call, lists, offsets, values)

        return node

    return make


def _transformed(call: Call, lists: pa.Array, offsets: Array, values: pa.Array) -> pa.Array:
    return lists_of(call.type, offsets, values, lists)


def _filtered(call: Call, lists: pa.Array, offsets: Array, values: pa.Array) -> pa.Array:
    return chosen_elements(call.type, lists, np.asarray(values.fill_null(False)))


def _quantified(*, wanted: bool) -> Callable[[Call, pa.Array, Array, pa.Array], pa.Array]:
    """Of exists: whether the body is TRUE for one; of forall: whether it is FALSE for none."""

    def finish(call: Call, lists: pa.Array, offsets: Array, values: pa.Array) -> pa.Array:
        decides = values.fill_null(not wanted)
        decides = np.asarray(decides if wanted else pc.invert(decides))
        found = first_in_lists(offsets, decides) >= 0
        unknown = first_in_lists(offsets, np.asarray(values.is_null())) >= 0
        known = pc.and_(lists.is_valid(), pa.array(found | ~unknown))
        return pc.if_else(known, pa.array(found == wanted), pa.scalar(None, pa.bool_()))

    return finish


def _make_aggregate(call: Call, nodes: list[Node]) -> Node:
    """All lists at once, element by element: the rows are in the order of the lengths of their
    lists, so those that have further elements come first.
    """
    number = argument_constant(call, 3)

    def node(columns: Columns) -> pa.Array:
        lists, start = _array(nodes[0], columns), _array(nodes[1], columns)
        offsets, elements = list_parts(lists)
        lengths = np.diff(offsets)
        order = np.argsort(-lengths, kind="stable")
        longest = int(lengths.max(initial=0))
        counts = np.searchsorted(-lengths[order], -np.arange(longest), "left")
        value, ended = start.take(pa.array(order)), []
        for place, count in enumerate(counts.tolist()):
            ended.append(value.slice(count))
            rows = order[:count]
            own = elements.take(pa.array(offsets[rows] + place))
            value = _computed(nodes[2], columns, rows, number, (value.slice(0, count), own))
        whole = pa.concat_arrays([value, *reversed(ended)]).take(pa.array(np.argsort(order)))
        return pc.if_else(lists.is_valid(), whole, pa.scalar(None, call.type))

    return node


def _make_with_value(call: Call, nodes: list[Node]) -> Node:
    number = argument_constant(call, 2)

    def node(columns: Columns) -> pa.Array:
        value = _array(nodes[0], columns)
        return _computed(nodes[1], columns, np.arange(len(value)), number, (value,))

    return node


def _make_zip_with(call: Call, nodes: list[Node]) -> Node:
    number = argument_constant(call, 3)

    def node(columns: Columns) -> pa.Array:
        both = [_array(n, columns) for n in nodes[:2]]
        offsets, variables = zipped(both)
        values = _computed(nodes[2], columns, _rows(offsets), number, variables)
        known = pc.and_(both[0].is_valid(), both[1].is_valid())
        lists = lists_of(call.type, offsets, values)
        return pc.if_else(known, lists, pa.scalar(None, call.type))

    return node


def _over_entries(finish: Callable[[Call, pa.Array, pa.Array], pa.Array]) -> _Maker:
    def make(call: Call, nodes: list[Node]) -> Node:
        number = argument_constant(call, 2)

        def node(columns: Columns) -> pa.Array:
            maps = _array(nodes[0], columns)
            offsets, entries = list_parts(maps)
            both = (entries.field(0), entries.field(1))
            return finish(call, maps, _computed(nodes[1], columns, _rows(offsets), number, both))

        return node

    return make


def _filtered_map(call: Call, maps: pa.Array, values: pa.Array) -> pa.Array:
    offsets, entries = list_parts(maps)
    chosen = values.fill_null(False)
    before = np.concatenate([[0], np.cumsum(np.asarray(chosen))])
    kept = entries.filter(chosen)
    return maps_of(call.type, before[offsets], kept.field(0), kept.field(1), maps)


def _other_values(call: Call, maps: pa.Array, values: pa.Array) -> pa.Array:
    offsets, entries = list_parts(maps)
    return maps_of(call.type, offsets, entries.field(0), values, maps)


ELEMENTWISE: Final[dict[str, _Maker]] = {
    "transform": _over_elements(_transformed),
    "filter": _over_elements(_filtered),
    "exists": _over_elements(_quantified(wanted=True)),
    "forall": _over_elements(_quantified(wanted=False)),
    "aggregate": _make_aggregate,
    "with_value": _make_with_value,
    "zip_with": _make_zip_with,
    "map_filter": _over_entries(_filtered_map),
    "transform_values": _over_entries(_other_values),
}
