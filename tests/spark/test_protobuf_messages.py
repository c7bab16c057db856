"""Messages of Protobuf through Kafka: each is a row or a bad row, whatever its bytes are."""

from __future__ import annotations

import random
import time
import uuid
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from pyspark.sql import SparkSession

from avro_bytes import framed
from eddyline.spark import Session
from protobuf_orders import descriptors, message, orders

if TYPE_CHECKING:
    from eddyline.bench.kafka_broker import KafkaBroker

pytestmark = pytest.mark.spark

#: Of the message in the file: the second one.
FRONT = b"\2\2"


def sent(count: int, chance: random.Random) -> tuple[list[bytes | None], list[str]]:
    """Messages, and what each one is: ``whole``, ``cut``, ``other`` (a wrong number or type in
    front), ``noise`` or ``changed``. Their times end now: much later ones, which a changed byte can
    make, are bad.
    """
    begin = int(time.time()) - count // 1000
    of = message("shop.Order", orders())
    values: list[bytes | None] = []
    kinds: list[str] = []
    for i in range(count):
        order = of(id=i, price=i / 4, note="n", items=[{"name": f"é{i}", "count": i}], sizes=[i])
        order.at.FromSeconds(begin + i // 1000)
        data = framed(7, FRONT + order.SerializeToString())
        kind = chance.choice(["whole", "whole", "cut", "other", "noise", "changed", "none"])
        if kind == "cut":
            data = data[: chance.choice([chance.randrange(7), len(data) - 1])]
        elif kind == "other":
            data = framed(8, data[5:]) if i % 2 else framed(7, b"\0" + data[7:])
        elif kind == "noise":
            data = chance.randbytes(chance.randrange(60))
        elif kind == "changed":
            at = chance.randrange(7, len(data))
            data = data[:at] + chance.randbytes(1) + data[at + 1 :]
        values.append(None if kind == "none" else data)
        kinds.append(kind)
    return values, kinds


@pytest.mark.parametrize("count", [10_000, pytest.param(200_000, marks=pytest.mark.long)], ids=str)
def test_each_message_is_accounted_for(
    spark: SparkSession, kafka: KafkaBroker, tmp_path: Path, count: int
) -> None:
    (tmp_path / "o.desc").write_bytes(descriptors(orders()))
    topic = f"t{uuid.uuid4().hex[:12]}"
    values, kinds = sent(count, random.Random(count))
    kafka.send(spark, topic, values)
    session = Session(spark, shards=2, base=tmp_path)
    session.sql(
        f"""CREATE STREAM s (id BIGINT, `at` TIMESTAMP, note STRING, name STRING PATH
        '$.items[0].name', sizes ARRAY<INT>, place BIGINT METADATA FROM 'offset')
        TIMESTAMP BY `at` LATENESS 1 DAY AHEAD AT MOST 1 MINUTE
        WITH ({kafka.source(topic)}, format = 'protobuf',
        descriptor_file = 'o.desc', message = 'shop.Order', wire = 'confluent', schema_id = '7',
        maxOffsetsPerTrigger = {count // 3})"""
    )
    session.query("q", "SELECT * FROM s [NOW]", sink="memory")
    session.start(available_now=True).finish()
    good = session.results("q").toArrow().to_pylist()
    bad, late = (session.results(f"{of}:s").toArrow().to_pylist() for of in ("bad", "late"))
    places = sorted(int(row["place"]) for row in [*good, *bad, *late])
    assert places == list(range(count)), "each exactly once"
    whole = {place for place, kind in enumerate(kinds) if kind == "whole"}
    assert whole <= {row["place"] for row in good}
    for row in good:
        place = row["place"]
        assert kinds[place] in ("whole", "changed")
        if place in whole:
            found = (row["id"], row["note"], row["name"], row["sizes"])
            assert found == (place, "n", f"é{place}", [place])
    for row in bad:
        kind, value = kinds[int(row["place"])], values[int(row["place"])]
        if kind in ("cut", "other", "noise"):
            assert value is not None
            assert row["_reason"].endswith(f"; its bytes: {value.hex()}")
    assert len(bad) > count / 2
