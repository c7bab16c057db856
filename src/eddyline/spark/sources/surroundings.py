"""What a script needs of the machine that runs it, and this one lacks."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from eddyline.algebra.catalog import StreamDef, TableDef
from eddyline.engine.query import Query
from eddyline.errors import DataError
from eddyline.spark.connectors import connector_jars
from eddyline.spark.formats.format_options import (
    FILE_FORMATS,
    history_options,
    record_format,
    sink_format,
    source_format,
)
from eddyline.spark.sinks.python_sink import function_name, imported
from eddyline.spark.sources.paths import wrong_path
from eddyline.spark.sources.sources import resolve_path
from eddyline.spark.storage.directory import local_path

_WILD_CARDS: Final = frozenset("*?[{")
#: Options that name an environment variable.
_VARIABLES: Final = ("password_env", "url_env")
#: Modules of sinks, with their extra.
_EXTRAS: Final = {
    "postgres": ("psycopg", "postgres"),
    "delta": ("deltalake", "delta"),
    "iceberg": ("pyiceberg", "iceberg"),
}


def missing_here(
    definitions: Iterable[StreamDef | TableDef], queries: Iterable[Query], base: Path
) -> Iterator[str]:
    """A sentence for each file, environment variable, module and connector that is missing here,
    without which the job does not start.

    Args:
        definitions: those that queries read. base: directory of relative paths.
    """
    formats: set[str | None] = set()
    for definition in definitions:
        kind = "stream" if isinstance(definition, StreamDef) else "table"
        options = resolve_path(definition.options, base)
        formats.add(format_ := source_format(options))
        path = next((v for k, v in options.items() if k.lower() == "path"), "")
        if format_ in FILE_FORMATS and _is_missing(path):
            yield f"{kind} '{definition.name}': there is no file or directory '{path}' here"
        if kind == "stream" and (
            wrong := wrong_path(f"stream '{definition.name}'", format_, options)
        ):
            yield wrong
        if record_format(options) == "protobuf" and find_spec("ptars") is None:
            yield f"{kind} '{definition.name}': pip install 'eddyline[protobuf]' is needed"
        old = options.get("history_path", "")
        if source_format(history_options(options)) in FILE_FORMATS and _is_missing(old):
            yield f"stream '{definition.name}': there is no file or directory '{old}' here"
    for query in queries:
        formats.add(sink_format(query.options))
        yield from _of_sink(query.name, query.options)
    if "kafka" in formats and not connector_jars():
        yield (
            "the connector for Kafka is not here: `eddyline connectors` fetches it, or give it to "
            "run by --packages"
        )


def _of_sink(label: str, options: Mapping[str, str]) -> Iterator[str]:
    module, extra = _EXTRAS.get(sink_format(options), ("", ""))
    if module and find_spec(module) is None:
        yield f"'{label}': pip install 'eddyline[{extra}]' is needed"
    for option, value in options.items():
        if option.lower() in _VARIABLES and value not in os.environ:
            yield f"'{label}': {option}: there is no environment variable '{value}' here"
    if sink_format(options) == "python":
        try:
            imported(label, function_name(options))
        except DataError as e:
            yield str(e)


def _is_missing(path: str) -> bool:
    is_local = "://" not in path or path.startswith("file:")
    place = local_path(path)
    while any(_WILD_CARDS & set(part) for part in place.parts):  # Spark looks for what fits
        place = place.parent
    return is_local and not place.exists()
