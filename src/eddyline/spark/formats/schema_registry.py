"""Schemas of a registry that has the interface of Confluent's, read when a job starts."""

from __future__ import annotations

import json
from typing import Any, Final
from urllib.error import HTTPError, URLError
from urllib.parse import quote
from urllib.request import Request, urlopen

from eddyline.errors import DataError
from eddyline.spark.formats.avro_schema import AvroSchema

_TIMEOUT_S: Final = 10.0
_ACCEPT: Final = "application/vnd.schemaregistry.v1+json, application/json"


def registered(url: str, subject: str) -> dict[int, AvroSchema]:
    """The versions of a subject, the newest one last, by the numbers of their schemas.

    Raises:
        DataError: the registry cannot be asked, has no such subject, or none of Avro.
    """
    place = f"{url.rstrip('/')}/subjects/{quote(subject, safe='')}/versions"
    found: dict[int, AvroSchema] = {}
    for version in sorted(_answer(place)):
        told = _answer(f"{place}/{int(version)}")
        if told.get("schemaType", "AVRO") != "AVRO":
            raise DataError(f"schema registry: '{subject}' is of {told['schemaType']}, not of Avro")
        if told.get("references"):
            raise DataError(
                f"schema registry: version {version} of '{subject}' refers to other schemas, which "
                "is not supported: register it as one schema"
            )
        found[int(told["id"])] = AvroSchema(told["schema"])
    if not found:
        raise DataError(f"schema registry: '{subject}' has no version")
    return found


def _answer(url: str) -> Any:
    try:
        with urlopen(Request(url, headers={"Accept": _ACCEPT}), timeout=_TIMEOUT_S) as answer:
            return json.load(answer)
    except HTTPError as e:
        said = e.read(500).decode(errors="replace").strip()
        raise DataError(f"schema registry: {url} answers {e.code} {e.reason} {said}") from None
    except (URLError, OSError, ValueError) as e:
        raise DataError(f"schema registry: {url}: {e}") from None
