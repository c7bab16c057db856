"""Small files on whatever file system Spark reaches: local, HDFS, object stores."""

from __future__ import annotations

import contextlib
from datetime import UTC, datetime
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession


def exists(spark: SparkSession, pattern: str) -> bool:
    """Whether a path, or anything that a glob pattern matches, is there."""
    system, path = _open(spark, pattern)
    found = system.globStatus(path)
    return found is not None and len(found) > 0


def qualified(spark: SparkSession, path: str) -> str:
    """The path with its scheme and from the root, so that it means the same everywhere."""
    system, opened = _open(spark, path)
    return str(system.makeQualified(opened).toString())


def read_text(spark: SparkSession, path: str) -> str | None:
    """The content of a small file; None if there is none."""
    system, opened = _open(spark, path)
    if not system.exists(opened):
        return None
    stream = system.open(opened)
    with contextlib.closing(stream):
        return bytes(stream.readAllBytes()).decode()


def read_texts(spark: SparkSession, pattern: str) -> list[str]:
    """The contents of all small files that a glob pattern matches, in no particular order."""
    system, path = _open(spark, pattern)
    texts = []
    for status in system.globStatus(path) or ():
        with contextlib.closing(system.open(status.getPath())) as stream:
            texts.append(bytes(stream.readAllBytes()).decode())
    return texts


def write_text(spark: SparkSession, path: str, content: str) -> None:
    """Write a small file so that a reader sees all of it or nothing: under a hidden name first."""
    write_bytes(spark, path, content.encode())


def write_bytes(spark: SparkSession, path: str, content: bytes) -> None:
    """As :func:`write_text`."""
    system, target = _open(spark, path)
    if not system.rename(_hidden(spark, system, target, content), target):
        raise FileExistsError(path)


def replace_text(spark: SparkSession, path: str, content: str) -> None:
    """As :func:`write_text`, but over an older file; for a moment there may be none."""
    system, target = _open(spark, path)
    hidden = _hidden(spark, system, target, content.encode())
    if system.rename(hidden, target):
        return
    system.delete(target, False)  # this file system does not rename over a file
    if not system.rename(hidden, target):
        raise FileExistsError(path)


def names(spark: SparkSession, pattern: str) -> list[str]:
    """The names, without directories, of all files that a glob pattern matches, sorted."""
    system, path = _open(spark, pattern)
    return sorted(str(status.getPath().getName()) for status in system.globStatus(path) or ())


def modified(spark: SparkSession, path: str) -> str:
    """When a file was written, in ISO 8601."""
    system, opened = _open(spark, path)
    ms: int = system.getFileStatus(opened).getModificationTime()
    return datetime.fromtimestamp(ms / 1e3, UTC).isoformat(timespec="seconds")


def delete(spark: SparkSession, path: str) -> bool:
    """Delete a file, or a directory with all in it; whether it was there."""
    system, opened = _open(spark, path)
    return bool(system.delete(opened, True))


def make_directory(spark: SparkSession, path: str) -> None:
    """Make a directory and those above it."""
    system, opened = _open(spark, path)
    system.mkdirs(opened)


def _hidden(spark: SparkSession, system: Any, target: Any, content: bytes) -> Any:
    """Write the content beside the target, under a name that readers skip."""
    hidden = _path(spark, f"{target.getParent().toString()}/.{target.getName()}.tmp")
    with contextlib.closing(system.create(hidden, True)) as stream:
        stream.write(bytearray(content))
    return hidden


def _open(spark: SparkSession, path: str) -> tuple[Any, Any]:
    opened = _path(spark, path)
    try:
        return opened.getFileSystem(spark.sparkContext._jsc.hadoopConfiguration()), opened
    except Py4JJavaError as e:
        raise ValueError(f"{path}: {e.java_exception.getMessage()}") from None


def _path(spark: SparkSession, path: str) -> Any:
    jvm = spark.sparkContext._jvm
    assert jvm is not None, "the Spark session is stopped"
    return jvm.org.apache.hadoop.fs.Path(path)
