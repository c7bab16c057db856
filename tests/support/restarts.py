"""Engines that are stopped and continued."""

from __future__ import annotations

import io

from eddyline import Engine


def restarted(engine: Engine) -> Engine:
    """Another engine that continues where this one is."""
    saved = io.BytesIO()
    engine.save(saved)
    saved.seek(0)
    return Engine.load(saved)
