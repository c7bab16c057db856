"""What is held for a watermark is bounded by the batches, and reported."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from eddyline.spark.formats.format_options import with_limit
from eddyline.spark.operation.held_rows import HeldRowsWarning


def report(size: int, holder: str | None = "b") -> dict[str, Any]:
    group = {"members": ["a", "b"], "held": size // 100, "held_bytes": size, "held_by": holder}
    return {"groups": [group]}


def test_the_log_warns_once_until_the_size_has_been_halved(
    caplog: pytest.LogCaptureFixture,
) -> None:
    warning = HeldRowsWarning(1_000_000)
    with caplog.at_level(logging.WARNING):
        for sizes in ((400_000, 500_000), (600_000, 500_000), (2_000_000, 0), (300_000, 300_000)):
            warning.check([report(size) for size in sizes])
        assert len(caplog.messages) == 1
        assert caplog.messages[0].startswith(
            "11,000 rows (1.1 MB) of a, b wait for the watermark, which b holds: limit the batches"
        )
        warning.check([report(400_000)])
        warning.check([report(1_500_000, holder=None)])
        assert "which LATENESS holds" in caplog.messages[1]


@pytest.mark.parametrize(
    ("format_", "options", "added"),
    [
        ("parquet", {}, {"maxBytesPerTrigger": "268435456"}),
        ("json", {"MAXFILESPERTRIGGER": "1"}, {}),
        ("csv", {"maxBytesPerTrigger": "1g"}, {}),
        ("kafka", {"minOffsetsPerTrigger": "5"}, {"maxOffsetsPerTrigger": "1000000"}),
        ("kafka", {"maxOffsetsPerTrigger": "7"}, {}),
        ("delta", {}, {}),
        ("rate", {}, {}),
    ],
)
def test_a_batch_of_a_source_has_a_bound(
    format_: str, options: dict[str, str], added: dict[str, str]
) -> None:
    assert with_limit(format_, options) == options | added
