"""Options of records of Protobuf: the type of the messages, and what stands in front of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pyarrow as pa

from eddyline.algebra.catalog import ColumnSources, JsonPath
from eddyline.errors import DataError
from eddyline.extras import extras_named
from eddyline.spark.formats.schema_options import (
    SchemaOptions,
    check_schema_columns,
    is_elsewhere,
)
from eddyline.types import Schema

if TYPE_CHECKING:
    from eddyline.spark.formats.protobuf_schema import ProtobufSchema

_SCHEMAS: Final = ("descriptor_file", "schema_registry")


@dataclass(frozen=True)
class ProtobufOptions:
    """Options of records of Protobuf.

    Attributes:
        what: the stream or table, for messages.
        file: a set of descriptors. registry: the URL of a schema registry. One is set.
        message: the type of the messages; None: the first one of the registry's schema.
        subject: of the registry. framed: whether a number of a schema is in front of each message.
        schema_id: this number; None: any, or the registry has the numbers.
    """

    what: str
    file: str | None
    registry: str | None
    message: str | None
    subject: str | None
    framed: bool
    schema_id: int | None

    @classmethod
    def of(cls, what: str, options: Mapping[str, str]) -> ProtobufOptions:
        """The options of a source.

        Args:
            what: the stream or table, for messages.

        Raises:
            OptionError: one is wrong, or does not go with another.
        """
        given = SchemaOptions(what, options, _SCHEMAS, required=False)
        file, message = given.given.get("descriptor_file"), given.given.get("message")
        if file is not None and message is None:
            advice = "the option 'message', the type of the messages, as in 'package.Order'"
            raise given.error(f"descriptor_file needs {advice}", "descriptor_file")
        registry = given.registry()
        framed = given.wire() == "confluent"
        subject, schema_id = given.subject(), given.schema_id()
        return cls(what, file, registry, message, subject, framed, schema_id)

    def read(self) -> ProtobufSchema:
        """The type of the messages, from the file.

        Raises:
            DataError: the file cannot be read, or has no such type. SetupError: Protobuf is not
                installed.
        """
        assert self.file is not None and self.message is not None, "not of a registry"
        with extras_named():
            from eddyline.spark.formats.protobuf_schema import ProtobufSchema
        try:
            data = Path(self.file).read_bytes()
        except OSError as e:
            raise DataError(f"the descriptors '{self.file}' cannot be read: {e}") from None
        try:
            return ProtobufSchema.of_set(data, self.message)
        except DataError as e:
            raise DataError(f"'{self.file}': {e}") from None


def check_protobuf_columns(
    what: str, options: Mapping[str, str], columns: Schema, sources: ColumnSources
) -> None:
    """Check that messages have the columns, where their descriptors are at hand.

    Raises:
        OptionError: a column is not in them or has another type, or the descriptors are none.
    """
    given = ProtobufOptions.of(what, options)
    if given.file is None or is_elsewhere(given.file):
        return
    option = next(n for n in options if n.lower() == "descriptor_file")

    def open_() -> Callable[[JsonPath, pa.DataType], None]:
        return given.read().check

    check_schema_columns(what, option, open_, columns, sources)
