"""Measures what a viewer of the console costs an embedded engine.

Usage: console_cost.py [LOOKS]. A viewer in another process looks at the plan, as the page does
every two seconds. Printed is the engine's CPU time per look: with the demo's queries, and with ten
thousand rules. Whole runs with and without a viewer differ by less than their noise.
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))

from console_scenes import demo_engine, demo_rows, market_rows, rules_engine
from eddyline import Engine

#: As the page does.
_PERIOD_S = 2.0
_VIEWER = """
import sys, urllib.request
for _ in range(int(sys.argv[1])):
    for url in sys.argv[2:]:
        urllib.request.urlopen(url).read()
"""


def look_seconds(engine: Engine, looks: int) -> float:
    """CPU time of this process for one look."""
    with engine.console(read_only=True) as console:
        urls = [f"{console.url}parts/{part}" for part in ("head", "plan")]

        def view(times: int) -> None:
            subprocess.run([sys.executable, "-c", _VIEWER, str(times), *urls], check=True)

        view(3)
        began = time.process_time()
        view(looks)
        return (time.process_time() - began) / looks


def main(looks: int) -> None:
    """Print the cost of both engines."""
    demo, rules = demo_engine(), rules_engine(10_000)
    for piece in demo_rows(50):
        demo.process(piece)
    for piece in market_rows(20, 20, 100):
        rules.process(piece)
    for name, engine in (("the demo", demo), ("10,000 rules", rules)):
        seconds = look_seconds(engine, looks)
        share = seconds / _PERIOD_S
        print(f"{name}: {seconds * 1e3:.2f} ms of CPU per look, {share:.2%} of a core")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 50)
