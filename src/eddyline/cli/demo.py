"""The demo's script and data, with file times that give the order of playback."""

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
    """The script in a temporary copy of the examples, which exists during the block.

    Spark reads files in the order of their modification times, which are arbitrary after a checkout
    or an install. In the copy they follow the names, which are dates.
    """
    source = examples()
    with tempfile.TemporaryDirectory(prefix="eddyline-demo-") as directory:
        target = Path(directory) / "examples"
        shutil.copytree(source, target)
        for second, file in enumerate(sorted(target.rglob("*.parquet"))):
            os.utime(file, (second, second))
        yield target / "demo.sql"
