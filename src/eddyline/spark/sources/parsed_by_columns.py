"""Messages of JSON parsed by columns in the Python workers, and by Spark those that are not plain.

::

    texts -> worker: plain ones as packed columns ------------> worker: rows in the order of arrival
                     others as text -> Spark: from_json ----/

Which messages are plain is said by ``formats/json_columns.py``, which makes of them what
``from_json`` makes. So no row depends on the way that it takes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import BinaryType, StringType, StructField, StructType

from eddyline.engine.ingest.conversion import CORRUPT_RECORD
from eddyline.spark.exchange.packed_batches import packed, unpack
from eddyline.spark.formats.format_options import PARSERS
from eddyline.spark.formats.json_columns import JsonColumns, can_read
from eddyline.spark.formats.lines import parsed_records
from eddyline.spark.formats.parquet import Reader
from eddyline.spark.formats.records import Records, at_path

#: Texts that are parsed at once.
_CHUNK_BYTES: Final = 2 << 20
#: Columns between the workers, with no name of a field of a record.
_PACKED, _PLAIN = "PACKED rows", "PLAIN"
_SPLIT: Final = f"`{_PACKED}` BINARY, value STRING"


def parsed_by_columns(records: Records) -> tuple[DataFrame, Reader] | None:
    """What Spark passes to the second worker, and how this makes of it the declared columns, with
    the texts of records that cannot be parsed.

    None if Spark has to parse all records: the parser has options, or a column a type for which
    only Spark has rules.
    """
    record = StructType(list(records.fields))
    parser = {name.lower() for name in PARSERS["json"]}
    own = records.options.get("columnnameofcorruptrecord", CORRUPT_RECORD) == CORRUPT_RECORD
    if records.format != "json" or not parser.isdisjoint(records.options) or not own:
        return None
    if not can_read(record) or any(pa.types.is_nested(f.type) for f in records.columns):
        return None
    others = {name.lower(): name for name in records.rows.columns if name != "value"}
    beside = {
        f.name: others[str(records.path(f.name)[0]).lower()]
        for f in records.columns
        if str(records.path(f.name)[0]).lower() in others
    }
    within = [f.name for f in records.columns if f.name not in beside]
    columns = JsonColumns(record, [records.path(name) for name in within])
    split = records.rows.select("value", *(F.col(f"`{b}`") for b in beside.values()))
    packed_or_text = split.mapInArrow(_splitter(columns), _SPLIT)
    corrupt = StructField(CORRUPT_RECORD, StringType())
    schema = StructType([*record.fields, StructField(_PACKED, BinaryType()), corrupt])
    found = parsed_records(packed_or_text, "json", records.options, schema)
    values = (at_path(records.path(name)).alias(f"{i}") for i, name in enumerate(within))
    passed = found.select(F.col(f"`{_PACKED}`"), F.col(CORRUPT_RECORD), *values)
    return passed, _merger(within, list(beside), [f.name for f in records.columns])


def _splitter(columns: JsonColumns) -> Reader:
    """In the first worker: chunks of texts, each as a row with the columns of those that are plain
    and of what is beside them, followed by the rows of the others.
    """

    def split(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for chunk in _chunks(batches):
            texts, *beside = (column.chunk(0) for column in chunk.columns)
            values, plain = columns.read(texts)
            found = [pa.array(plain), *values, *beside]
            table = pa.Table.from_arrays(found, [_PLAIN, *map(str, range(1, len(found)))])
            rest = texts.filter(pa.array(~plain))
            blobs = pa.concat_arrays(
                [pa.array([packed(table).to_pybytes()]), pa.nulls(len(rest), pa.binary())]
            )
            texts = pa.concat_arrays([pa.nulls(1, texts.type), rest])
            yield pa.RecordBatch.from_arrays([blobs, texts], [_PACKED, "value"])

    return split


def _chunks(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Tables of one chunk from Spark's batches."""
    waiting: list[pa.RecordBatch] = []
    size = 0
    for batch in batches:
        waiting.append(batch)
        size += batch.nbytes
        if size >= _CHUNK_BYTES:
            yield pa.Table.from_batches(waiting).combine_chunks()
            waiting, size = [], 0
    if waiting:
        yield pa.Table.from_batches(waiting).combine_chunks()


def _merger(within: list[str], beside: list[str], names: list[str]) -> Reader:
    """In the second worker: the declared columns, in the order of the texts.

    Args:
        within: the names of the columns of records. beside: of the others. names: all, in order.
    """

    def merge(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        chunk: pa.Table | None = None
        rest: list[pa.RecordBatch] = []
        for batch in batches:
            blobs = batch.column(0)
            begins = np.flatnonzero(np.asarray(blobs.is_valid()))
            rest.append(batch.slice(0, begins[0] if begins.size else batch.num_rows))
            ends = [*begins[1:], batch.num_rows] if begins.size else []
            for begin, end in zip(begins, ends, strict=True):
                if chunk is not None:
                    yield from merged(chunk, rest)
                chunk = unpack(blobs[int(begin)].as_buffer())
                rest = [batch.slice(begin + 1, end - begin - 1)]
        if chunk is not None:
            yield from merged(chunk, rest)

    def merged(chunk: pa.Table, rest: list[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        plain, *columns = (column.combine_chunks() for column in chunk.columns)
        columns.append(pa.nulls(chunk.num_rows, pa.string()))
        others = pa.Table.from_batches(rest).combine_chunks()
        if others.num_rows:
            mask = pc.invert(plain)
            _, corrupt, *values = others.columns
            for place, of_spark in (*enumerate(values), (-1, corrupt)):
                given = of_spark.combine_chunks().cast(columns[place].type)
                columns[place] = pc.replace_with_mask(columns[place], mask, given)
        by_name = dict(zip([*within, *beside, CORRUPT_RECORD], columns, strict=True))
        ordered = [*names, CORRUPT_RECORD]
        yield pa.RecordBatch.from_arrays([by_name[name] for name in ordered], ordered)

    return merge
