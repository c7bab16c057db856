"""Kernels, and what makes them for calls.

A kernel takes one datum per argument of its call, at least one of them an array, and returns an
array. A maker builds the kernel for a call from its types and constant arguments.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from eddyline.algebra.expressions import Call, Literal

Kernel = Callable[..., Any]
Maker = Callable[[Call], Kernel]


def always(kernel: Kernel) -> Maker:
    """The maker of a kernel that does not depend on types or constants."""
    return lambda call: kernel


def argument_constant(call: Call, index: int) -> Any:
    """The value of an argument that is a constant."""
    argument = call.args[index]
    assert isinstance(argument, Literal), f"argument {index} of {call} is not a constant"
    return argument.value
