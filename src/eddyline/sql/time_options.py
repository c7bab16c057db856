"""What WITH says of event times: checked, and no option of the source."""

from __future__ import annotations

from typing import Final, Literal, cast, get_args

from eddyline.algebra.catalog import TimeUnit
from eddyline.errors import did_you_mean
from eddyline.sql.definitions import PlacedOptions
from eddyline.sql.source import Source

_UNITS: Final[tuple[str, ...]] = get_args(TimeUnit)


def taken_unit(options: PlacedOptions, source: Source) -> TimeUnit | None:
    """The unit of event times that come as numbers, which is removed from the options.

    Raises:
        SqlError: there is no such unit.
    """
    return cast("TimeUnit | None", _taken(options, "ts_unit", _UNITS, source))


def taken_lateness_by(options: PlacedOptions, source: Source) -> Literal["batch", "row"]:
    """What rows are late by, which is removed from the options.

    Raises:
        SqlError: there is no such thing.
    """
    found = _taken(options, "lateness_by", ("batch", "row"), source)
    return "row" if found == "row" else "batch"


def _taken(
    options: PlacedOptions, name: str, choices: tuple[str, ...], source: Source
) -> str | None:
    if name not in options:
        return None
    value, at, _ = options.pop(name)
    if value not in choices:
        raise source.error(at, f"unknown option {name} = '{value}'; {did_you_mean(value, choices)}")
    return value
