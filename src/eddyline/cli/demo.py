"""The demo's script and data, laid out so that they play back in order."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from eddyline.shipped import examples


@contextmanager
def staged_demo() -> Iterator[Path]:
    """A copy of the examples for the time of the block; its script.

    Spark takes files in the order of their modification times. A checkout or an install gives them
    any; in the copy they follow the names, which are dates.
    """
    source = examples()
    with tempfile.TemporaryDirectory(prefix="eddyline-demo-") as directory:
        target = Path(directory) / "examples"
        shutil.copytree(source, target)
        for second, file in enumerate(sorted(target.rglob("*.parquet"))):
            os.utime(file, (second, second))
        yield target / "demo.sql"
