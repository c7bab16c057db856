"""Peers are fetched and compiled on demand, into the user's cache directory, once per version."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from eddyline.errors import SetupError
from eddyline.user_cache import cache_directory

HERE: Final = Path(__file__).parent
_MADE: Final = "made"


def peers_directory() -> Path:
    """The directory of everything that is fetched and compiled here."""
    return cache_directory() / "peers"


def require(peer: str, commands: Iterable[str], what: str) -> None:
    """Check that programs are there.

    Raises:
        SetupError: one is not.
    """
    for needed in commands:
        if shutil.which(needed) is None:
            raise SetupError(f"{peer} needs the command {needed}: install {what}")


def java(name: str, pom: Path, sources: Sequence[Path], size_mb: int) -> str:
    """Resolve a project by Maven and compile sources against it.

    Args:
        size_mb: of what Maven fetches, for the message.

    Returns:
        the class path.

    Raises:
        SetupError: a JDK or Maven is missing, or fails.
    """
    require(name, ("java", "javac", "mvn"), "a JDK 17 and Maven")
    jars = peers_directory() / f"{name}-{_digest([pom])}"
    if not (jars / _MADE).exists():
        note(f"{name}: Maven fetches {size_mb} MB into {jars}")
        target = f"-DoutputDirectory={jars}"
        maven = ("mvn", "-q", "-B", "-f", str(pom), "dependency:copy-dependencies", target)
        _checked([*maven, "-DincludeScope=runtime"], f"Maven has not found {name}")
        (jars / _MADE).touch()
    classes = peers_directory() / f"{name}-classes-{_digest([pom, *sources])}"
    if not (classes / _MADE).exists():
        classes.mkdir(parents=True, exist_ok=True)
        path = f"{jars}/*"
        compiler = ("javac", "-nowarn", "-d", str(classes), "-cp", path)
        _checked([*compiler, *map(str, sources)], "javac has failed")
        (classes / _MADE).touch()
    return f"{classes}:{jars}/*"


def rust(name: str, project: Path, size_mb: int) -> Path:
    """Build a Cargo project; its binary.

    Raises:
        SetupError: Cargo is missing, or fails.
    """
    require(name, ("cargo", "cc"), "Rust and a C compiler")
    sources = sorted([project / "Cargo.toml", *(project / "src").glob("*.rs")])
    built = peers_directory() / f"{name}-{_digest(sources)}"
    binary = built / "target" / "release" / name
    if not (built / _MADE).exists():
        note(f"{name}: Cargo fetches {size_mb} MB and compiles for minutes, into {built}")
        shutil.copytree(project, built, dirs_exist_ok=True)
        manifest = str(built / "Cargo.toml")
        _checked(["cargo", "build", "--quiet", "--release", "--manifest-path", manifest], name)
        (built / _MADE).touch()
    return binary


def python(name: str, packages: Sequence[str], size_mb: int) -> Path:
    """Install packages into a directory of their own, to be put on the path of a process.

    Raises:
        SetupError: pip fails.
    """
    digest = hashlib.sha256(" ".join((sys.version, *packages)).encode()).hexdigest()[:12]
    folder = peers_directory() / f"{name}-{digest}"
    if not (folder / _MADE).exists():
        note(f"{name}: pip fetches {size_mb} MB into {folder}")
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        _checked([*pip, "--target", str(folder), *packages], f"pip has not installed {name}")
        (folder / _MADE).touch()
    return folder


def note(text: str) -> None:
    """Say what takes long."""
    print(text, file=sys.stderr, flush=True)


def _digest(files: Iterable[Path]) -> str:
    hashed = hashlib.sha256()
    for file in files:
        hashed.update(file.name.encode() + b"\0" + file.read_bytes())
    return hashed.hexdigest()[:12]


def _checked(command: Sequence[str], failure: str) -> None:
    done = subprocess.run(list(command), capture_output=True, text=True, check=False)
    if done.returncode:
        lines = (done.stdout + done.stderr).strip().splitlines()
        raise SetupError(f"{failure}: {' / '.join(lines[-3:])}")
