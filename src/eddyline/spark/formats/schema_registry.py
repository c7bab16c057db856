"""Schemas of a registry that has the interface of Confluent's, read when a job starts."""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final
from urllib.error import HTTPError, URLError
from urllib.parse import quote
from urllib.request import Request, urlopen

from eddyline.errors import DataError
from eddyline.spark.formats.avro_schema import AvroSchema

if TYPE_CHECKING:
    from eddyline.spark.formats.protobuf_schema import ProtobufSchema

#: In which form schemas are asked for: those of Protobuf as descriptors.
_FORMS: Final[Mapping[str, str]] = {"Avro": "", "Protobuf": "?format=serialized"}
_MOST_IMPORTS: Final = 100
_TIMEOUT_S: Final = 10.0
_ACCEPT: Final = "application/vnd.schemaregistry.v1+json, application/json"


def registered(url: str, subject: str) -> dict[int, AvroSchema]:
    """The versions of a subject, the newest one last, by the numbers of their schemas.

    Raises:
        DataError: the registry cannot be asked, has no such subject, or none of Avro.
    """
    found: dict[int, AvroSchema] = {}
    for version, told in _versions(url, subject, "Avro"):
        if told.get("references"):
            raise DataError(
                f"schema registry: version {version} of '{subject}' refers to other schemas, which "
                "is not supported: register it as one schema"
            )
        found[int(told["id"])] = AvroSchema(told["schema"])
    return found


def registered_messages(url: str, subject: str, message: str | None) -> dict[int, ProtobufSchema]:
    """As :func:`registered`, of Protobuf.

    Args:
        message: the name of the type; None: the first one of each version.
    """
    from eddyline.spark.formats.protobuf_schema import ProtobufSchema

    found: dict[int, ProtobufSchema] = {}
    for version, told in _versions(url, subject, "Protobuf"):
        files: dict[str, bytes] = {}
        _add_files(files, url, f"{subject}, version {version}", told, 0)
        try:
            found[int(told["id"])] = ProtobufSchema.of_files(files, message)
        except DataError as e:
            place = f"schema registry: version {version} of '{subject}'"
            raise DataError(f"{place}: {e}") from None
    return found


def _versions(url: str, subject: str, of: str) -> Iterator[tuple[int, Any]]:
    """The versions of a subject, and what the registry tells of each."""
    place = _place(url, subject)
    versions = sorted(_answer(place))
    if not versions:
        raise DataError(f"schema registry: '{subject}' has no version")
    for version in versions:
        told = _answer(f"{place}/{int(version)}{_FORMS[of]}")
        type_ = told.get("schemaType", "AVRO")
        if type_ != of.upper():
            raise DataError(f"schema registry: '{subject}' is of {type_}, not of {of}")
        yield version, told


def _place(url: str, subject: str) -> str:
    return f"{url.rstrip('/')}/subjects/{quote(subject, safe='')}/versions"


def _add_files(files: dict[str, bytes], url: str, name: str, told: Any, depth: int) -> None:
    """Add the descriptor of a file, behind those of the files that it imports."""
    if depth > _MOST_IMPORTS:
        raise DataError(f"schema registry: '{name}' is imported by more than {depth} files")
    for other in told.get("references", ()):
        if other["name"] not in files:
            place = f"{_place(url, other['subject'])}/{int(other['version'])}{_FORMS['Protobuf']}"
            _add_files(files, url, other["name"], _answer(place), depth + 1)
    try:
        files[name] = b64decode(told["schema"], validate=True)
    except ValueError:
        raise DataError(
            f"schema registry: it has no descriptors of '{name}' (format=serialized), but a text: "
            "set descriptor_file"
        ) from None


def _answer(url: str) -> Any:
    try:
        with urlopen(Request(url, headers={"Accept": _ACCEPT}), timeout=_TIMEOUT_S) as answer:
            return json.load(answer)
    except HTTPError as e:
        said = e.read(500).decode(errors="replace").strip()
        raise DataError(f"schema registry: {url} answers {e.code} {e.reason} {said}") from None
    except (URLError, OSError, ValueError) as e:
        raise DataError(f"schema registry: {url}: {e}") from None
