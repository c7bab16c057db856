"""Files on the file systems of Spark: local, HDFS, object stores.

Spark has no public interface to write small files, or to qualify a path that does not exist yet, so
these use Hadoop's file systems through the JVM gateway of PySpark. No other module does.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from eddyline.errors import DataError, StateError
from eddyline.spark.root_cause import root_cause
from eddyline.spark.storage.directory import Directory, LocalDirectory


def directory(spark: SparkSession, path: str, *, private: bool = True) -> Directory:
    """The directory of a qualified path.

    Args:
        private: on a local file system, only the owner can read what is created.
    """
    if path.startswith("file:"):
        return LocalDirectory(path, private=private)
    return HadoopDirectory(spark, path)


def exists(spark: SparkSession, pattern: str) -> bool:
    """Whether a path, or a path that matches a glob pattern, exists.

    Raises:
        DataError: there is no such file system, or it cannot be reached.
    """
    # Spark checks the path and lists the files; without their directories' names as columns.
    reader = spark.read.format("binaryFile").option("recursiveFileLookup", "true")
    with _java_errors(pattern):
        try:
            reader.load(pattern)
        except PySparkException as e:
            if e.getCondition() == "PATH_NOT_FOUND":
                return False
            raise
    return True


def qualified(spark: SparkSession, path: str) -> str:
    """The absolute path with its scheme.

    Raises:
        DataError: there is no such file system, or it cannot be reached.
    """
    with _java_errors(path):
        system, opened = _open(spark, path)
        return str(system.makeQualified(opened).toString())


class HadoopDirectory:
    """A directory on a file system that Spark reaches. See :class:`Directory`."""

    def __init__(self, spark: SparkSession, path: str) -> None:
        self.path = path
        self._spark = spark

    def below(self, name: str) -> HadoopDirectory:
        return HadoopDirectory(self._spark, f"{self.path}/{name}")

    def make(self, name: str = "") -> None:
        with self._at(name) as (system, path):
            system.mkdirs(path)

    def names(self, directory: str = "", ending: str = "") -> list[str]:
        with self._at(directory) as (system, path):
            if not system.exists(path):
                return []
            found = [str(status.getPath().getName()) for status in system.listStatus(path)]
            return sorted(n for n in found if n.endswith(ending) and not n.startswith("."))

    def read(self, name: str) -> bytes | None:
        with self._at(name) as (system, path):
            if not system.exists(path):
                return None
            with contextlib.closing(system.open(path)) as stream:
                return bytes(stream.readAllBytes())

    def write(self, name: str, content: bytes) -> None:
        with self._at(name) as (system, path):
            if not system.rename(self._hidden(system, path, content), path):
                raise StateError(f"{path.toString()}: there is such a file already")

    def replace(self, name: str, content: bytes) -> None:
        """Write a file, over an older one if there is one."""
        with self._at(name) as (system, path):
            hidden = self._hidden(system, path, content)
            if system.rename(hidden, path):
                return
            system.delete(path, False)  # this file system cannot rename over a file
            if not system.rename(hidden, path):
                raise StateError(f"{path.toString()}: the file cannot be replaced")

    def create(self, name: str, content: bytes) -> bool:
        with self._at(name) as (system, path):
            try:
                stream = system.create(path, False)
            except Py4JJavaError:
                if system.exists(path):
                    return False
                raise
            with contextlib.closing(stream):
                stream.write(bytearray(content))
            return True

    def delete(self, name: str) -> bool:
        with self._at(name) as (system, path):
            return bool(system.delete(path, True))

    def modified(self, name: str) -> datetime | None:
        with self._at(name) as (system, path):
            if not system.exists(path):
                return None
            ms: int = system.getFileStatus(path).getModificationTime()
            return datetime.fromtimestamp(ms / 1e3, UTC)

    def exclusive(self) -> contextlib.AbstractContextManager[bool]:
        """There are no locks."""
        return contextlib.nullcontext(False)

    @contextlib.contextmanager
    def _at(self, name: str) -> Iterator[tuple[Any, Any]]:
        """The file system and the path; errors become StateError with the path."""
        path = f"{self.path}/{name}" if name else self.path
        try:
            yield _open(self._spark, path)
        except (Py4JJavaError, PySparkException) as e:
            raise StateError(f"{path}: {message(e)}") from e

    def _hidden(self, system: Any, target: Any, content: bytes) -> Any:
        """Write the content next to the target, under a name that readers skip."""
        hidden = _path(self._spark, f"{target.getParent().toString()}/.{target.getName()}.tmp")
        with contextlib.closing(system.create(hidden, True)) as stream:
            stream.write(bytearray(content))
        return hidden


@contextlib.contextmanager
def _java_errors(path: str) -> Iterator[None]:
    """Turn errors of Java into DataError with the path."""
    try:
        yield
    except (Py4JJavaError, PySparkException) as e:
        raise DataError(f"{path}: {message(e)}") from None


def message(error: Py4JJavaError | PySparkException) -> str:
    """The message of an exception of Java, without the stack trace."""
    if isinstance(error, PySparkException):  # of a type that PySpark converts
        return root_cause(error)
    exception = error.java_exception
    return str(exception.getMessage() or exception.toString())


def _open(spark: SparkSession, path: str) -> tuple[Any, Any]:
    opened = _path(spark, path)
    return opened.getFileSystem(spark.sparkContext._jsc.hadoopConfiguration()), opened


def _path(spark: SparkSession, path: str) -> Any:
    return _jvm_of(spark).org.apache.hadoop.fs.Path(path)


def _jvm_of(spark: SparkSession) -> Any:
    """The JVM of a session.

    Raises:
        StateError: the session has been stopped.
    """
    context = spark.sparkContext
    if context._jvm is None or context._jsc is None:
        raise StateError("the Spark session has been stopped: create another one")
    return context._jvm
