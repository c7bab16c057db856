"""Tuples and queries of the CACQ experiments.

A tuple has a sequence number and five integer fields, each uniform in [0, 100). The constants of
the fixed workloads are ours where the paper's tables are silent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
import pyarrow as pa

from eddyline.algebra.value_sets import ValueSet, above, at_least, at_most, below
from eddyline.runtime.batch import Batch
from eddyline.runtime.eddy.policies import Policy
from eddyline.runtime.predicates.filter_bank import Attribute, FilterBank
from eddyline.runtime.stores.columns import Array
from eddyline.types import FOREVER

FIELDS: Final = "abcde"
DOMAIN: Final = 100

#: What a query accepts of each field that it has a predicate on.
Where = Mapping[str, ValueSet]


def _attribute(number: int, field: str) -> Attribute:
    return Attribute(field, field, pa.int64(), lambda batch: batch.column(number), plain=True)


ATTRIBUTES: Final = {field: _attribute(number, field) for number, field in enumerate(FIELDS)}


def nested(bounds: Sequence[int]) -> list[Where]:
    """Queries of which the k-th has ``a > bounds[0] AND b > bounds[1] AND ...``, on k fields."""
    steps = [(field, above(bound)) for field, bound in zip(FIELDS, bounds, strict=True)]
    return [dict(steps[: k + 1]) for k in range(len(steps))]


#: The workload by which routing policies are compared: 10 % of the tuples pass a, 30 % pass b, ...
ROUTING: Final = nested([89, 69, 49, 29, 9])

#: The workloads over which the policies have to adapt.
ADAPTIVITY: Final[Mapping[str, Sequence[Where]]] = {
    "independent queries": [
        {field: above(bound)} for field, bound in zip(FIELDS, (9, 29, 49, 69, 89), strict=True)
    ],
    "shared filters, equally selective": nested([49] * 5),
    "shared filters, differently selective": nested([49, 54, 59, 64, 69]),
}


def random_queries(count: int, rng: np.random.Generator) -> list[Where]:
    """Queries with a predicate on each field by a chance of one half, but on one field at least."""
    return [_some(rng) or {_field(rng): _predicate(rng)} for _ in range(count)]


def single_predicates(count: int, rng: np.random.Generator) -> list[Where]:
    """Queries with one predicate on a random field."""
    return [{_field(rng): _predicate(rng)} for _ in range(count)]


def _some(rng: np.random.Generator) -> Where:
    return {field: _predicate(rng) for field in FIELDS if rng.random() < 0.5}


def _field(rng: np.random.Generator) -> str:
    return FIELDS[rng.integers(len(FIELDS))]


def _predicate(rng: np.random.Generator) -> ValueSet:
    """An inequality with a random constant."""
    compare = (above, at_least, below, at_most)[rng.integers(4)]
    return compare(int(rng.integers(DOMAIN)))


def as_sql(where: Where) -> str:
    """What a query accepts as a condition; each set is one interval with one bound."""
    return " AND ".join(_comparison(field, accepts) for field, accepts in where.items())


def _comparison(field: str, accepts: ValueSet) -> str:
    (interval,) = accepts.intervals
    if interval.high is None:
        return f"{field} {'>=' if interval.low_closed else '>'} {interval.low}"
    assert interval.low is None, f"{interval} has two bounds"
    return f"{field} {'<=' if interval.high_closed else '<'} {interval.high}"


def tuples(rows: int, rng: np.random.Generator) -> Batch:
    """A batch of random tuples."""
    number = np.arange(rows)
    fields = tuple(pa.array(rng.integers(0, DOMAIN, rows)) for _ in FIELDS)
    forever = np.full(rows, FOREVER, np.int64)
    return Batch(number, 2 * number + 1, forever, np.ones(rows, np.int8), (), (), fields)


def bank_of(queries: Sequence[Where], policy: Policy) -> FilterBank:
    """A filter bank in which the k-th query has bit k."""
    bank = FilterBank(policy)
    for bit, where in enumerate(queries):
        add(bank, bit, where)
    return bank


def add(bank: FilterBank, bit: int, where: Where) -> None:
    """Add a query to a bank."""
    bank.add(bit, [[(ATTRIBUTES[field], accepts)] for field, accepts in where.items()])


def wanted_by(bits: int, words: int = 1) -> Array:
    """uint64[W] in which the first ``bits`` bits are set; W is at least ``words``."""
    mask = np.zeros(max(-(-bits // 64), words), np.uint64)
    for bit in range(bits):
        mask[bit >> 6] |= np.uint64(1 << (bit & 63))
    return mask
