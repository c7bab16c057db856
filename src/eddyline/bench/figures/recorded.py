"""The two recorded traces that come with the examples: LBL connections and New York flights."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from eddyline.bench.figures.trace import UNIT_US, Trace, link_table
from eddyline.shipped import examples

_LINKS: Final = 3
_AIRPORTS: Final = ("newark", "laguardia", "kennedy")


def lbl_trace(replays: int = 10) -> Trace:
    """The LBL trace, its destinations dealt out to three links.

    The recorded hour is played ``replays`` times end to end with the same hosts, since it is
    shorter than what a measurement takes. A single destination makes no link here: hardly any
    source connects to two of the busy ones.
    """
    rows = _sorted(ds.dataset(examples() / "data/connections").to_table(), "ts")
    link_of = rows["dst"].to_numpy() % _LINKS
    ts_us = _microseconds(rows["ts"])
    hour_us = 3_600 * UNIT_US
    links = [_lbl_link(rows.filter(pa.array(link_of == n))) for n in range(_LINKS)]
    shifts = np.arange(replays) * hour_us - ts_us[0]
    unit = hour_us / (rows.num_rows / _LINKS)
    return Trace(
        name="lbl",
        about=f"LBL-PKT-4, {rows.num_rows:,} recorded connections, played {replays} times",
        links=tuple(_replayed(link, shifts, UNIT_US / unit) for link in links),
        few="ftp",
        many="smtp",
    )


def flights_trace() -> Trace:
    """The flights of 2013 that left New York, one link per airport.

    A flight's source is the plane, its destination the airport it flies to, its protocol the
    carrier, its duration the minutes in the air, its bytes the miles. Left out are flights that
    never left and those without a tail number.
    """
    airports = [_departed(name) for name in _AIRPORTS]
    planes = pa.chunked_array([c for t in airports for c in t["tailnum"].chunks]).unique()
    cities = pa.chunked_array([c for t in airports for c in t["dest"].chunks]).unique()
    first = min(_microseconds(t["dep_ts"])[0] for t in airports)
    last = max(_microseconds(t["dep_ts"])[-1] for t in airports)
    rows = sum(t.num_rows for t in airports)
    scale = UNIT_US * rows / len(airports) / (last - first)
    return Trace(
        name="flights",
        about=f"{rows:,} flights from New York's three airports in 2013",
        links=tuple(_flight_link(t, planes, cities, first, scale) for t in airports),
        few="DL",
        many="UA",
    )


def _lbl_link(rows: Any) -> Any:
    return link_table(
        _microseconds(rows["ts"]),
        rows["duration"],
        rows["protocol"],
        rows["orig_bytes"],
        rows["src"].to_numpy(),
        rows["dst"].to_numpy(),
    )


def _replayed(link: Any, shifts_us: Any, scale: float) -> Any:
    """The link's rows once per shift, in scaled time."""
    ts_us = _microseconds(link["ts"])
    times = np.concatenate([((ts_us + shift) * scale).astype(np.int64) for shift in shifts_us])
    again = pa.concat_tables([link] * len(shifts_us))
    src, dst = again["src"].to_numpy(), again["dst"].to_numpy()
    return link_table(times, again["duration"], again["protocol"], again["bytes"], src, dst)


def _departed(airport: str) -> Any:
    rows = ds.dataset(examples() / "data/flights" / airport).to_table()
    there = pc.and_(pc.is_valid(rows["dep_ts"]), pc.is_valid(rows["tailnum"]))
    return _sorted(rows.filter(there), "dep_ts")


def _flight_link(rows: Any, planes: Any, cities: Any, first_us: int, scale: float) -> Any:
    return link_table(
        ((_microseconds(rows["dep_ts"]) - first_us) * scale).astype(np.int64),
        rows["air_time_min"].cast(pa.float64()),
        rows["carrier"],
        rows["distance_mi"].cast(pa.int64()),
        pc.index_in(rows["tailnum"], planes).to_numpy().astype(np.int64),
        pc.index_in(rows["dest"], cities).to_numpy().astype(np.int64),
    )


def _sorted(rows: Any, column: str) -> Any:
    return rows.take(pc.sort_indices(rows, sort_keys=[(column, "ascending")]))


def _microseconds(ts: Any) -> Any:
    return ts.cast(pa.int64()).to_numpy()
