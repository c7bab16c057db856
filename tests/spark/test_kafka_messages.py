"""Messages of all kinds, good and broken: each is a result, a bad row or a late row."""

from __future__ import annotations

import json
import time
import uuid
from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from eddyline.spark import Session

if TYPE_CHECKING:
    from eddyline.bench.kafka_broker import KafkaBroker

pytestmark = pytest.mark.spark

STREAM: Final = """
    CREATE STREAM s (
        id BIGINT, price DOUBLE PATH '$.order.price', name STRING PATH '$.order.names[0]',
        ms BIGINT, ts TIMESTAMP AS (timestamp_millis(ms)),
        part INT METADATA FROM 'partition', at BIGINT METADATA FROM 'offset'
    ) TIMESTAMP BY ts LATENESS 10 MINUTES AHEAD AT MOST 1 MINUTE
"""
#: What is done to a record; the share of messages.
WHOLE, OLD, CUT, NOISE, CHANGED, EMPTY, MISSING = range(7)
SHARES: Final = (0.6, 0.1, 0.1, 0.05, 0.1, 0.02, 0.03)
_NAMES: Final = ("plain", 'quo"ted', "back\\slash", "line\nbreak", "ü€😀", "\u2028", "{}", "")


def messages(n: int, seed: int) -> tuple[list[bytes | None], np.ndarray]:
    """Messages, and the kind of each. Their times end now: much later ones, which a changed byte
    can make, are bad.
    """
    begin_ms = time.time_ns() // 1_000_000 - n // 10
    rng = np.random.default_rng(seed)
    kinds = rng.choice(len(SHARES), n, p=SHARES)
    numbers, names = rng.integers(0, 2**31, n).tolist(), rng.integers(0, len(_NAMES), n).tolist()
    out: list[bytes | None] = []
    for i, kind in enumerate(kinds.tolist()):
        ms = begin_ms + i // 10 - (3_600_000 if kind == OLD else 0)
        record = {
            "id": i,
            "order": {"price": numbers[i] / 8, "names": [_NAMES[names[i]]]},
            "ms": ms,
        }
        text = json.dumps(record, indent=numbers[i] % 3 or None, ensure_ascii=numbers[i] % 2 == 0)
        out.append(_broken(text.encode(), kind, numbers[i]))
    return out, kinds


def _broken(record: bytes, kind: int, number: int) -> bytes | None:
    place = number % len(record)
    match kind:
        case 2:  # CUT: the last brace is missing at least
            return record[:place]
        case 3:  # NOISE
            return bytes((number >> shift) % 251 | 128 for shift in range(number % 23 + 1))
        case 4:  # CHANGED: one byte
            return record[:place] + bytes([number >> 8 & 255]) + record[place + 1 :]
        case 5:
            return b" " * (number % 3)
        case 6:
            return None
    return record


@pytest.mark.parametrize(
    "count", [100_000, pytest.param(1_000_000, marks=pytest.mark.long)], ids=str
)
def test_each_message_is_accounted_for(spark: SparkSession, kafka: KafkaBroker, count: int) -> None:
    topic = f"t{uuid.uuid4().hex[:12]}"
    sent, kinds = messages(count, seed=count)
    kafka.send(spark, topic, sent[::2])
    kafka.send(spark, topic, sent[1::2], partition=1)
    session = Session(spark, shards=2)
    session.sql(
        f"{STREAM} WITH ({kafka.source(topic)}, format = 'json', "
        f"maxOffsetsPerTrigger = {count // 4})"
    )
    session.query("q", "SELECT id, part, at FROM s [NOW]", sink="memory")
    session.start(available_now=True).finish()
    found = {name: places(session.results(name).toArrow()) for name in ("q", "bad:s", "late:s")}
    every = np.concatenate(list(found.values()))
    assert np.array_equal(np.sort(every), np.arange(count)), "each exactly once"
    of = {name: np.bincount(kinds[rows], minlength=len(SHARES)) for name, rows in found.items()}
    broken = [CUT, NOISE, EMPTY, MISSING]
    assert not (of["q"] + of["late:s"])[broken].any()
    assert not of["bad:s"][[WHOLE, OLD]].any()
    assert not of["late:s"][WHOLE].any() and of["late:s"][OLD] > count / 20
    assert all(rows.size > count / 20 for rows in found.values())


def places(rows: pa.Table) -> np.ndarray:
    """int64[n]: the numbers of messages."""
    part, at = (rows[name].cast(pa.int64()).to_numpy() for name in ("part", "at"))
    return at * 2 + part
