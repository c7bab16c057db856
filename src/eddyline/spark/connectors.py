"""Connectors of Spark that PySpark does not contain, in a directory of the user.

``eddyline connectors`` fetches them with Ivy, which is part of PySpark. Sessions that Eddyline
creates have them on their class path.
"""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

import pyspark

from eddyline.errors import SetupError
from eddyline.user_cache import connectors_directory

_TIMEOUT_S: Final = 300.0


class Module(NamedTuple):
    """The Maven coordinates of a library."""

    group: str
    name: str
    version: str


#: Spark's connector for Kafka. That of Spark 4.2 is the newest one, and works with Spark 4.3.
KAFKA: Final = Module("org.apache.spark", "spark-sql-kafka-0-10_2.13", "4.2.0")
#: Spark's functions for records of Avro, likewise.
AVRO: Final = Module("org.apache.spark", "spark-avro_2.13", "4.2.0")
CONNECTORS: Final = (KAFKA, AVRO)
#: What PySpark contains, in its own versions: groups of libraries, or group:name.
_IN_PYSPARK: Final = (
    "at.yawk.lz4",
    "com.github.luben",
    "org.apache.hadoop",
    "org.apache.spark:spark-tags_2.13",
    "org.lz4",
    "org.scala-lang",
    "org.scala-lang.modules",
    "org.slf4j",
    "org.xerial.snappy",
)


def directory_of(module: Module) -> Path:
    """Where a library and what it needs are; it may not exist."""
    return connectors_directory() / f"{module.name}-{module.version}"


def connector_jars() -> list[Path]:
    """The jars of the connectors; none if they have not been fetched."""
    return [jar for module in CONNECTORS for jar in sorted(directory_of(module).glob("*.jar"))]


def fetch_connectors(java: Path) -> list[Path]:
    """Fetch the connectors, those that are not there; returns their directories.

    Args:
        java: its command.

    Raises:
        SetupError: they cannot be fetched.
    """
    return [fetch(java, module, _IN_PYSPARK) for module in CONNECTORS]


def fetch(java: Path, module: Module, without: Sequence[str] = ()) -> Path:
    """Fetch a library and the libraries that it needs at run time, whole or not at all, unless they
    are there; returns their directory.

    Args:
        java: its command. without: groups of libraries, or group:name, that are left out.

    Raises:
        SetupError: they cannot be fetched.
    """
    directory = directory_of(module)
    if directory.exists():
        return directory
    directory.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".fetch-", dir=directory.parent) as place:
        description, jars = Path(place, "ivy.xml"), Path(place, "jars")
        description.write_text(_description(module, without))
        command = [str(java), "-jar", str(_ivy())]
        command += _arguments(description, jars, Path(place, "cache"))
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, check=False, timeout=_TIMEOUT_S
            )
        except subprocess.TimeoutExpired:
            raise SetupError(
                f"cannot fetch {':'.join(module)}: not complete after {_TIMEOUT_S:g} s"
            ) from None
        if done.returncode or not list(jars.glob(f"{module.name}-*.jar")):
            said = (done.stdout + done.stderr).strip()[-2000:]
            raise SetupError(f"cannot fetch {':'.join(module)}: {said}")
        if not directory.exists():  # otherwise another process was faster
            jars.rename(directory)
    return directory


def _ivy() -> Path:
    """Ivy's jar.

    Raises:
        SetupError: this PySpark has none.
    """
    found = sorted((Path(pyspark.__file__).parent / "jars").glob("ivy-*.jar"))
    if not found:
        raise SetupError("this PySpark contains no Ivy: install pyspark with its jars")
    return found[-1]


def _arguments(description: Path, jars: Path, cache: Path) -> list[str]:
    pattern = f"{jars}/[artifact]-[revision](-[classifier]).[ext]"
    kinds = ("-confs", "default", "-types", "jar", "bundle")
    return ["-warn", "-ivy", str(description), *kinds, "-cache", str(cache), "-retrieve", pattern]


def _description(module: Module, without: Sequence[str]) -> str:
    """Ivy's description of what to fetch."""
    parts = (left_out.partition(":") for left_out in without)
    excluded = "".join(
        f'<exclude org="{group}" module="{name or "*"}"/>' for group, _, name in parts
    )
    return (
        '<ivy-module version="2.0" xmlns:m="http://ant.apache.org/ivy/maven">'
        '<info organisation="eddyline" module="connectors"/>'
        '<configurations><conf name="default"/></configurations><dependencies>'
        f'<dependency org="{module.group}" name="{module.name}" rev="{module.version}" '
        f'conf="default->default"/>{excluded}</dependencies></ivy-module>'
    )
