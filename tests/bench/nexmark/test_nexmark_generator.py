"""The generated rows: proportions, order, hot keys, values."""

from __future__ import annotations

from collections import Counter

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from eddyline.bench.nexmark.generator import Auctions

EVENTS = 100_000


@pytest.fixture(scope="module")
def rows() -> dict[str, pa.Table]:
    return Auctions(seed=1).rows(0, EVENTS)


def test_proportions(rows: dict[str, pa.Table]) -> None:
    assert {stream: table.num_rows for stream, table in rows.items()} == {
        "persons": EVENTS // 50,
        "auctions": EVENTS * 3 // 50,
        "bids": EVENTS * 46 // 50,
    }


def test_times_rise_at_the_rate_of_events(rows: dict[str, pa.Table]) -> None:
    for table in rows.values():
        times = table["dateTime"].cast(pa.int64()).to_numpy()
        assert (times[1:] >= times[:-1]).all()
        assert times[-1] - times[0] == pytest.approx(EVENTS * 100, abs=5_000)


@pytest.mark.parametrize("first", [0, 37, 12_345])
def test_the_same_call_makes_the_same_rows(first: int) -> None:
    assert Auctions(seed=2).rows(first, 1_000) == Auctions(seed=2).rows(first, 1_000)
    assert Auctions(seed=2).rows(first, 1_000) != Auctions(seed=3).rows(first, 1_000)


def test_parts_have_the_ids_and_times_of_the_whole(rows: dict[str, pa.Table]) -> None:
    parts = [Auctions(seed=1).rows(first, 1_234) for first in (0, 1_234, 2_468)]
    for stream, columns in {"persons": ["id", "dateTime"], "auctions": ["id", "dateTime"]}.items():
        joined = pa.concat_tables([part[stream] for part in parts]).select(columns)
        assert joined == rows[stream].select(columns).slice(0, joined.num_rows)


def test_ids_are_dense_and_those_of_others_exist(rows: dict[str, pa.Table]) -> None:
    persons, auctions, bids = rows["persons"], rows["auctions"], rows["bids"]
    for table in (persons, auctions):
        assert table["id"].to_pylist() == list(range(1_000, 1_000 + table.num_rows))
    unborn = 10
    for table, column, of in (
        (bids, "auction", auctions),
        (bids, "bidder", persons),
        (auctions, "seller", persons),
    ):
        assert pc.min(table[column]).as_py() >= 1_000
        assert pc.max(table[column]).as_py() < 1_000 + of.num_rows + unborn


def test_hot_keys(rows: dict[str, pa.Table]) -> None:
    for stream, column, rest, share in (
        ("bids", "auction", 0, 0.5),
        ("bids", "bidder", 1, 0.75),
        ("auctions", "seller", 0, 0.75),
    ):
        ids = rows[stream][column].to_numpy()
        assert (ids % 100 == rest).mean() == pytest.approx(share, abs=0.02)


def test_values(rows: dict[str, pa.Table]) -> None:
    auctions, bids = rows["auctions"], rows["bids"]
    prices = bids["price"].to_numpy()
    assert prices.min() >= 100
    assert prices.max() <= 10**8
    assert (prices < 100_000).mean() == pytest.approx(0.5, abs=0.02)  # log-uniform
    assert set(auctions["category"].to_pylist()) == {10, 11, 12, 13, 14}
    assert pc.all(pc.greater(auctions["expires"], auctions["dateTime"])).as_py()
    channels = Counter(bids["channel"].to_pylist())
    hot = sum(channels[name] for name in ("Google", "Facebook", "Baidu", "Apple"))
    assert hot / bids.num_rows == pytest.approx(0.5, abs=0.02)
    assert len(channels) > 9_000
    with_id = pc.match_substring(bids["url"], "&channel_id=").to_numpy()
    assert with_id.mean() == pytest.approx(0.45, abs=0.02)
    assert pc.all(
        pc.match_substring_regex(
            bids["url"],
            r"^https://www\.nexmark\.com/[a-z]{3,4}/[a-z]{3,4}/[a-z]{3,4}/item\.htm\?query=1",
        )
    ).as_py()


def test_sizes_of_rows(rows: dict[str, pa.Table]) -> None:
    def size(table: pa.Table, but: set[str]) -> float:
        columns = [c for c in table.column_names if c not in but]
        texts = [c for c in columns if pa.types.is_string(table[c].type)]
        length = sum(pc.mean(pc.binary_length(table[c])).as_py() for c in texts)
        return float(length + 8 * (len(columns) - len(texts)))

    assert size(rows["persons"], set()) == pytest.approx(200, rel=0.05)
    assert size(rows["auctions"], set()) == pytest.approx(500, rel=0.05)
    assert size(rows["bids"], {"channel", "url"}) == pytest.approx(100, rel=0.05)
