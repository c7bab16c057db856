"""Options of records of Avro: their schema, and what stands in front of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, get_args

from eddyline.algebra.catalog import ColumnSources
from eddyline.errors import DataError, did_you_mean
from eddyline.spark.formats.avro_schema import AvroSchema
from eddyline.spark.formats.format_options import OptionError
from eddyline.sql.statements import of_column
from eddyline.types import Schema

#: How records are written: alone, or behind a zero byte and the number of their schema.
Wire = Literal["plain", "confluent"]
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
        given = {name.lower(): value for name, value in options.items()}
        names = {name.lower(): name for name in options}
        chosen = [name for name in _SCHEMAS if name in given]
        if len(chosen) > 1:
            message = f"{what}: '{chosen[0]}' and '{chosen[1]}' both say the schema: leave out one"
            raise OptionError(message, names[chosen[1]])
        registry = given.get("schema_registry")
        if registry is not None and not registry.lower().startswith(("http://", "https://")):
            message = f"{what}: schema_registry = '{registry}' is no URL: http://... or https://..."
            raise OptionError(message, names["schema_registry"], "value")
        wire = given.get("wire", "plain" if registry is None else "confluent").lower()
        if wire not in get_args(Wire):
            message = f"{what}: wire = '{wire}': {did_you_mean(wire, get_args(Wire))}"
            raise OptionError(message, names["wire"], "value")
        return cls(
            what,
            given.get("schema"),
            given.get("schema_file"),
            registry,
            _subject(what, given, names),
            _schema_id(what, given, names, wire),
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
    if avro.file is not None and not Path(avro.file).exists() and not Path(avro.file).is_absolute():
        return  # relative to a directory that is not known here
    option = next(n for n in options if n.lower() in _SCHEMAS)
    try:
        schema = avro.read()
    except DataError as e:
        raise OptionError(f"{what}: {e}", option, "value") from None
    for column in columns:
        if column.name in sources.metadata:
            continue
        try:
            schema.check(sources.paths.get(column.name, (column.name,)))
        except DataError as e:
            at = of_column(column.name) if column.name in sources.paths else option
            raise OptionError(f"{what}, column '{column.name}': {e}", at, "value") from None


def _subject(what: str, given: Mapping[str, str], names: Mapping[str, str]) -> str | None:
    """The subject of a registry: by default that of the values of the topic."""
    if "schema_registry" not in given:
        if "subject" in given:
            message = f"{what}: a subject is for the option schema_registry"
            raise OptionError(message, names["subject"])
        return None
    topic = given.get("subscribe", "")
    subject = given.get("subject", f"{topic}-value" if topic and "," not in topic else None)
    if subject is None:
        message = f"{what}: schema_registry needs the option 'subject', unless there is one topic"
        raise OptionError(message, names["schema_registry"])
    return subject


def _schema_id(
    what: str, given: Mapping[str, str], names: Mapping[str, str], wire: str
) -> int | None:
    """The number of the schema of all records."""
    numbered = wire == "confluent" and "schema_registry" not in given
    if not numbered:
        if "schema_id" in given or ("schema_registry" in given and wire == "plain"):
            option = "schema_id" if "schema_id" in given else "wire"
            message = f"{what}: {option} = '{given[option]}' is for wire = 'confluent' with "
            advice = "'schema' or 'schema_file'; a registry has the numbers of its schemas"
            raise OptionError(message + advice, names[option])
        return None
    text = given.get("schema_id")
    if text is None:
        message = f"{what}: wire = 'confluent' needs the option 'schema_id', or 'schema_registry'"
        raise OptionError(message, names["wire"], "value")
    if not (text.isascii() and text.isdigit()) or int(text) >= 2**31:
        message = f"{what}: schema_id = '{text}' is no number of a schema"
        raise OptionError(message, names["schema_id"], "value")
    return int(text)
