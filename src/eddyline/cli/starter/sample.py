"""Samples of files on a local disk, read by Arrow, and what a stream declares to read them all."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as arrow_csv
import pyarrow.dataset as ds
import pyarrow.json as arrow_json

from eddyline.cli.starter.columns import null_word
from eddyline.errors import DataError
from eddyline.spark.sinks.printing import count
from eddyline.spark.sources.sampling import source_files

#: Formats by the endings of names; compressed text has a second ending.
_FORMATS: Final = {
    ".csv": "csv",
    ".tsv": "csv",
    ".json": "json",
    ".jsonl": "json",
    ".ndjson": "json",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".orc": "orc",
}
_COMPRESSED: Final = (".gz", ".bz2", ".zst")
_SEPARATORS: Final = (",", ";", "\t", "|")
#: How much text of a file is read.
_TEXT_BYTES: Final = 16 << 20
_LINES_TO_GUESS: Final = 20


@dataclass(frozen=True)
class Sample:
    """The first rows of a source.

    Attributes:
        rows: those of text files have columns of text. options: of the stream, beside the path.
        bad: number of lines that are no rows.
    """

    rows: pa.Table
    options: Mapping[str, str]
    bad: int = 0


def sample_files(place: Path, limit: int) -> Sample:
    """The first rows of a file, or of the files of a directory in the order in which Spark reads
    them.

    Raises:
        DataError: there are none, or they cannot be read.
    """
    if not place.exists():
        raise DataError(f"there is no file or directory '{place}'")
    files = source_files(place)
    if not files:
        raise DataError(f"the directory '{place}' has no files")
    format_ = _format_of(files, place)
    read = {"csv": _csv, "json": _json}.get(format_)
    try:
        if read is not None:
            sample = read(files, limit)
        else:
            rows = ds.dataset([str(f) for f in files], format=format_).head(limit)
            sample = Sample(rows, {"source": format_})
    except (OSError, UnicodeDecodeError, csv.Error, pa.ArrowException) as e:
        raise DataError(f"cannot read '{place}': {str(e).splitlines()[0]}") from None
    if not sample.rows.num_rows:
        lines = count(sample.bad, "line is no row", "lines are no rows")
        said = f": {lines}" if sample.bad else ""
        raise DataError(f"'{place}' has no rows{said}; put some there first")
    return sample


def json_rows(lines: Sequence[bytes]) -> tuple[pa.Table, int]:
    """The rows of lines of JSON, and the number of lines that are no objects.

    Raises:
        DataError: a field has values of several types.
    """
    if not lines:
        return pa.table({}), 0
    try:
        return _json_table(lines), 0
    except pa.ArrowInvalid:
        objects = [line for line in lines if is_object(line)]
    if not objects:
        return pa.table({}), len(lines)
    try:
        return _json_table(objects), len(lines) - len(objects)
    except pa.ArrowInvalid as e:
        raise DataError(
            f"a field has values of several types ({str(e).splitlines()[0]}): declare the stream "
            "yourself, with this column as STRING"
        ) from None


def _json_table(lines: Sequence[bytes]) -> pa.Table:
    text = b"\n".join(lines)
    options = arrow_json.ReadOptions(block_size=max(len(text) + 1, 1 << 20))
    table = arrow_json.read_json(io.BytesIO(text), read_options=options)
    if table.num_rows != len(lines):  # several objects in a line
        raise pa.ArrowInvalid("a line is not one object")
    return table


def is_object(line: bytes) -> bool:
    """Whether a line is one JSON object."""
    try:
        return isinstance(json.loads(line), dict)
    except ValueError:
        return False


def _format_of(files: Sequence[Path], place: Path) -> str:
    endings = Counter(_ending(f) for f in files)
    unknown = [e for e in endings if e not in _FORMATS]
    if unknown:
        known = ", ".join(_FORMATS)
        shown = f"'{unknown[0]}'" if unknown[0] else "without an ending"
        raise DataError(
            f"'{place}': files {shown} are of no known format; names end in {known}, of text also "
            f"with {', '.join(_COMPRESSED)} behind it"
        )
    formats = {_FORMATS[e] for e in endings}
    if len(formats) > 1:
        raise DataError(
            f"'{place}' has files of several formats ({', '.join(sorted(formats))}): put those of "
            "each in a directory of their own"
        )
    return formats.pop()


def _ending(file: Path) -> str:
    return Path(file.stem).suffix.lower() if file.suffix in _COMPRESSED else file.suffix.lower()


def _text(file: Path) -> bytes:
    """The beginning of a file, up to the end of a line."""
    with pa.input_stream(str(file), compression="detect") as stream:
        text = stream.read(_TEXT_BYTES)
        if len(text) == _TEXT_BYTES:
            text = text[: text.rfind(b"\n") + 1]
    return bytes(text)


def _json(files: Sequence[Path], limit: int) -> Sample:
    lines: list[bytes] = []
    for file in files:
        text = _text(file)
        if text.lstrip()[:1] == b"[":
            raise DataError(
                f"'{file}' is one JSON array: a stream reads one object per line, such as "
                f"`jq -c '.[]' {file.name}` writes"
            )
        lines += islice((x for x in text.splitlines() if x.strip()), limit - len(lines))
        if len(lines) == limit:
            break
    rows, bad = json_rows(lines)
    return Sample(rows, {"source": "json"}, bad)


def _csv(files: Sequence[Path], limit: int) -> Sample:
    head = _text(files[0]).decode("utf-8-sig").splitlines()[:_LINES_TO_GUESS]
    head = [line for line in head if line.strip()]
    if not head:
        return Sample(pa.table({}), {"source": "csv"})
    separator = _separator(head)
    first = next(csv.reader(head[:1], delimiter=separator))
    has_header = _is_header(first)
    names = _unique(first) if has_header else [f"c{i}" for i, _ in enumerate(first, start=1)]
    tables: list[pa.Table] = []
    bad = [0]
    for file in files:
        left = limit - sum(t.num_rows for t in tables)
        if left <= 0:
            break
        if not _text(file).strip():
            continue
        tables.append(_csv_rows(file, separator, names, has_header, bad).slice(0, left))
    options = {"source": "csv"}
    if has_header:
        options["header"] = "true"
    if separator != ",":
        options["sep"] = separator
    sample = Sample(pa.concat_tables(tables), options, bad[0])
    word = null_word(sample.rows)
    if word is None:
        return sample
    return replace(sample, rows=_without(sample.rows, word), options={**options, "nullValue": word})


def _csv_rows(
    file: Path, separator: str, names: Sequence[str], has_header: bool, bad: list[int]
) -> pa.Table:
    """The rows of the beginning of a file; adds to ``bad`` the number of lines of other lengths."""

    def skip(row: Any) -> str:
        bad[0] += 1
        return "skip"

    return arrow_csv.read_csv(
        io.BytesIO(_text(file)),
        arrow_csv.ReadOptions(column_names=names, skip_rows=int(has_header)),
        arrow_csv.ParseOptions(delimiter=separator, invalid_row_handler=skip),
        arrow_csv.ConvertOptions(
            column_types=dict.fromkeys(names, pa.string()),
            null_values=[""],
            strings_can_be_null=True,
        ),
    )


def _separator(lines: Sequence[str]) -> str:
    """The separator that divides all lines alike, into the most parts."""

    def parts(separator: str) -> int:
        counts = {len(row) for row in csv.reader(lines, delimiter=separator)}
        return counts.pop() if len(counts) == 1 else 1

    most = max(_SEPARATORS, key=parts)
    if parts(most) > 1:
        return most
    return max(_SEPARATORS, key=lambda s: len(next(csv.reader(lines[:1], delimiter=s))))


def _is_header(cells: Sequence[str]) -> bool:
    """Whether the first line has names: neither an empty cell nor a number or a time."""
    return all(cell.strip() and not cell.strip()[0].isdigit() for cell in cells) and not any(
        cell.strip()[:1] in "-+." and any(c.isdigit() for c in cell) for cell in cells
    )


def _unique(names: Sequence[str]) -> list[str]:
    found: list[str] = []
    for name in map(str.strip, names):
        while name.lower() in (n.lower() for n in found):
            name += "_"
        found.append(name)
    return found


def _without(rows: pa.Table, word: str) -> pa.Table:
    columns = [pc.if_else(pc.equal(c, word), pa.scalar(None, c.type), c) for c in rows.columns]
    return pa.Table.from_arrays(columns, names=rows.column_names)
