"""Engines with options of both kinds, by name."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, Final

from eddyline.engine.engine import Engine
from eddyline.engine.options import EngineOptions, StrategyOptions

#: Names of all options.
OPTION_NAMES: Final = frozenset(
    f.name for kind in (EngineOptions, StrategyOptions) for f in fields(kind)
)
_STRATEGY: Final = frozenset(f.name for f in fields(StrategyOptions))


def engine_with(**options: Any) -> Engine:
    """An engine with these fields of :class:`EngineOptions` and :class:`StrategyOptions`.

    Its costs are modelled, unless they are given, so it decides the same in each run.

    >>> engine_with(chunk_rows=7, executor="tree").strategy.executor
    'tree'
    """
    strategy = {name: options.pop(name) for name in _STRATEGY & options.keys()}
    return Engine(EngineOptions(**{"costs": "modelled", **options}), StrategyOptions(**strategy))
