"""Routing policies: in which order rows go through the operators that they need.

Source: Madden et al., "Continuously adaptive continuous queries over streams", SIGMOD 2002,
section 3.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, Literal, get_args

from eddyline.errors import did_you_mean
from eddyline.runtime.eddy.policies.back_pressure import BackPressurePolicy
from eddyline.runtime.eddy.policies.base import Piece, Policy, Routable
from eddyline.runtime.eddy.policies.fixed import FixedPolicy
from eddyline.runtime.eddy.policies.random_order import RandomPolicy
from eddyline.runtime.eddy.policies.ticket import TicketPolicy

__all__ = [
    "POLICIES",
    "BackPressurePolicy",
    "FixedPolicy",
    "Piece",
    "Policy",
    "PolicyName",
    "RandomPolicy",
    "Routable",
    "TicketPolicy",
    "make_policy",
]

PolicyName = Literal["ticket", "back-pressure", "random", "fixed"]
POLICIES: Final[tuple[str, ...]] = get_args(PolicyName)

_MAKERS: Final[Mapping[str, Callable[[int], Policy]]] = {
    "ticket": TicketPolicy,
    "back-pressure": lambda _: BackPressurePolicy(),
    "random": RandomPolicy,
    "fixed": lambda _: FixedPolicy(),
}


def make_policy(name: str, seed: int) -> Policy:
    """A policy for one place where rows are routed.

    Args:
        name: one of :data:`POLICIES`.
        seed: of what the policy leaves to chance; the same seed and the same observations give the
            same routes.

    Raises:
        ValueError: there is no such policy.
    """
    if name not in _MAKERS:
        raise ValueError(f"policy {name!r}; {did_you_mean(name, POLICIES)}")
    return _MAKERS[name](seed)
