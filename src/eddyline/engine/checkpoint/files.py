"""Saved engines: a zip file of arrays, rows and text, without pickled objects.

``program.json`` holds the statements in order, the options, and which segments have the rows of
each store; ``tables/NAME.arrow`` rows: of static tables, and changes that were not read yet;
``state/PATH.npy`` the arrays of the state. The segments (``segments.py``) are in the file as
``rows/NAME.arrow``, or elsewhere if the caller keeps them between saves.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa

from eddyline.engine.checkpoint.segments import SavedRows, Segments
from eddyline.errors import StateError
from eddyline.runtime.state import Array, Rows, State, flatten, unflatten

_VERSION = 20


def write_saved(
    target: str | Path | BinaryIO,
    program: Sequence[str],
    tables: Mapping[str, pa.Table],
    header: Mapping[str, Any],
    state: State,
    segments: Segments | None = None,
) -> None:
    """Write one saved engine to a path or a binary file.

    Args:
        segments: keep the rows of stores; None: they are written to the same file.
    """
    with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as file:
        segments = segments or Segments(
            lambda name, rows: file.writestr(f"rows/{name}.arrow", memoryview(rows))
        )
        for name, table in tables.items():
            sink = pa.BufferOutputStream()
            with pa.ipc.new_stream(sink, table.schema) as writer:
                writer.write_table(table)
            file.writestr(f"tables/{name}.arrow", sink.getvalue().to_pybytes())
        stores = {}
        arrays: dict[str, Array] = {}
        for path, values in flatten(state):
            if isinstance(values, Rows):
                stores[path], differences = segments.save(values)
                if differences is not None:
                    arrays[f"{path}.numbers"] = differences
            else:
                arrays[path] = values
        for path, array in arrays.items():
            raw = io.BytesIO()
            np.save(raw, np.ascontiguousarray(array), allow_pickle=False)
            file.writestr(f"state/{path}.npy", raw.getbuffer())
        content = {"version": _VERSION, "program": list(program), "rows": stores, **header}
        file.writestr("program.json", json.dumps(content))


def read_saved(
    source: str | Path | BinaryIO,
    read: Callable[[int], pa.Buffer | bytes] | None = None,
    segments: Segments | None = None,
) -> tuple[list[str], dict[str, pa.Table], dict[str, Any], State]:
    """Program, tables, header and state of a saved engine.

    Args:
        read: the segments by name; None: they are in the same file.
        segments: gets the segments of the restored stores.

    Raises:
        StateError: the file is missing, damaged, or of another version; or a segment is.
    """
    try:
        with zipfile.ZipFile(source) as file:
            header = json.loads(file.read("program.json"))
            version = header.get("version") if isinstance(header, dict) else None
            if version != _VERSION:
                raise StateError(
                    f"saved in format {version}, this version reads {_VERSION}: {source}"
                )
            names = file.namelist()
            tables = {
                n.removeprefix("tables/").removesuffix(".arrow"): pa.ipc.open_stream(
                    file.read(n)
                ).read_all()
                for n in names
                if n.startswith("tables/")
            }
            leaves: dict[str, Array | Rows] = {
                n.removeprefix("state/").removesuffix(".npy"): np.load(
                    io.BytesIO(file.read(n)), allow_pickle=False
                )
                for n in names
                if n.startswith("state/")
            }
            inside = {n: file.read(n) for n in names if n.startswith("rows/")}
    except (OSError, KeyError, ValueError, zipfile.BadZipFile) as error:
        raise StateError(f"not a saved engine: {source}: {error}") from None

    def read_inside(name: int) -> bytes:
        if (content := inside.get(f"rows/{name}.arrow")) is None:
            raise StateError(f"saved engine without segment {name} of its rows: {source}")
        return content

    for path, description in header["rows"].items():
        numbers = leaves.pop(f"{path}.numbers", None)
        assert not isinstance(numbers, Rows), "arrays only"
        leaves[path] = SavedRows(description, numbers, read or read_inside, segments).rows()
    return header["program"], tables, header, unflatten(leaves)
