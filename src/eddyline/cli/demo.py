"""The demo's script and data, laid out so that they play back in order."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import eddyline
from eddyline.errors import SetupError

_PACKAGE: Final = Path(eddyline.__file__).parent
#: In an installed package, and in a checkout.
_PLACES: Final = (_PACKAGE / "examples", _PACKAGE.parent.parent / "examples")


def examples() -> Path:
    """The directory of the examples.

    Raises:
        SetupError: they are not there.
    """
    for place in _PLACES:
        if (place / "demo.sql").exists():
            return place
    looked = " and ".join(str(p) for p in _PLACES)
    raise SetupError(
        f"the examples are not installed (looked in {looked}); they are in the directory "
        "'examples' of the project's source: run `eddyline run examples/demo.sql` there"
    )


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
