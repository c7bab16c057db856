"""That kernels find what they call when they are compiled, and are compiled soon."""

from __future__ import annotations

import ast
import inspect
import pkgutil
from importlib import import_module
from pathlib import Path
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


def test_no_array_is_assigned_to_a_slice() -> None:
    """See ``kernels/copies.py``; a number may be."""
    (package,) = map(Path, kernels.__path__)
    for file in package.glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if not isinstance(node, ast.Assign):
                continue
            is_number = isinstance(node.value, ast.Constant | ast.UnaryOp)
            slices = [
                target
                for target in node.targets
                if isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Slice)
            ]
            assert is_number or not slices, f"{file.name}, line {node.lineno}"


def test_no_array_is_assigned_to_a_row() -> None:
    """The same; of arrays that a kernel makes with two dimensions."""
    (package,) = map(Path, kernels.__path__)
    for file in package.glob("*.py"):
        for function in ast.walk(ast.parse(file.read_text())):
            if not isinstance(function, ast.FunctionDef):
                continue
            assignments = [node for node in ast.walk(function) if isinstance(node, ast.Assign)]
            tables = {
                target.id
                for node in assignments
                for target in node.targets
                if isinstance(target, ast.Name) and _is_table(node.value)
            }
            rows = [
                f"{file.name}, line {node.lineno}"
                for node in assignments
                for target in node.targets
                if isinstance(target, ast.Subscript)
                and isinstance(target.value, ast.Name)
                and target.value.id in tables
                and not isinstance(target.slice, ast.Tuple)
                and not isinstance(node.value, ast.Constant)
            ]
            assert not rows


def _is_table(value: ast.expr) -> bool:
    """Whether it makes an array with two dimensions or more."""
    return (
        isinstance(value, ast.Call)
        and isinstance(value.func, ast.Attribute)
        and value.func.attr in {"empty", "zeros", "ones", "full"}
        and isinstance(value.args[0], ast.Tuple)
    )
