"""Functions of plans that are computed once per node: the parts of a LEFT JOIN share their inputs,
so n of them are 6n nodes, but there are 2^n ways from the top to the bottom.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Final, TypeVar

P = TypeVar("P")
R = TypeVar("R")

_KEPT: Final = "_per_node"


def per_node(function: Callable[[P], R]) -> Callable[[P], R]:
    """The function, which keeps its values in the nodes; they must follow from the node alone."""

    @wraps(function)
    def found(plan: P) -> R:
        kept: dict[Any, Any] = vars(plan).setdefault(_KEPT, {})
        if function not in kept:
            kept[function] = function(plan)
        value: R = kept[function]
        return value

    return found
