"""Options of records of Avro: their schema, and what stands in front of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pyarrow as pa

from eddyline.algebra.catalog import ColumnSources, JsonPath
from eddyline.errors import DataError
from eddyline.spark.formats.avro_schema import AvroSchema
from eddyline.spark.formats.schema_options import (
    SchemaOptions,
    check_schema_columns,
    is_elsewhere,
)
from eddyline.types import Schema

_SCHEMAS: Final = ("schema", "schema_file", "schema_registry")


@dataclass(frozen=True)
class AvroOptions:
    """Options of records of Avro.

    Attributes:
        what: the stream or table, for messages.
        schema: its text. file: with the schema. registry: the URL of a schema registry. One is set.
        subject: of the registry. schema_id: the number in front of each record; None: there is
            none, or the registry has the numbers.
    """

    what: str
    schema: str | None
    file: str | None
    registry: str | None
    subject: str | None
    schema_id: int | None

    @classmethod
    def of(cls, what: str, options: Mapping[str, str]) -> AvroOptions:
        """The options of a source.

        Args:
            what: the stream or table, for messages.

        Raises:
            OptionError: one is wrong, or does not go with another.
        """
        given = SchemaOptions(what, options, _SCHEMAS, required=True)
        return cls(
            what,
            given.given.get("schema"),
            given.given.get("schema_file"),
            given.registry(),
            given.subject(),
            given.schema_id(),
        )

    def read(self) -> AvroSchema:
        """The schema, unless a registry has it.

        Raises:
            DataError: the file cannot be read, or has no schema.
        """
        if self.file is None:
            return AvroSchema(self.schema or "")
        try:
            return AvroSchema(Path(self.file).read_text("utf-8"))
        except (OSError, UnicodeError) as e:
            raise DataError(f"the schema '{self.file}' cannot be read: {e}") from None


def check_avro_columns(
    what: str, options: Mapping[str, str], columns: Schema, sources: ColumnSources
) -> None:
    """Check that the schema has the columns, where it is at hand.

    Raises:
        OptionError: a column is not in it, or the schema is none.
    """
    avro = AvroOptions.of(what, options)
    if avro.registry is not None:
        return  # asked when the job starts
    if avro.file is not None and is_elsewhere(avro.file):
        return
    option = next(n for n in options if n.lower() in _SCHEMAS)

    def open_() -> Callable[[JsonPath, pa.DataType], None]:
        schema = avro.read()
        return lambda path, _: schema.check(path)

    check_schema_columns(what, option, open_, columns, sources)
