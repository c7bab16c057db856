"""The forms in which an answer leaves a job: Arrow, JSON or CSV."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from eddyline.errors import DataError, did_you_mean
from eddyline.spark.exchange.packed_batches import pack
from eddyline.spark.formats.text_encoders import json_encoder
from eddyline.types import sql_type


@dataclass(frozen=True)
class AnswerFormat:
    """One form.

    Attributes:
        media_type: of HTTP. encode: of a table.
    """

    media_type: str
    encode: Callable[[pa.Table], bytes]


def _json(rows: pa.Table) -> bytes:
    """An array of objects, one per line; fields that are null are left out."""
    encode = json_encoder({}, rows.schema)
    assert encode is not None, "all types are flat"
    lines = encode(rows).rstrip(b"\n").replace(b"\n", b",\n")
    return b"[" + lines + b"]\n"


def _csv(rows: pa.Table) -> bytes:
    """A header and a line per row; null is empty, the empty text is in quotes."""
    sink = pa.BufferOutputStream()
    csv.write_csv(rows, sink, csv.WriteOptions(quoting_style="needed"))
    content: bytes = sink.getvalue().to_pybytes()
    return content


def _text_of(encode: Callable[[pa.Table], bytes], form: str) -> Callable[[pa.Table], bytes]:
    """An encoder with timestamps as texts, to the microsecond."""

    def encoded(rows: pa.Table) -> bytes:
        for i, column in enumerate(rows.schema):
            if pa.types.is_timestamp(column.type):
                texts = pc.strftime(rows.column(i), format="%Y-%m-%dT%H:%M:%SZ")
                rows = rows.set_column(i, column.name, texts)
            elif pa.types.is_binary(column.type) or pa.types.is_duration(column.type):
                raise DataError(
                    f"column '{column.name}' is {sql_type(column.type)}, which {form} does not "
                    "hold: ask for arrow, or convert it in the query"
                )
        return encode(rows)

    return encoded


FORMATS: Final = {
    "json": AnswerFormat("application/json", _text_of(_json, "JSON")),
    "csv": AnswerFormat("text/csv", _text_of(_csv, "CSV")),
    "arrow": AnswerFormat("application/vnd.apache.arrow.stream", pack),
}


def format_named(name: str) -> AnswerFormat:
    """The format of a name.

    Raises:
        DataError: there is none.
    """
    if name not in FORMATS:
        raise DataError(f"there is no format '{name}'; {did_you_mean(name, FORMATS)}")
    return FORMATS[name]


def accepted_format(accept: str) -> AnswerFormat:
    """The best format for the header ``Accept``; the first one for the empty text.

    Raises:
        DataError: it accepts none.
    """
    wishes = []
    for wish in filter(None, (part.strip() for part in accept.split(","))):
        media_type, *parameters = (word.strip().lower() for word in wish.split(";"))
        wishes.append((_quality(parameters), media_type))
    wishes.sort(key=lambda w: -w[0])
    for quality, media_type in wishes or [(1.0, "*/*")]:
        for form in FORMATS.values():
            kind = form.media_type.partition("/")[0]
            if quality > 0 and media_type in (form.media_type, "*/*", f"{kind}/*"):
                return form
    valid = ", ".join(form.media_type for form in FORMATS.values())
    raise DataError(f"no format is accepted: '{accept}'; valid: {valid}")


def _quality(parameters: list[str]) -> float:
    for name, _, value in (parameter.partition("=") for parameter in parameters):
        if name == "q":
            try:
                return float(value)
            except ValueError:
                return 0.0
    return 1.0
