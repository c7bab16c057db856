"""A peer that answers by its form: ``right``, ``wrong``, ``slow``, ``fails`` or ``nonsense``."""

from __future__ import annotations

import sys
import time

from eddyline.bench.peers.bags import Bag
from eddyline.bench.peers.programs.serve import serve


def prepare(form: str):  # type: ignore[no-untyped-def]
    if form == "fails":
        raise ValueError("this form fails")
    if form == "slow":
        time.sleep(60)
    return lambda: Bag(3, 7 if form == "right" else 8)


if __name__ == "__main__":
    if sys.argv[1] == "dies":
        sys.exit("RuntimeError: no rows")
    serve(prepare)
