"""What the demo's streams and queries are about, and results of theirs as sentences."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

Row = Mapping[str, Any]

#: Streams that belong together, and what they are.
STREAMS: Final = (
    (("connections",), "TCP connections of a laboratory, an hour of 1994"),
    (("newark", "kennedy", "laguardia"), "departures from New York, {months}"),
)
#: The reason of the demo's bad rows, and what it means.
NO_DEPARTURE: Final = "dep_ts is null"
CANCELLED: Final = (
    "are flights that were cancelled: they have no departure time, which is the event time, so "
    "they have no place in their stream. None is lost: they are in the bad-rows output, with the "
    f"reason '{NO_DEPARTURE}'."
)
_FATES: Final = {
    "S0": "got no answer from",
    "REJ": "was refused by",
    "RSTO": "broke off its connection to",
    "RSTR": "was cut off by",
}


class Subject(NamedTuple):
    """What a query looks for.

    Attributes:
        results: what its results are. sentence: says a row of them.
    """

    results: str
    sentence: Callable[[Row], str]


def _failed(row: Row) -> str:
    fate = _FATES[row["state"]]
    return (
        f"At {row['ts']:%H:%M:%S} host {row['src']} {fate} host {row['dst']} ({row['protocol']})."
    )


def _transfer(row: Row) -> str:
    size = "a file" if row["orig_bytes"] is None else f"{row['orig_bytes']:,} bytes"
    return f"Host {row['server']} sent {size} to host {row['client']} by FTP."


def _busy(row: Row) -> str:
    return f"Host {row['dst']} got {row['connections']} connections within a minute."


def _reader(row: Row) -> str:
    return f"Host {row['src']} reads web pages of host {row['dst']}."


def _unreachable(row: Row) -> str:
    return f"{row['failures']} of the last 5 connections to host {row['dst']} failed."


def _same_place(row: Row) -> str:
    return (
        f"Within minutes {row['carrier']} left for {row['dest']} from Newark "
        f"({row['from_newark']}), Kennedy ({row['from_kennedy']}) and LaGuardia "
        f"({row['from_laguardia']})."
    )


def _moved(row: Row) -> str:
    first, second = sorted(
        ((row["left_newark"], "Newark"), (row["left_laguardia"], "LaGuardia")),
    )
    return (
        f"Plane {row['tailnum']} of {row['airline']} left {first[1]} at {first[0]:%H:%M} and "
        f"{second[1]} at {second[0]:%H:%M}."
    )


def _late(row: Row) -> str:
    hours, minutes = divmod(row["dep_delay_min"], 60)
    return (
        f"{row['carrier']} {row['flight']} from {row['origin']} to {row['dest']} left {hours} h "
        f"{minutes} min late on {row['dep_ts']:%Y-%m-%d}."
    )


def _troubled(row: Row) -> str:
    return (
        f"{row['flights']} flights from Kennedy to {row['dest']} within two hours left "
        f"{row['mean_delay_min']:.0f} min late on average."
    )


def _airline_day(row: Row) -> str:
    return (
        f"{row['airline']}: {row['flights']} departures from Newark in a day, "
        f"{row['mean_delay_min']:.0f} min late on average."
    )


#: By query of the demo.
SUBJECTS: Final[Mapping[str, Subject]] = {
    "failed_connections": Subject("connections refused, reset or never answered", _failed),
    "ftp_transfers": Subject("files moved by FTP sessions", _transfer),
    "busy_links": Subject("bursts of connections to a host, each change", _busy),
    "web_readers": Subject("readers of web pages that come and go", _reader),
    "unreachable_hosts": Subject("hosts that failed 3 of 5 connections", _unreachable),
    "same_place_same_time": Subject("one airline, one place, three airports at once", _same_place),
    "planes_that_moved": Subject("planes that left two airports in one day", _moved),
    "very_late": Subject("flights five hours late or more", _late),
    "troubled_destinations": Subject("places with long delays from Kennedy", _troubled),
    "airline_day": Subject("delays of each airline at Newark, day by day", _airline_day),
}
