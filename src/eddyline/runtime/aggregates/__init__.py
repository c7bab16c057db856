"""Aggregates of GROUP BY over windows: rows enter and leave, the group's value follows.

One class per kind of state, all with the same interface; the arithmetic is in
``eddyline.kernels`` (``aggregates``, ``moments`` and ``heaps``). Values travel as *lanes*: plain
arrays that wait in an expiry store until their row leaves. Every module of this package registers
what it computes (``base.computes``).
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

import pyarrow as pa

from eddyline.kernels.aggregates import SignedRows
from eddyline.runtime.aggregates.base import FACTORIES, Aggregate, Reported
from eddyline.runtime.aggregates.counts import Count

__all__ = ["FACTORIES", "Aggregate", "Count", "Reported", "SignedRows", "make_aggregate"]

for _module in iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")


def make_aggregate(function: str, argument: pa.DataType | None, *, distinct: bool) -> Aggregate:
    """The state of an aggregate function of the algebra over values of a type."""
    return FACTORIES[function](argument, distinct)
