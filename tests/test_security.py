"""What is read from files cannot run code, and names cannot become statements or other paths.

Permissions of checkpoints: ``tests/spark/test_private_checkpoints.py``. Who may ask over HTTP:
``tests/spark/operation/test_http_server.py``. Passwords: ``tests/spark/sinks/postgres``.
"""

from __future__ import annotations

import ast
import io
import os
import zipfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import eddyline
from eddyline import Engine, StateError
from eddyline.sql.naming import quoted, quoted_text
from eddyline.sql.parser import parse
from eddyline.sql.statements import CreateQuery, Drop

SOURCE = Path(eddyline.__file__).parent
#: Calls that run code of what they are given: without a module, and of these modules.
RUN_CODE = {"eval", "exec", "compile", "__import__"}
READ_CODE = {"load", "loads", "Unpickler", "unsafe_load", "system", "popen"}
MODULES = {"pickle", "cloudpickle", "marshal", "shelve", "dill", "yaml", "os"}
#: Where code runs that a script defines, and whose.
EXECUTED = {"engine/created_functions.py": "CREATE FUNCTION of the operator's script"}
#: Where objects are unpickled that this job, or its user, has pickled, and what they are.
UNPICKLED = {
    "spark/layouts/added_layouts.py": "a local property that the driver sets",
    "spark/layouts/shard_program.py": "a broadcast of the driver",
    "spark/exchange/broadcasts.py": "the reference to a broadcast, in the closure of a task",
    "spark/workers/processor.py": "the closure of a task",
    "spark/workers/worker_sockets.py": "from a worker of the same executor and user",
}


def modules() -> Iterator[tuple[str, ast.Module]]:
    """The modules that are installed, by path."""
    for path in sorted(SOURCE.rglob("*.py")):
        name = path.relative_to(SOURCE).as_posix()
        if not name.startswith(("bench/", "testing/")):
            yield name, ast.parse(path.read_text(encoding="utf-8"))


def calls(module: ast.Module) -> Iterator[tuple[str, ast.Call]]:
    for node in ast.walk(module):
        if isinstance(node, ast.Call):
            yield ast.unparse(node.func), node


def test_nothing_that_is_stored_is_unpickled_or_evaluated() -> None:
    found: dict[str, list[str]] = {}
    for name, module in modules():
        for called, node in calls(module):
            module_, _, function = called.rpartition(".")
            if called in RUN_CODE or (module_ in MODULES and function in READ_CODE):
                found.setdefault(name, []).append(called)
            for keyword in node.keywords:
                if keyword.arg in ("allow_pickle", "shell"):
                    assert ast.unparse(keyword.value) == "False", f"{name}: {called}"
    assert found.keys() == UNPICKLED.keys() | EXECUTED.keys(), found


class Trap:
    """Makes a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return os.mkdir, (str(self.path),)


def test_objects_in_a_saved_engine_are_refused(tmp_path: Path) -> None:
    engine = Engine()
    engine.sql("CREATE STREAM s (ts TIMESTAMP, k BIGINT) TIMESTAMP BY ts")
    engine.query("SELECT k, COUNT(*) AS n FROM s [RANGE 9 SECONDS] GROUP BY k", name="q")
    engine.process({"s": pa.table({"ts": [1, 2], "k": [1, 2]})})
    saved, changed, arrays = io.BytesIO(), io.BytesIO(), 0
    engine.save(saved)
    with zipfile.ZipFile(saved) as old, zipfile.ZipFile(changed, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            if name.endswith(".npy"):
                raw = io.BytesIO()
                np.save(raw, np.array([Trap(tmp_path / "trap")], object), allow_pickle=True)
                content, arrays = raw.getvalue(), arrays + 1
            new.writestr(name, content)
    changed.seek(0)
    assert arrays > 3
    with pytest.raises(StateError, match="Object arrays cannot be loaded"):
        Engine.load(changed)
    assert not (tmp_path / "trap").exists()


@given(st.text(max_size=40))
def test_a_quoted_name_is_one_name(text: str) -> None:
    """No name ends its quotes: what is behind it stays behind it."""
    statement = f"DROP QUERY {quoted(text)}"
    try:
        parsed = parse(statement)
    except eddyline.SqlError:
        return  # no name
    assert [(type(s), s.name) for s in parsed if isinstance(s, Drop)] == [(Drop, text)]
    assert len(parsed) == 1


@given(st.text(max_size=40))
def test_a_quoted_text_is_one_text(text: str) -> None:
    statement = f"CREATE QUERY q AS SELECT k FROM s [NOW] WITH (path = {quoted_text(text)})"
    try:
        (parsed,) = parse(statement)
    except eddyline.SqlError as e:
        assert "surrogates" in str(e) or "\0" in text, statement
        return
    assert isinstance(parsed, CreateQuery)
    assert parsed.options == {"path": text}


def test_statements_to_databases_have_no_pasted_values() -> None:
    """They are composed by psycopg, which quotes names, or are constants with parameters."""
    seen = 0
    for name, module in modules():
        if "postgres" not in name:
            continue
        for called, node in calls(module):
            if called.rpartition(".")[2] in ("execute", "executemany", "copy", "SQL"):
                for part in ast.walk(node.args[0]):
                    assert not isinstance(part, ast.JoinedStr | ast.BinOp), f"{name}: {called}"
                    if isinstance(part, ast.Call) and ast.unparse(part.func).endswith(".format"):
                        receiver = ast.unparse(part.func).removesuffix(".format")
                        assert not receiver.startswith(("'", '"')), f"{name}: {called}"
                seen += 1
    assert seen > 20


def test_names_in_statements_to_databases_are_quoted() -> None:
    pytest.importorskip("psycopg", reason="the extra 'postgres' is not installed")
    from psycopg.sql import Identifier

    from eddyline.spark.sinks.postgres.postgres_sql import create_table

    columns = pa.schema([('k" INT); DROP TABLE x; --', pa.int64())])
    text = create_table(Identifier("s", 't"; DROP TABLE y; --'), columns, columns.names)
    assert text.as_string(None) == (
        'CREATE TABLE "s"."t""; DROP TABLE y; --" ("k"" INT); DROP TABLE x; --" bigint, '
        'UNIQUE NULLS NOT DISTINCT ("k"" INT); DROP TABLE x; --"))'
    )
