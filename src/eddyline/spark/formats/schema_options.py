"""Options that records of Avro and of Protobuf share: where their schema is, and what is in front
of each record.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final, Literal, get_args

import pyarrow as pa

from eddyline.algebra.catalog import ColumnSources, JsonPath
from eddyline.errors import DataError, did_you_mean
from eddyline.spark.formats.format_options import OptionError
from eddyline.sql.statements import of_column
from eddyline.types import Schema

#: How records are written: alone, or behind a zero byte and the number of their schema.
Wire = Literal["plain", "confluent"]
#: Bytes in front of such a record: zero, and the number of its schema.
HEADER: Final = 5
_REGISTRY: Final = "schema_registry"


class SchemaOptions:
    """The options of a source, by names in lower case.

    Args:
        what: the stream or table, for messages. schemas: the options of which one says the schema.
        required: whether records behind a number need the number of the schema.

    Attributes:
        given: the options.

    Raises:
        OptionError: one is wrong, or does not go with another.
    """

    def __init__(
        self, what: str, options: Mapping[str, str], schemas: Sequence[str], *, required: bool
    ) -> None:
        self._what = what
        self.given = {name.lower(): value for name, value in options.items()}
        self._names = {name.lower(): name for name in options}
        self._schemas = [name for name in schemas if name != _REGISTRY]
        self._required = required
        chosen = [name for name in schemas if name in self.given]
        if len(chosen) > 1:
            message = f"'{chosen[0]}' and '{chosen[1]}' both say the schema: leave out one"
            raise self.error(message, chosen[1])

    def error(
        self, message: str, option: str, part: Literal["name", "value"] = "name"
    ) -> OptionError:
        """An error of an option, or of its value."""
        return OptionError(f"{self._what}: {message}", self._names[option], part)

    def registry(self) -> str | None:
        """The URL of a schema registry."""
        registry = self.given.get(_REGISTRY)
        if registry is not None and not registry.lower().startswith(("http://", "https://")):
            message = f"schema_registry = '{registry}' is no URL: http://... or https://..."
            raise self.error(message, _REGISTRY, "value")
        return registry

    def wire(self) -> str:
        """How records are written, see :data:`Wire`."""
        wire = self.given.get("wire", "confluent" if _REGISTRY in self.given else "plain").lower()
        if wire not in get_args(Wire):
            message = f"wire = '{wire}': {did_you_mean(wire, get_args(Wire))}"
            raise self.error(message, "wire", "value")
        return wire

    def subject(self) -> str | None:
        """The subject of a registry: by default that of the values of the topic."""
        if _REGISTRY not in self.given:
            if "subject" in self.given:
                raise self.error("a subject is for the option schema_registry", "subject")
            return None
        topic = self.given.get("subscribe", "")
        subject = self.given.get(
            "subject", f"{topic}-value" if topic and "," not in topic else None
        )
        if subject is None:
            message = "schema_registry needs the option 'subject', unless there is one topic"
            raise self.error(message, _REGISTRY)
        return subject

    def schema_id(self) -> int | None:
        """The number of the schema of all records; None: there is none, or any."""
        wire, by_registry = self.wire(), _REGISTRY in self.given
        if wire == "plain" or by_registry:
            if "schema_id" in self.given or (by_registry and wire == "plain"):
                option = "schema_id" if "schema_id" in self.given else "wire"
                message = f"{option} = '{self.given[option]}' is for wire = 'confluent' with "
                own = " or ".join(f"'{name}'" for name in self._schemas)
                advice = f"{own}; a registry has the numbers of its schemas"
                raise self.error(message + advice, option)
            return None
        text = self.given.get("schema_id")
        if text is None and not self._required:
            return None
        if text is None:
            message = "wire = 'confluent' needs the option 'schema_id', or 'schema_registry'"
            raise self.error(message, "wire", "value")
        if not (text.isascii() and text.isdigit()) or int(text) >= 2**31:
            raise self.error(f"schema_id = '{text}' is no number of a schema", "schema_id", "value")
        return int(text)


def is_elsewhere(file: str) -> bool:
    """Whether a file may be relative to a directory that is not known here."""
    return not Path(file).exists() and not Path(file).is_absolute()


def check_schema_columns(
    what: str,
    option: str,
    open_: Callable[[], Callable[[JsonPath, pa.DataType], None]],
    columns: Schema,
    sources: ColumnSources,
) -> None:
    """Check that a schema has the columns.

    Args:
        option: with the schema. open_: reads it, and returns what checks a value at a path and its
            declared type.

    Raises:
        OptionError: a column is not in it, or the schema is none.
    """
    try:
        check = open_()
    except DataError as e:
        raise OptionError(f"{what}: {e}", option, "value") from None
    for column in columns:
        if column.name in sources.metadata:
            continue
        try:
            check(sources.paths.get(column.name, (column.name,)), column.type)
        except DataError as e:
            at = of_column(column.name) if column.name in sources.paths else option
            raise OptionError(f"{what}, column '{column.name}': {e}", at, "value") from None
