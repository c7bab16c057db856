"""Limits of what Java's library of Avro allocates: system properties, set when Java starts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

#: Lengths in a record that is no record may be of gigabytes, which Avro would allocate at once.
AVRO_LIMITS: Final[Mapping[str, str]] = {
    "org.apache.avro.limits.string.maxLength": str(64 << 20),
    "org.apache.avro.limits.bytes.maxLength": str(64 << 20),
    "org.apache.avro.limits.collectionItems.maxLength": str(16 << 20),
}
