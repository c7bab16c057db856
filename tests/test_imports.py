"""No two modules import each other, not even for type checking, nor in a larger circle."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import eddyline

_PACKAGE = Path(eddyline.__file__).parent


def modules() -> dict[str, Path]:
    files = _PACKAGE.rglob("*.py")
    names = {
        f: ".".join(("eddyline", *f.relative_to(_PACKAGE).with_suffix("").parts)) for f in files
    }
    return {name.removesuffix(".__init__"): f for f, name in names.items()}


def imported(file: Path, known: dict[str, Path]) -> Iterator[str]:
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield inner if inner in known else node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def test_there_are_no_circles() -> None:
    known = modules()
    assert len(known) > 300
    graph = {
        name: {other for other in imported(file, known) if other in known and other != name}
        for name, file in known.items()
    }
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(reversed(error.args[1])))


def test_commands_and_measurements_do_not_import_each_other_at_the_start() -> None:
    known = modules()
    for name, file in known.items():
        if name.startswith("eddyline.bench"):
            assert not any(m.startswith("eddyline.cli") for m in imported(file, known)), name
