"""Attributes: expressions that predicates compare with constants, and their values in one batch."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import pyarrow as pa

from eddyline.algebra.value_sets import ValueSet
from eddyline.runtime.batch import Batch, Evaluator
from eddyline.runtime.failures import Failure, collecting
from eddyline.runtime.predicates.cells import Keys, keys_of
from eddyline.runtime.stores.columns import Array


@dataclass(frozen=True)
class Attribute:
    """An expression over the columns of one source, which predicates compare with constants.

    Attributes:
        key: equal keys compute the same.
        name: for messages.
        evaluate: computes the values of a batch's rows.
        plain: costs nothing to compute: it is computed for whole batches, others only for the rows
            that some query with a predicate on it requires.
        guards: others are evaluated only for the rows that it leaves.
        column: the number of the column that it is; None: it is computed.
    """

    key: Hashable
    name: str
    type: pa.DataType
    evaluate: Evaluator
    plain: bool
    guards: bool = False
    column: int | None = None


#: A disjunction over different attributes: what it accepts of each.
Clause: TypeAlias = Sequence[tuple[Attribute, ValueSet]]


class AttributeValues:
    """The values of attributes in one batch, computed as they are needed."""

    def __init__(self, batch: Batch) -> None:
        self._batch = batch
        self._whole: dict[Hashable, Keys] = {}

    def keys(self, attribute: Attribute, rows: Array) -> tuple[Keys, Array, list[Failure]]:
        """Where an attribute's values at int64[k] rows are: keys, and int64[k] places in them; and
        the failures of those for which it has none, by place in ``rows``.
        """
        if attribute.plain:
            if attribute.key not in self._whole:
                self._whole[attribute.key] = keys_of(attribute.evaluate(self._batch))
            return self._whole[attribute.key], rows, []
        batch = self._batch if rows.size == len(self._batch) else self._batch.take(rows)
        with collecting() as failures:
            values = attribute.evaluate(batch)
        return keys_of(values), np.arange(rows.size), failures
