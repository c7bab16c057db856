"""Rows of the cookbook's pages: network, operations."""

from __future__ import annotations

import json
from datetime import datetime, timedelta

import pyarrow as pa

from cookbook_draw import Draw, Page, changes, stream


def network() -> Page:
    draw = Draw(6)
    ips = [f"10.0.0.{i}" for i in range(6)]
    n = 520
    flows = stream(
        draw.times(n),
        src=draw.of(n, ips, [8, 5, 4, 3, 2, 1]),
        dst=draw.of(n, ips[:3]),
        port=pa.array(draw.of(n, [22, 53, 80, 443, 5432, 6379, 8080, 9092]), pa.int32()),
        bytes=draw.numbers(n, 40, 9000),
    )
    lookups = stream(
        draw.times(260),
        client=draw.of(260, ips),
        name=draw.of(260, ["a.example", "b.example", "c.example"]),
        rcode=draw.of(260, ["NOERROR", "NXDOMAIN"], [3, 2]),
    )
    requests = stream(
        draw.times(300),
        host=draw.of(300, ["web1", "web2", "api1"]),
        status=pa.array(draw.of(300, [200, 404, 500], [8, 1, 1]), pa.int32()),
        ms=draw.numbers(300, 1, 400, 4),
        tags=[
            draw.random.sample(["slow", "cached", "beta"], draw.random.randint(0, 3))
            for _ in range(300)
        ],
        peer=pa.array(
            [
                {"ip": draw.random.choice(ips), "asn": draw.random.choice([64500, 64501])}
                for _ in range(300)
            ],
            pa.struct([("ip", pa.string()), ("asn", pa.int64())]),
        ),
        body=[
            json.dumps(
                {
                    "version": draw.random.choice(["1.0", "1.1", "2.0"]),
                    "retries": draw.random.randint(0, 9),
                }
            )
            for _ in range(300)
        ],
    )
    hosts = pa.table({"ip": ips[:5], "owner": ["a", "a", "b", "b", "c"], "vlan": [1, 1, 1, 2, 2]})
    rows = {"flows": flows, "lookups": lookups, "requests": requests}
    ports = pa.array([80, 443, 22, 53], pa.int32())
    rows["allowed"] = changes(draw, 24, dst=[*ips[:3], ips[0]], port=ports.to_pylist())
    rows["allowed"] = rows["allowed"].set_column(
        3, "port", rows["allowed"]["port"].cast(pa.int32())
    )
    return rows, {"hosts": hosts}


def operations() -> Page:
    draw = Draw(7)
    n = 220
    ordered = draw.times(n)
    orders = stream(
        ordered,
        id=list(range(n)),
        customer=draw.of(n, ["ann", "bob", "cem", "dia"]),
        city=draw.of(n, ["Lyon", "Oslo"]),
        amount=draw.numbers(n, 5, 200, 4),
    )

    def after(share: float, longest_s: int) -> list[tuple[datetime, int]]:
        """Later times for some of the orders, in order."""
        found = [
            (at + timedelta(seconds=draw.random.randint(1, longest_s), microseconds=500 + i), i)
            for i, at in enumerate(ordered)
            if draw.random.random() < share
        ]
        return sorted(found)

    paid, shipped = after(0.8, 3000), after(0.7, 8000)
    payments = stream(
        [at for at, _ in paid],
        order_id=[i for _, i in paid],
        method=draw.of(len(paid), ["card", "cash"]),
    )
    shipments = stream(
        [at for at, _ in shipped],
        order_id=[i for _, i in shipped],
        carrier=draw.of(len(shipped), ["north", "south"]),
    )
    scans = stream(
        draw.times(380),
        parcel=draw.of(380, range(40)),
        depot=draw.of(380, ["D1", "D2", "D3"]),
        state=draw.of(380, ["in", "out", "failed", "returned"], [4, 4, 2, 2]),
    )
    moves = stream(
        draw.times(240),
        sku=draw.of(240, ["pen", "ink", "pad"]),
        depot=draw.of(240, ["D1", "D2"]),
        qty=draw.numbers(240, -20, 30),
    )
    depots = pa.table({"depot": ["D1", "D2", "D3"], "region": ["N", "N", "S"]})
    rows = {"orders": orders, "payments": payments, "shipments": shipments}
    rows |= {"scans": scans, "moves": moves}
    rows["holds"] = changes(draw, 10, customer=["ann", "bob", "cem"])
    return rows, {"depots": depots}
