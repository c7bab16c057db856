"""Saved engines: a zip file of arrays and text, without pickled objects.

``program.json`` holds the statements in order and the options; ``tables/NAME.arrow`` rows: of
static tables, and changes that were not read yet; ``state/PATH.npy`` the arrays of the state.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa

from eddyline.errors import StateError
from eddyline.runtime.state import State, flatten, unflatten

_VERSION = 7


def write_saved(
    target: str | Path | BinaryIO,
    program: Sequence[str],
    tables: Mapping[str, pa.Table],
    header: Mapping[str, Any],
    state: State,
) -> None:
    """Write one saved engine to a path or a binary file."""
    content = {"version": _VERSION, "program": list(program), **header}
    with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as file:
        file.writestr("program.json", json.dumps(content))
        for name, table in tables.items():
            sink = pa.BufferOutputStream()
            with pa.ipc.new_stream(sink, table.schema) as writer:
                writer.write_table(table)
            file.writestr(f"tables/{name}.arrow", sink.getvalue().to_pybytes())
        for path, values in flatten(state):
            raw = io.BytesIO()
            np.save(raw, np.ascontiguousarray(values), allow_pickle=False)
            file.writestr(f"state/{path}.npy", raw.getbuffer())


def read_saved(
    source: str | Path | BinaryIO,
) -> tuple[list[str], dict[str, pa.Table], dict[str, Any], State]:
    """Program, tables, header and state of a saved engine.

    Raises:
        StateError: the file is missing, damaged, or of another version.
    """
    try:
        with zipfile.ZipFile(source) as file:
            header = json.loads(file.read("program.json"))
            names = file.namelist()
            tables = {
                n.removeprefix("tables/").removesuffix(".arrow"): pa.ipc.open_stream(
                    file.read(n)
                ).read_all()
                for n in names
                if n.startswith("tables/")
            }
            arrays = {
                n.removeprefix("state/").removesuffix(".npy"): np.load(
                    io.BytesIO(file.read(n)), allow_pickle=False
                )
                for n in names
                if n.startswith("state/")
            }
    except (OSError, KeyError, ValueError, zipfile.BadZipFile) as error:
        raise StateError(f"not a saved engine: {source}: {error}") from None
    version = header.get("version") if isinstance(header, dict) else None
    if version != _VERSION:
        raise StateError(f"saved in format {version}, this version reads {_VERSION}: {source}")
    return header["program"], tables, header, unflatten(arrays)
