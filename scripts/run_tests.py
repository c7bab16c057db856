"""Runs the tests with Spark beside the others: both wait much of the time.

Usage: run_tests.py MARKS, which the tests have to fulfil, for instance "not long".

The output of the tests with Spark follows that of the others.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time

_PYTEST = (sys.executable, "-m", "pytest", "-q")
_LOOK_S = 1.0


def main(marks: str) -> int:
    """Run them; returns 0 if all have passed."""
    with tempfile.NamedTemporaryFile(suffix=".log") as log, open(log.name, "rb") as written:
        with_spark = [*_PYTEST, "-m", f"({marks}) and spark"]
        others = [*_PYTEST, "-m", f"({marks}) and not spark", "-n", "2", "--dist", "worksteal"]
        spark = subprocess.Popen(with_spark, stdout=log, stderr=log)
        try:
            failed = subprocess.run(others, check=False).returncode
            print("the tests with Spark:", flush=True)
            while spark.poll() is None:
                _show(written.read())
                time.sleep(_LOOK_S)
            _show(written.read())
        finally:
            spark.terminate()  # unless it has ended
    return failed or spark.returncode


def _show(output: bytes) -> None:
    sys.stdout.buffer.write(output)
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
