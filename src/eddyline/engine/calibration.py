"""Prices of this machine, as ``eddyline calibrate`` measured them, in the user's cache directory.

A file holds those of one version on one kind of processor, so machines may share a home.
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
from eddyline.version import VERSION

_CPU_INFO: Final = Path("/proc/cpuinfo")


def prices_of_machine() -> Prices:
    """The prices that were measured here; typical ones if none were.

    A file that cannot be read is ignored, with a warning.
    """
    return _read(prices_file())


def write_prices(prices: Prices) -> Path:
    """Keep measured prices for the engines to come; returns where."""
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
    hidden.replace(file)  # a reader sees all of it or the older one
    _read.cache_clear()
    return file


def prices_file() -> Path:
    """Where the prices of this version on this machine are kept."""
    home = os.environ.get("XDG_CACHE_HOME")
    directory = Path(home) if home else Path.home() / ".cache"
    words = re.sub(r"[^A-Za-z0-9.]+", "-", machine()).strip("-").lower()
    return directory / "eddyline" / f"prices-{VERSION}-{words}.json"


@cache
def machine() -> str:
    """What kind of processor this is."""
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
            "are taken; run `eddyline calibrate` again, or delete the file",
            stacklevel=2,
        )
        return TYPICAL
