"""The options of WITH on event times: ``ts_unit`` and ``lateness_by``."""

from __future__ import annotations

from typing import Final, Literal, cast, get_args

from eddyline.algebra.catalog import TimeUnit
from eddyline.errors import did_you_mean
from eddyline.sql.definitions import PlacedOptions
from eddyline.sql.source import SourceText

_UNITS: Final[tuple[str, ...]] = get_args(TimeUnit)


def take_time_unit(options: PlacedOptions, source: SourceText) -> TimeUnit | None:
    """Remove ``ts_unit`` from the options: the unit of event times that are numbers.

    Raises:
        SqlError: the unit is unknown.
    """
    return cast("TimeUnit | None", _take(options, "ts_unit", _UNITS, source))


def take_lateness_by(options: PlacedOptions, source: SourceText) -> Literal["batch", "row"]:
    """Remove ``lateness_by`` from the options: whether lateness is decided per batch or per row.

    Raises:
        SqlError: the value is unknown.
    """
    found = _take(options, "lateness_by", ("batch", "row"), source)
    return "row" if found == "row" else "batch"


def _take(
    options: PlacedOptions, name: str, choices: tuple[str, ...], source: SourceText
) -> str | None:
    if name not in options:
        return None
    value, at, _ = options.pop(name)
    if value not in choices:
        raise source.error(at, f"unknown option {name} = '{value}'; {did_you_mean(value, choices)}")
    return value
