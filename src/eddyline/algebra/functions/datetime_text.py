"""Dates and timestamps from text, column at a time: the ISO forms that Spark's CAST reads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from eddyline.types import TIMESTAMP

_ZONE: Final = (
    r"(?:Z|UTC|GMT|(?P<zone_sign>[+-])(?P<zone_hour>\d{1,2})(?::?(?P<zone_minute>\d{2}))?)"
)
_SECOND: Final = r"(?::(?P<second>\d{1,2})(?:\.(?P<fraction>\d{0,9}))?)?"
_TIME: Final = r"(?P<hour>\d{1,2})(?::(?P<minute>\d{1,2})" + _SECOND + ")?"
_DATE: Final = r"(?P<year>\d{4})(?:-(?P<month>\d{1,2})(?:-(?P<day>\d{1,2})%s)?)?"
_ISO_TIMESTAMP: Final = (
    r"^\s*" + _DATE % (r"(?:[ T](?:" + _TIME + r"\s*" + _ZONE + "?)?)?") + r"\s*$"
)
_ISO_DATE: Final = r"^\s*" + _DATE % r"(?:[ T].*)?" + r"\s*$"
_DAY_US: Final = 86_400_000_000
_ZERO: Final = np.int64(0)

#: Values of fields that the text leaves out.
_DEFAULTS: Final = {"year": 1970, "month": 1, "day": 1}


def parse_timestamps(texts: pa.Array, pattern: str = _ISO_TIMESTAMP) -> pa.Array:
    """Texts as timestamps; NULL where they do not match or the instant does not exist.

    Args:
        texts: a string array.
        pattern: a regular expression with groups named year, month, day, hour, minute, second,
            fraction, zone_sign, zone_hour, zone_minute; any may be missing.
    """
    fields = _fields(texts, pattern)
    days, valid = _days(fields)
    hour, minute, second = (fields.get(f, _ZERO) for f in ("hour", "minute", "second"))
    valid = valid & (hour < 24) & (minute < 60) & (second < 60)
    seconds = (hour * 60 + minute) * 60 + second - _offset_seconds(fields)
    micros = days * _DAY_US + seconds * 1_000_000 + fields.get("fraction", _ZERO)
    return pa.array(micros, mask=~valid).cast(TIMESTAMP)


def parse_dates(texts: pa.Array, pattern: str = _ISO_DATE) -> pa.Array:
    """Texts as dates; NULL where they do not match or the day does not exist."""
    days, valid = _days(_fields(texts, pattern))
    return pa.array(days.astype(np.int32), mask=~valid).cast(pa.date32())


def _fields(texts: pa.Array, pattern: str) -> dict[str, np.ndarray]:
    """The groups as int64 arrays, and ``matched`` as a bool array."""
    found = pc.extract_regex(texts, pattern)
    fields = {}
    for field in found.type:
        text = pc.struct_field(found, field.name)
        if field.name == "zone_sign":
            fields["zone_sign"] = np.where(np.asarray(pc.equal(text, "-").fill_null(False)), -1, 1)
            continue
        if field.name == "fraction":
            text = pc.utf8_slice_codeunits(pc.utf8_rpad(text, 6, "0"), 0, 6)
        default = str(_DEFAULTS.get(field.name, 0))
        given = pc.if_else(pc.equal(text, ""), default, text).fill_null(default)
        fields[field.name] = np.asarray(given.cast(pa.int64()))
    fields["matched"] = np.asarray(found.is_valid())
    return fields


def _days(fields: Mapping[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Days since the epoch, and whether each is a day of the calendar."""
    matched = fields["matched"]
    year, month, day = (
        np.broadcast_to(fields.get(f, np.int64(_DEFAULTS[f])), matched.shape)
        for f in ("year", "month", "day")
    )
    months = (year - 1970) * 12 + month - 1
    first = months.astype("M8[M]").astype("M8[D]").astype(np.int64)
    length = (months + 1).astype("M8[M]").astype("M8[D]").astype(np.int64) - first
    valid = matched & (year >= 1) & (month >= 1) & (month <= 12) & (day >= 1) & (day <= length)
    return first + day - 1, valid


def _offset_seconds(fields: Mapping[str, np.ndarray]) -> np.ndarray | np.int64:
    if "zone_sign" not in fields:
        return _ZERO
    hours = fields["zone_hour"] * 60 + fields["zone_minute"]
    return np.asarray(fields["zone_sign"] * hours * 60)
