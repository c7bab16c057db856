"""Hypothesis profiles, and one Spark session for all tests.

The profile ``ci``, the default, repeats the same cases; ``long`` tries new ones.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from eddyline.user_cache import CONNECTORS, cache_directory, connectors_directory

_COMMON: dict[str, Any] = {
    "deadline": None,  # kernels compile in the first case
    "suppress_health_check": [HealthCheck.too_slow, HealthCheck.data_too_large],
    "print_blob": True,
}
settings.register_profile("ci", max_examples=20, derandomize=True, database=None, **_COMMON)
settings.register_profile("long", max_examples=300, **_COMMON)
settings.load_profile(os.environ.get("EDDYLINE_HYPOTHESIS_PROFILE", "ci"))

#: Here and in what the tests start: the connectors that `make setup-connectors` has fetched.
os.environ[CONNECTORS] = str(connectors_directory())


def _cache_of_tests() -> Path:
    """A user's cache with the archives of Spark's classes that ``make setup`` has made, but without
    prices that were measured on this machine, which would change plans.
    """
    home = Path(__file__).parents[1] / ".pytest_cache" / "home"
    ours = home / "eddyline"
    ours.mkdir(parents=True, exist_ok=True)
    for archive in cache_directory().glob("*.jsa"):
        link = ours / f".{archive.name}.{os.getpid()}"
        link.symlink_to(archive)
        link.replace(ours / archive.name)  # atomic: others may start Java now
    return home


#: Here and in what the tests start.
os.environ["XDG_CACHE_HOME"] = str(_cache_of_tests())


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    from eddyline.spark.environment import local_session
    from short_lived_java import SHORT_LIVED_JAVA

    session = local_session(2, properties={"spark.driver.extraJavaOptions": SHORT_LIVED_JAVA})
    yield session
    session.stop()


@pytest.fixture(scope="session", autouse=True)
def _arrays_that_batches_share_stay() -> Iterator[None]:
    """Nothing that the tests run writes into signs, and expiries of rows that stay for ever."""
    yield
    import numpy as np

    from eddyline.runtime.batch import insertions
    from eddyline.runtime.stores.stem import EndlessWindow
    from eddyline.types import FOREVER

    assert insertions(64).tolist() == [1] * 64
    times = np.zeros(64, np.int64)
    assert EndlessWindow(keep=False).expiry(times).tolist() == [FOREVER] * 64


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "spark" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.spark)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    from fault_record import table

    if lines := table():
        terminalreporter.section("faults, and the results after each")
        for line in lines:
            terminalreporter.write_line(line)
