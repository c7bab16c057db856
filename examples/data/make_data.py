"""Make the demo's data from the two source files that README.md (beside this script) names.

    python examples/data/make_data.py LBL_CONNECTIONS.parquet NYCFLIGHTS13.parquet

What it changes: the LBL trace counts seconds from its start, here they become timestamps; both
are cut into files by time, so that Spark's file source streams them; the flights become one
stream per airport. No row is dropped, invented or altered otherwise.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import duckdb

HERE = Path(__file__).parent
#: Start of the LBL trace: Friday, 21 January 1994, 14:00 in California, in seconds since the epoch.
TRACE_START_S = 759_189_600
AIRPORTS = {"EWR": "newark", "JFK": "kennedy", "LGA": "laguardia"}
AIRLINES = {
    "9E": "Endeavor Air",
    "AA": "American Airlines",
    "AS": "Alaska Airlines",
    "B6": "JetBlue Airways",
    "DL": "Delta Air Lines",
    "EV": "ExpressJet Airlines",
    "F9": "Frontier Airlines",
    "FL": "AirTran Airways",
    "HA": "Hawaiian Airlines",
    "MQ": "Envoy Air",
    "OO": "SkyWest Airlines",
    "UA": "United Air Lines",
    "US": "US Airways",
    "VX": "Virgin America",
    "WN": "Southwest Airlines",
    "YV": "Mesa Airlines",
}


def write(select: str, target: Path) -> None:
    """Write the rows of a SELECT, in its order, to a Parquet file."""
    target.parent.mkdir(parents=True, exist_ok=True)
    duckdb.sql(f"COPY ({select}) TO '{target}' (FORMAT parquet, COMPRESSION zstd)")


def make_connections(source: Path) -> None:
    """The LBL trace in four quarters of an hour, in order of connection start."""
    for quarter in range(4):
        write(
            f"""
            SELECT make_timestamp({TRACE_START_S * 1_000_000} + round(ts * 1000000)::BIGINT)
                     ::TIMESTAMPTZ AS ts,
                   src, sport::INTEGER AS sport, dst, dport::INTEGER AS dport,
                   protocol, state, duration, orig_bytes, resp_bytes
            FROM '{source}'
            WHERE ts >= {quarter * 900} AND ts < {(quarter + 1) * 900}
            ORDER BY ts
            """,
            HERE / "connections" / f"1994-01-21T22{quarter * 15:02}.parquet",
        )


def make_flights(source: Path) -> None:
    """One stream per airport, a file per month, in the order of the timetable.

    The timetable's order is not the order of departure: a stream by ``dep_ts`` is out of order,
    and a cancelled flight has no ``dep_ts`` at all. Times are local ones, written as if UTC.
    """
    for code, name in AIRPORTS.items():
        for month in range(1, 13):
            write(
                f"""
                SELECT sched_dep_ts::TIMESTAMPTZ AS sched_dep_ts, dep_ts::TIMESTAMPTZ AS dep_ts,
                       dep_delay_min, arr_delay_min, air_time_min,
                       carrier, flight, tailnum, origin, dest, distance_mi
                FROM '{source}'
                WHERE origin = '{code}' AND month(sched_dep_ts) = {month}
                ORDER BY sched_dep_ts, seq
                """,
                HERE / "flights" / name / f"2013-{month:02}.parquet",
            )


def make_airlines() -> None:
    """The names behind the carrier codes."""
    rows = ", ".join(f"('{code}', '{name}')" for code, name in AIRLINES.items())
    write(
        f"SELECT * FROM (VALUES {rows}) AS t (carrier, name)",
        HERE / "airlines" / "airlines.parquet",
    )


def main() -> None:
    """Write ``connections/``, ``flights/`` and ``airlines/`` beside this script."""
    parser = argparse.ArgumentParser(description="Make the demo's data.")
    parser.add_argument("connections", type=Path, help="the LBL-PKT-4 connections, Parquet")
    parser.add_argument("flights", type=Path, help="the nycflights13 flights, Parquet")
    arguments = parser.parse_args()
    duckdb.sql("SET TimeZone = 'UTC'")
    make_connections(arguments.connections)
    make_flights(arguments.flights)
    make_airlines()


if __name__ == "__main__":
    main()
