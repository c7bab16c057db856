"""Which texts run as published."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from eddyline import SqlError
from eddyline.bench.nexmark.generator import Auctions
from eddyline.bench.nexmark.workload import NAMES, REWORDED, batches_of, engine_of, published, text


def test_only_two_are_reworded() -> None:
    assert REWORDED == ("q6", "q21")
    assert all((text(name) == published(name)) == (name not in REWORDED) for name in NAMES)


def test_one_is_refused_as_published() -> None:
    with pytest.raises(SqlError, match="no column 'rownum'"):
        engine_of({}).sql(f"CREATE QUERY q AS {published('q6')}")


def test_the_frame_of_q6_over_rows_that_change() -> None:
    """The text with its two mistakes corrected, and an order of ties, has the reworded one's
    answer.
    """
    frame = published("q6").split("FROM (", 1)[0].replace("`dateTime`", "`dateTime`, Q.id")
    corrected = f"""
        {frame} AS average FROM (SELECT * FROM (
          SELECT A.id, A.seller, B.price, B.`dateTime`, ROW_NUMBER() OVER (
            PARTITION BY A.id, A.seller ORDER BY B.price DESC, B.`dateTime`) AS rownum
          FROM auction AS A, bid AS B
          WHERE A.id = B.auction AND B.`dateTime` BETWEEN A.`dateTime` AND A.expires)
        WHERE rownum <= 1) AS Q"""
    engine = engine_of({"corrected": corrected, "reworded": text("q6")})
    for rows, until_us in batches_of(Auctions(), 4_000, 1_000):
        engine.process(rows, watermark=until_us)
    answers = [
        sorted((r["seller"], round(r["average"])) for r in engine.queries[q].snapshot().to_pylist())
        for q in ("corrected", "reworded")
    ]
    assert len(answers[0]) > 100
    assert answers[0] == answers[1]


def test_this_one_runs_as_published_but_keeps_bids_without_channel() -> None:
    engine = engine_of({"published": published("q21"), "reworded": text("q21")})
    bids = Auctions().rows(0, 10_000)["bids"]
    changes = engine.process({"bids": bids})
    identified = changes["reworded"]
    assert changes["published"].num_rows == bids.num_rows > identified.num_rows
    more = changes["published"].filter(pc.field("channel_id") == "")
    assert more.num_rows == bids.num_rows - identified.num_rows


def test_characters_are_counted_as_by_the_function_of_the_suite() -> None:
    engine = engine_of(
        {"q": "SELECT count_char(extra, 'c') AS n, count_char(extra, url) AS u FROM bid"}
    )
    bids = Auctions().rows(0, 50)["bids"].slice(0, 3)
    bids = bids.set_column(6, "extra", pa.array(["ccac", "", None]))
    bids = bids.set_column(4, "url", pa.array(["a", "b", "c"]))
    changes = engine.process({"bids": bids})["q"]
    assert changes.select(["n", "u"]).to_pylist() == [
        {"n": 3, "u": 1},
        {"n": 0, "u": 0},
        {"n": None, "u": None},
    ]
