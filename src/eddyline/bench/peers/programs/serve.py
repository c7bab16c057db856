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

#: Prepares a run (not measured) and gives the function that is measured; it may say itself how many
#: nanoseconds count.
Prepare = Callable[[str], Callable[[], Bag | tuple[Bag, int]]]


def serve(prepare: Prepare, processor_ns: Callable[[], int] = time.process_time_ns) -> None:
    """Answer until the input ends.

    Args:
        processor_ns: processor time so far; by default of this process.
    """
    out, sys.stdout = sys.stdout, sys.stderr  # libraries print, too
    _say(out, "ready")
    for line in sys.stdin:
        run = prepare(line.strip().removeprefix("run "))
        cpu, begin = processor_ns(), time.perf_counter_ns()
        found = run()
        wall = time.perf_counter_ns() - begin
        cpu = processor_ns() - cpu
        bag, wall = (found, wall) if isinstance(found, Bag) else found
        del run
        _say(out, f"{bag.rows} {bag.hashes} {wall} {cpu}")


def _say(out: Any, text: str) -> None:
    print(text, file=out, flush=True)
