"""What a script needs and this machine lacks."""

from __future__ import annotations

from pathlib import Path

import pytest

from eddyline.spark.script import Script
from eddyline.spark.sources import surroundings
from eddyline.spark.sources.surroundings import missing_here
from protobuf_orders import descriptors, orders


def test_the_library_for_records_of_protobuf(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "o.desc").write_bytes(descriptors(orders()))
    (tmp_path / "in").mkdir()
    script = Script()
    text = """CREATE STREAM s (`at` TIMESTAMP) TIMESTAMP BY `at` WITH (source = 'text', path = 'in',
        format = 'protobuf', descriptor_file = 'o.desc', message = 'shop.Order')"""
    list(script.run(text, tmp_path))
    streams = script.streams.values()
    assert list(missing_here(streams, [], tmp_path)) == []
    monkeypatch.setattr(surroundings, "find_spec", lambda name: None)
    assert list(missing_here(streams, [], tmp_path)) == [
        "stream 's': pip install 'eddyline[protobuf]' is needed"
    ]


@pytest.mark.parametrize(
    ("sink", "extra"),
    [
        ("sink = 'delta', path = 'out'", "delta"),
        ("sink = 'iceberg', table = 'lake.t', catalog_name = 'c'", "iceberg"),
        ("sink = 'postgres', table = 't'", "postgres"),
    ],
)
def test_the_packages_of_sinks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sink: str, extra: str
) -> None:
    script = Script()
    stream = "CREATE STREAM s (ts TIMESTAMP, k BIGINT) TIMESTAMP BY ts"
    list(script.run(f"{stream}; CREATE QUERY q AS SELECT k FROM s [NOW] WITH ({sink})", tmp_path))
    monkeypatch.setattr(surroundings, "find_spec", lambda name: None)
    assert list(missing_here([], script.queries.values(), tmp_path)) == [
        f"'q': pip install 'eddyline[{extra}]' is needed"
    ]
