"""The line protocol of a peer: ``run FORM`` is answered by the bag, and what it has cost.

A program reads the case and its rows first, and says ``ready``. Each line of its input is then a
run from an empty state over all rows; its answer is: rows and hash of the bag, nanoseconds from the
first row to the last result, and nanoseconds of processor time meanwhile.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

from eddyline.bench.peers.bags import Bag

#: Prepares a run (not measured) and gives the function that is measured.
Prepare = Callable[[str], Callable[[], Bag]]


def serve(prepare: Prepare) -> None:
    """Answer until the input ends."""
    out, sys.stdout = sys.stdout, sys.stderr  # libraries print, too
    _say(out, "ready")
    for line in sys.stdin:
        run = prepare(line.strip().removeprefix("run "))
        cpu, begin = time.process_time_ns(), time.perf_counter_ns()
        bag = run()
        wall = time.perf_counter_ns() - begin
        cpu = time.process_time_ns() - cpu
        del run
        _say(out, f"{bag.rows} {bag.hashes} {wall} {cpu}")


def _say(out: Any, text: str) -> None:
    print(text, file=out, flush=True)
