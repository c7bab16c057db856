"""Hypothesis profiles: ``ci``, the default, repeats the same cases; ``long`` tries new ones."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

_COMMON = {
    "deadline": None,  # kernels compile in the first case
    "suppress_health_check": [HealthCheck.too_slow, HealthCheck.data_too_large],
    "print_blob": True,
}
settings.register_profile("ci", max_examples=100, derandomize=True, database=None, **_COMMON)
settings.register_profile("long", max_examples=1000, **_COMMON)
settings.load_profile(os.environ.get("EDDYLINE_HYPOTHESIS_PROFILE", "ci"))
