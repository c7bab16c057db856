"""Small streams as files."""

from __future__ import annotations

from pathlib import Path

import pytest

from spark_cases import Feed


@pytest.fixture
def feeds(tmp_path: Path) -> tuple[Feed, Feed]:
    return Feed(tmp_path / "a"), Feed(tmp_path / "b")
