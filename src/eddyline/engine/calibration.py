"""Prices measured by ``eddyline calibrate``, in files in the user's cache directory.

There is one file per version and processor model, so machines may share a home directory.
"""

from __future__ import annotations

import json
import os
import platform
import re
import warnings
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Final

from eddyline.optimizer.prices import TYPICAL, Prices
from eddyline.user_cache import cache_directory
from eddyline.version import VERSION

_CPU_INFO: Final = Path("/proc/cpuinfo")


def prices_of_machine() -> Prices:
    """The measured prices of this machine, else the typical ones.

    A file that cannot be read is ignored, with a warning.
    """
    return _read(prices_file())


def write_prices(prices: Prices) -> Path:
    """Write measured prices; returns the file."""
    file = prices_file()
    file.parent.mkdir(parents=True, exist_ok=True)
    content = {
        "version": VERSION,
        "machine": machine(),
        "measured": datetime.now(UTC).isoformat(timespec="seconds"),
        "prices": prices.as_dict(),
    }
    hidden = file.with_name(f".{file.name}.{os.getpid()}")
    hidden.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    hidden.replace(file)  # atomic for readers
    _read.cache_clear()
    return file


def prices_file() -> Path:
    """The file with the prices of this version on this machine."""
    words = re.sub(r"[^A-Za-z0-9.]+", "-", machine()).strip("-").lower()
    return cache_directory() / f"prices-{VERSION}-{words}.json"


@cache
def machine() -> str:
    """The model of the processor."""
    if _CPU_INFO.exists():
        names = re.findall(r"^model name\s*: (.+)$", _CPU_INFO.read_text(), re.MULTILINE)
        if names:
            return str(names[0]).strip()
    return platform.processor() or platform.machine()


@cache
def _read(file: Path) -> Prices:
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
        return Prices.from_dict(content["prices"])
    except FileNotFoundError:
        return TYPICAL
    except (OSError, ValueError, TypeError, KeyError) as e:
        warnings.warn(
            f"the measured prices in {file} cannot be read ({type(e).__name__}: {e}): typical ones "
            "are used; run `eddyline calibrate` again, or delete the file",
            stacklevel=2,
        )
        return TYPICAL
