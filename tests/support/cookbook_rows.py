"""Rows of the cookbook's pages, the same in each run: alerting, fraud, iot, and a list of all."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Final

import pyarrow as pa

import cookbook_business_rows as business
import cookbook_network_rows as networks
from cookbook_draw import Draw, Page, changes, stream


def alerting() -> Page:
    draw = Draw(1)
    hosts, services = ["web-1", "web-2", "db-1", "cache-1"], ["shop", "search", "login"]
    n = 420
    metrics = stream(
        draw.times(n),
        host=draw.of(n, hosts),
        service=draw.of(n, services),
        cpu=draw.numbers(n, 20, 100, 4),
        latency_ms=draw.numbers(n, 5, 900),
    )
    logs = stream(
        draw.times(300),
        host=draw.of(300, hosts),
        service=draw.of(300, services),
        level=draw.of(300, ["INFO", "WARN", "ERROR"], [5, 2, 3]),
        message=draw.of(
            300, ["ok", "disk full on /dev/sda1", "timeout after 30 s", "timeout after 5 s"]
        ),
    )
    beats = stream(draw.times(160), host=draw.of(160, hosts))
    checks = stream(
        draw.times(300),
        check=draw.of(300, ["http", "ping", "disk"]),
        status=draw.of(300, ["up", "down"], [3, 2]),
    )
    deploys = stream(
        draw.times(9),
        service=draw.of(9, services),
        version=[f"v{i}" for i in range(9)],
    )
    limits = pa.table(
        {"service": services[:2], "max_cpu": [90.0, 95.0], "max_latency_ms": [700, 800]}
    )
    silenced = changes(draw, 12, host=hosts)
    rows = {
        "metrics": metrics,
        "logs": logs,
        "heartbeats": beats,
        "checks": checks,
        "deploys": deploys,
    }
    return rows | {"silenced": silenced}, {"limits": limits}


def fraud() -> Page:
    draw = Draw(2)
    cards, places = [f"card-{i}" for i in range(6)], ["DE", "FR", "US"]
    payments = stream(
        draw.times(240),
        card=draw.of(100, cards[:4]) + draw.of(140, cards),
        merchant=draw.of(240, ["acme", "bazaar", "casino", "diner"]),
        country=draw.of(240, places, [6, 2, 1]),
        amount=draw.of(240, [1.5, 9.75, 12.5, 60.0, 250.0, 320.25, 480.0]),
        approved=draw.of(240, [True, False], [5, 1]),
    )
    logins = stream(
        draw.times(500),
        account=draw.of(500, ["ann", "bob", "cem", "dee", "eve", "fay"]),
        ip=draw.of(500, [f"10.0.0.{i}" for i in range(4)]),
        country=draw.of(500, places, [6, 2, 1]),
        ok=draw.of(500, [True, False], [1, 2]),
    )
    people = [f"p{i}" for i in range(7)]
    pairs = [draw.random.sample(people, 2) for _ in range(220)]
    transfers = stream(
        draw.times(220),
        id=list(range(220)),
        sender=[a for a, _ in pairs],
        receiver=[b for _, b in pairs],
        amount=draw.numbers(220, 50, 90),
    )
    merchants = pa.table(
        {
            "merchant": ["acme", "bazaar", "casino", "diner"],
            "category": ["tools", "goods", "games", "food"],
            "risk": pa.array([1, 2, 5, 1], pa.int32()),
        }
    )
    rows = {"payments": payments, "logins": logins, "transfers": transfers}
    rows["blocked"] = changes(draw, 14, ip=[f"10.0.0.{i}" for i in range(4)])
    rows["watchlist"] = changes(draw, 10, card=cards[:4], reason=["stolen", "lost", "test", "lost"])
    return rows, {"merchants": merchants}


def iot() -> Page:
    draw = Draw(3)
    devices = [f"d{i}" for i in range(5)]
    n = 420
    readings = stream(
        draw.times(n),
        device=draw.of(n, devices[:4]),
        temperature=draw.numbers(n, 12, 36, 4),
        humidity=draw.numbers(n, 30, 90, 2),
        battery=draw.numbers(n, 2, 4, 64),
    )
    motion = stream(draw.times(150), device=draw.of(150, ["m1", "m2"]))
    kwh = sorted(draw.numbers(60, 100, 900))
    meters = stream(draw.times(60), meter=draw.of(60, ["east", "west"]), kwh=kwh)
    weather = stream(draw.times(40), floor=draw.of(40, [1, 2]), outside=draw.numbers(40, -5, 15, 2))
    commands = stream(
        draw.times(60),
        id=list(range(60)),
        device=draw.of(60, devices),
        command=draw.of(60, ["on", "off", "reset"]),
    )
    sent = draw.random.sample(range(60), 45)
    answered = sorted(
        (commands["ts"][i].as_py() + timedelta(milliseconds=draw.random.randint(900, 900_000)), i)
        for i in sent
    )
    acks = stream([t for t, _ in answered], id=[i for _, i in answered])
    known = pa.table(
        {
            "device": devices,
            "room": ["hall", "hall", "lab", "lab", "roof"],
            "floor": pa.array([1, 1, 2, 2, 3], pa.int32()),
        }
    )
    weather = weather.set_column(1, "floor", weather["floor"].cast(pa.int32()))
    rows = {"readings": readings, "motion": motion, "meters": meters, "weather": weather}
    rows |= {"commands": commands, "acks": acks}
    rows["offsets"] = changes(draw, 16, device=devices[:4], degrees=[0.5, -0.25, 1.0, 0.75])
    return rows, {"devices": known}


PAGES: Final[dict[str, Callable[[], Page]]] = {
    "network": networks.network,
    "operations": networks.operations,
    "alerting": alerting,
    "fraud": fraud,
    "iot": iot,
    "clickstream": business.clickstream,
    "finance": business.finance,
}


def rows_of_page(page: str) -> Page:
    """The rows of streams and of changing tables, and the contents of static tables."""
    return PAGES[page]()
