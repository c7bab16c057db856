"""Aggregates of GROUP BY over windows: rows enter and leave, the group's value follows.

One class per kind of state, all with the same interface; the arithmetic is in
``eddyline.kernels`` (``aggregates``, ``moments`` and ``heaps``). Values travel as *lanes*: plain
arrays that wait in an expiry store until their row leaves. Every module of this package registers
what it computes (``base.computes``).
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from eddyline.kernels.aggregates import SignedRows
from eddyline.runtime.aggregates.base import FACTORIES, Aggregate, Reported, Wanted
from eddyline.runtime.aggregates.counts import Count
from eddyline.runtime.aggregates.distinct import OfDistinct

__all__ = ["FACTORIES", "Aggregate", "Count", "Reported", "SignedRows", "Wanted", "make_aggregate"]

for _module in iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")

#: Functions that know distinct values themselves.
_DISTINCT = ("count", "sorted_list")


def make_aggregate(function: str, wanted: Wanted) -> Aggregate:
    """The state of an aggregate function of the algebra over values of a type."""
    made = FACTORIES[function](wanted)
    if wanted.distinct and function not in _DISTINCT and wanted.argument is not None:
        return OfDistinct(made, wanted.argument)
    return made
