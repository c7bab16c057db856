"""That kernels find what they call when they are compiled."""

from __future__ import annotations

import inspect
import pkgutil
from importlib import import_module
from types import ModuleType

from eddyline import kernels
from eddyline.kernels.deferred import KERNELS


def test_kernels_call_each_other_by_their_own_names() -> None:
    """What a name of a module stands for is not replaced before a kernel is compiled."""
    for module in pkgutil.iter_modules(kernels.__path__, "eddyline.kernels."):
        import_module(module.name)
    assert len(KERNELS) > 200
    for kernel in KERNELS:
        function = inspect.unwrap(kernel)
        modules = {
            name
            for name in function.__code__.co_names
            if isinstance(function.__globals__.get(name), ModuleType)
        }
        assert modules <= {"np", "math"}, f"{function.__module__}.{function.__name__}"
