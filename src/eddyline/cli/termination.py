"""SIGTERM, which asks a command to end in order."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def termination_event() -> Iterator[threading.Event]:
    """An event that SIGTERM sets in the block; a second SIGTERM ends the process."""
    event = threading.Event()
    before = signal.getsignal(signal.SIGTERM)

    def set_event(number: int, frame: object) -> None:
        signal.signal(signal.SIGTERM, before)
        event.set()

    if threading.current_thread() is not threading.main_thread():  # only it receives signals
        yield event
        return
    signal.signal(signal.SIGTERM, set_event)
    try:
        yield event
    finally:
        signal.signal(signal.SIGTERM, before)
