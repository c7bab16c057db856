"""Which texts run as published."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from eddyline import SqlError
from eddyline.bench.nexmark.generator import Auctions
from eddyline.bench.nexmark.workload import NAMES, REWORDED, engine_of, published, text


def test_only_two_are_reworded() -> None:
    assert REWORDED == ("q6", "q21")
    assert all((text(name) == published(name)) == (name not in REWORDED) for name in NAMES)


def test_one_is_refused_as_published() -> None:
    with pytest.raises(SqlError, match="no column 'rownum'"):
        engine_of({}).sql(f"CREATE QUERY q AS {published('q6')}")


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
