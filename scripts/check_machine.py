"""Check that the machine has what `make setup` cannot install: Python, venv and Java.

Runs under any Python 3.6 or newer, so that an old one is told, not tripped.
"""

import os
import re
import shutil
import subprocess
import sys

PYTHON_NEEDED = (3, 11)
JAVA_NEEDED = 17


def java_command():
    """The java that Spark would start, or None."""
    home = os.environ.get("JAVA_HOME")
    return shutil.which("java", path=os.path.join(home, "bin")) if home else shutil.which("java")


def java_version(command):
    """The major version of a java command, 0 where it does not say."""
    text = subprocess.run([command, "-version"], stderr=subprocess.PIPE, check=False).stderr
    match = re.search(rb'version "(\d+)(?:\.(\d+))?', text)
    if not match:
        return 0
    major = int(match.group(1))
    return int(match.group(2) or 0) if major == 1 else major


def problems():
    """One sentence per thing that is missing."""
    if sys.version_info < PYTHON_NEEDED:
        yield (
            f"Python 3.11 or newer is needed, this is {sys.version.split()[0]}; "
            "name another with: make setup PYTHON=python3.12"
        )
    try:
        import ensurepip  # noqa: F401
        import venv  # noqa: F401
    except ImportError:
        yield "Python's venv is missing: install python3-venv and run again"
    advice = "install openjdk-17-jre-headless (or newer) and run again"
    java = java_command()
    if java is None:
        yield f"Java is missing: {advice}"
    elif java_version(java) < JAVA_NEEDED:
        yield f"Java {java_version(java)} is too old: {advice}"


if __name__ == "__main__":
    found = list(problems())
    for problem in found:
        print("setup: " + problem, file=sys.stderr)
    sys.exit(1 if found else 0)
