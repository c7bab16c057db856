"""The cases of other engines' test suites, shared by all who build on the project.

They lie beside the checkout, in ``<root>/../shared/oracles``; without them these tests skip.
"""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).resolve().parents[2].parent / "shared" / "oracles"


@dataclass(frozen=True)
class Published:
    """The folder of published cases."""

    folder: Path

    def cases(self, file: str, key: str) -> dict[str, dict[str, Any]]:
        """The cases that a JSON file lists under ``key``, by name."""
        listed = json.loads((self.folder / file).read_text())[key]
        return {case.get("id") or case["name"]: case for case in listed}

    def lines(self, file: str) -> list[str]:
        """The lines of a compressed text."""
        with gzip.open(self.folder / file, "rt") as text:
            return text.read().splitlines()


@pytest.fixture(scope="session")
def published() -> Published:
    if not FOLDER.is_dir():
        pytest.skip(f"the published cases are not there: {FOLDER}")
    return Published(FOLDER)
