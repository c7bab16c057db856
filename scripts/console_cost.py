"""Measures what the console costs an embedded engine: with and without a viewer, in turns.

Usage: console_cost.py [TURNS]. A turn processes the demo's rows with the demo's queries in both
ways, each with a new engine. Printed are CPU time and time by the clock with a viewer that has the
plan open, in relation to those without.
"""

from __future__ import annotations

import sys
import threading
import time
import urllib.request
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))

from console_scenes import demo_engine, demo_rows

_PIECES = 300
#: As the page does.
_PERIOD_S = 2.0


def turn(*, looked_at: bool) -> tuple[float, float]:
    """Process all rows; CPU time and time by the clock, in seconds."""
    engine = demo_engine()
    pieces = list(demo_rows(_PIECES))
    engine.process(pieces[0])
    with engine.console(read_only=True) as console:
        ended = threading.Event()

        def look() -> None:
            while not ended.is_set():
                for part in ("head", "plan"):
                    urllib.request.urlopen(f"{console.url}parts/{part}").read()
                ended.wait(_PERIOD_S)

        viewer = threading.Thread(target=look)
        if looked_at:
            viewer.start()
        cpu, clock = time.process_time(), time.perf_counter()
        for piece in pieces[1:]:
            engine.process(piece)
        spent = time.process_time() - cpu, time.perf_counter() - clock
        ended.set()
        if looked_at:
            viewer.join()
    return spent


def main(turns: int) -> None:
    """Print the relation of both."""
    turn(looked_at=False)  # compiles
    ratios = []
    for number in range(turns):
        order = (False, True) if number % 2 else (True, False)
        found = {looked_at: turn(looked_at=looked_at) for looked_at in order}
        ratios.append([a / b for a, b in zip(found[True], found[False], strict=True)])
        print(
            f"turn {number + 1}: CPU time x {ratios[-1][0]:.3f}, clock x {ratios[-1][1]:.3f}",
            flush=True,
        )
    cpu, clock = (median(column) for column in zip(*ratios, strict=True))
    print(f"median of {turns} turns: CPU time x {cpu:.3f}, clock x {clock:.3f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10)
