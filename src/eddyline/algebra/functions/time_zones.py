"""Functions that convert between UTC and the local times of zones."""

from __future__ import annotations

from typing import Final

import pyarrow as pa
import pyarrow.types as pt

from eddyline.algebra.expressions import Call, Expr, Literal
from eddyline.algebra.functions.coercion import implicit
from eddyline.algebra.functions.registry import define
from eddyline.algebra.functions.strings import constant
from eddyline.algebra.functions.zone_rules import zone_rules
from eddyline.types import TIMESTAMP

_FAMILY: Final = "Dates and times"


def _converted(name: str, moment: Expr | None, zones: tuple[Expr, ...]) -> Expr | None:
    """The call of a kernel with the names of its zones, which are constants."""
    if moment is None or not all(pt.is_string(z.type) for z in zones):
        return None
    names = [constant(name, zone) for zone in zones]
    if any(n is None for n in names):
        return Literal(TIMESTAMP, None)
    for zone in names:
        zone_rules(str(zone))
    return Call(TIMESTAMP, name, (moment, *(Literal(pa.string(), n) for n in names)))


@define(
    _FAMILY,
    "from_utc_timestamp",
    ["from_utc_timestamp(timestamp, 'zone')", "timestamp AT TIME ZONE 'zone'"],
    "The local time in a zone, such as Europe/Berlin or +02:00.",
)
def _from_utc(args: tuple[Expr, ...]) -> Expr | None:
    if len(args) != 2:
        return None
    return _converted("from_utc_timestamp", implicit(args[0], TIMESTAMP), args[1:])


@define(
    _FAMILY,
    "to_utc_timestamp",
    "to_utc_timestamp(timestamp, 'zone')",
    "The instant of a local time in a zone; of a time that is twice, the first, and a time that "
    "is left out is moved by what is left out.",
)
def _to_utc(args: tuple[Expr, ...]) -> Expr | None:
    if len(args) != 2:
        return None
    return _converted("to_utc_timestamp", implicit(args[0], TIMESTAMP), args[1:])


@define(
    _FAMILY,
    "convert_timezone",
    ["convert_timezone('from', 'to', timestamp)", "convert_timezone('to', timestamp)"],
    "A local time in one zone, by default UTC, as the local time in another.",
)
def _convert(args: tuple[Expr, ...]) -> Expr | None:
    if len(args) not in (2, 3):
        return None
    moment = implicit(args[-1], TIMESTAMP)
    if len(args) == 2:
        return _converted("from_utc_timestamp", moment, args[:1])
    instant = _converted("to_utc_timestamp", moment, args[:1])
    return _converted("from_utc_timestamp", instant, args[1:2])
