"""The offsets of time zones from UTC, from the system's time zone database (TZif, RFC 8536)."""

from __future__ import annotations

import re
import zoneinfo
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from eddyline.errors import SqlError, did_you_mean

_Ints = npt.NDArray[np.int64]

_DAY: Final = 86_400
_LAST_YEAR: Final = 10_000
_OFFSET: Final = re.compile(r"(?:UTC|GMT|UT)?([+-])(\d{1,2})(?::?(\d{2}))?")
_UTC: Final = frozenset(("utc", "gmt", "ut", "z", "zulu"))
_NAME: Final = r"(?:<[^>]+>|[A-Za-z]+)"
_TIME: Final = r"[+-]?\d+(?::\d+){0,2}"
_RULE: Final = r"(?:M\d+\.\d+\.\d+|J?\d+)"
#: The last rule of a zone, as in ``CET-1CEST,M3.5.0,M10.5.0/3``.
_FOOTER: Final = re.compile(
    rf"{_NAME}({_TIME})(?:{_NAME}({_TIME})?,({_RULE})(?:/({_TIME}))?,({_RULE})(?:/({_TIME}))?)?"
)


@dataclass(frozen=True)
class ZoneRules:
    """When the offset of a zone from UTC changes.

    Attributes:
        changes: int64[n], instants in seconds since 1970, ascending.
        offsets: int64[n + 1], in seconds: before the first change, and from each change on.
    """

    changes: _Ints
    offsets: _Ints

    def offsets_at(self, seconds: _Ints) -> _Ints:
        """The offsets at instants, in seconds."""
        return self.offsets[np.searchsorted(self.changes, seconds, "right")]

    def offsets_of_local(self, seconds: _Ints) -> _Ints:
        """The offsets at local times, in seconds: where a local time is twice, or not at all, that
        before the change, as of ``java.time``.
        """
        ends = self.changes + np.maximum(self.offsets[1:], self.offsets[:-1])
        return self.offsets[np.searchsorted(ends, seconds, "right")]


@lru_cache(maxsize=256)
def zone_rules(name: str) -> ZoneRules:
    """The rules of a zone by its name, as ``Europe/Berlin``, ``UTC`` or ``+02:00``.

    Raises:
        SqlError: there is no such zone; without a position.
    """
    fixed = _OFFSET.fullmatch(name.strip())
    if name.strip().lower() in _UTC:
        return ZoneRules(np.empty(0, np.int64), np.zeros(1, np.int64))
    if fixed is not None:
        hours, minutes = int(fixed[2]), int(fixed[3] or 0)
        if hours * 60 + minutes <= 18 * 60 and minutes < 60:
            seconds = (hours * 60 + minutes) * 60 * (-1 if fixed[1] == "-" else 1)
            return ZoneRules(np.empty(0, np.int64), np.array([seconds]))
    data = _database(name) if name in _names() else None
    if data is None:
        hint = did_you_mean(name, _names()) if _names() else "install the package tzdata"
        raise SqlError(f"there is no time zone '{name}'; {hint}, or an offset such as +02:00")
    return _parsed(data)


@lru_cache(maxsize=1)
def _names() -> frozenset[str]:
    return frozenset(zoneinfo.available_timezones())


def _database(name: str) -> bytes | None:
    """The TZif data of a zone that exists."""
    for directory in zoneinfo.TZPATH:
        path = Path(directory, *name.split("/"))
        if path.is_file():
            return path.read_bytes()
    *folders, file = name.split("/")
    package = ".".join(("tzdata.zoneinfo", *folders))
    return resources.files(package).joinpath(file).read_bytes()


def _parsed(data: bytes) -> ZoneRules:
    """The changes in the data, and those by the rule behind them until the year 10,000."""
    _, size = _block(data, 0, 4)
    counts, size_8 = _block(data, size, 8)
    start = size + 44
    times, types = counts["times"], counts["types"]
    changes = np.frombuffer(data, ">i8", times, start).astype(np.int64)
    index = np.frombuffer(data, "u1", times, start + 8 * times)
    kinds = np.frombuffer(
        data, [("us", ">i4"), ("dst", "u1"), ("name", "u1")], types, start + 9 * times
    )
    offsets = kinds["us"].astype(np.int64)
    offsets = np.concatenate([offsets[:1], offsets[index]])
    footer = data[size + size_8 :].decode("ascii").strip("\n")
    later, behind = _by_rule(footer, int(changes[-1]) if times else None)
    return ZoneRules(np.concatenate([changes, later]), np.concatenate([offsets, behind]))


def _block(data: bytes, start: int, width: int) -> tuple[dict[str, int], int]:
    """The counts in the header of a block, and the size of both."""
    names = ("utc", "standard", "leaps", "times", "types", "characters")
    numbers = np.frombuffer(data, ">u4", 6, start + 20)
    counts = dict(zip(names, map(int, numbers), strict=True))
    size = 44 + counts["times"] * (width + 1) + counts["types"] * 6 + counts["characters"]
    size += counts["leaps"] * (width + 4) + counts["standard"] + counts["utc"]
    return counts, size


def _by_rule(footer: str, last: int | None) -> tuple[_Ints, _Ints]:
    """The changes behind the last one, and the offsets from each on."""
    nothing = np.empty(0, np.int64)
    found = _FOOTER.fullmatch(footer)
    if found is None or found[3] is None:
        return nothing, nothing
    standard = -_seconds(found[1])
    summer = -_seconds(found[2]) if found[2] else standard + 3_600
    first = (
        1970 if last is None else int(np.datetime64(last, "s").astype("M8[Y]").astype(int)) + 1970
    )
    years = np.arange(first, _LAST_YEAR + 1) - 1970
    begin = _days(found[3], years) * _DAY + _seconds(found[4] or "2") - standard
    end = _days(found[5], years) * _DAY + _seconds(found[6] or "2") - summer
    changes = np.concatenate([begin, end])
    offsets = np.repeat(np.array([summer, standard]), years.size)
    order = np.argsort(changes, kind="stable")
    order = order[changes[order] > (-(1 << 62) if last is None else last)]
    return changes[order], offsets[order]


def _seconds(text: str) -> int:
    """``[+-]hh[:mm[:ss]]`` in seconds."""
    parts = [int(p) for p in text.lstrip("+-").split(":")]
    total = sum(part * unit for part, unit in zip(parts, (3_600, 60, 1), strict=False))
    return -total if text.startswith("-") else total


def _days(rule: str, years: _Ints) -> _Ints:
    """The day of a rule in years since 1970, in days since 1970."""
    if not rule.startswith("M"):
        january = years.astype("M8[Y]").astype("M8[D]").astype(np.int64)
        number = int(rule.lstrip("J"))
        if not rule.startswith("J"):
            return january + number
        next_january = (years + 1).astype("M8[Y]").astype("M8[D]").astype(np.int64)
        leap = next_january - january == 366
        numbered: _Ints = january + number - 1 + (leap & (number >= 60))
        return numbered
    month, week, day = (int(n) for n in rule[1:].split("."))
    first = (years * 12 + month - 1).astype("M8[M]").astype("M8[D]").astype(np.int64)
    days = first + (day - (first + 4)) % 7 + 7 * (week - 1)  # 1970-01-01 was a Thursday
    behind = (years * 12 + month).astype("M8[M]").astype("M8[D]").astype(np.int64)
    last: _Ints = np.where(days >= behind, days - 7, days)
    return last
