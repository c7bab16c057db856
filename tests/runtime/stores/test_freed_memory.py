"""Memory that a chunk frees is there for the next one, without new pages."""

from __future__ import annotations

import os
import platform
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="a setting of Linux's C library")

FAULTS = """
import resource
import numpy as np
from eddyline import Engine

def faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    chunk = [np.ones(3_000_000) for _ in range(4)]  # 24 MB each
    del chunk
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

if {with_engine}:
    Engine()
faults(), faults()  # the C library learns from the first ones
print(faults())
"""


def faults(*, with_engine: bool, **variables: str) -> int:
    """Number of pages that a chunk of 24,000 pages faults in."""
    done = subprocess.run(
        [sys.executable, "-c", FAULTS.format(with_engine=with_engine)],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=True,
    )
    return int(done.stdout)


@pytest.mark.skipif(not platform.libc_ver()[0], reason="another C library")
def test_an_engine_keeps_the_pages_of_a_chunk() -> None:
    assert faults(with_engine=True) < 1_000 < faults(with_engine=False)


def test_limits_of_the_user_are_kept() -> None:
    assert faults(with_engine=True, MALLOC_TRIM_THRESHOLD_="65536") > 1_000
