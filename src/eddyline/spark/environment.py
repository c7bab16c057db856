"""Spark sessions and the configuration of the job."""

from __future__ import annotations

import logging
import os
import shutil
import subprocess
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from py4j import protocol
from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkRuntimeError
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession
from pyspark.sql.types import NumpyArrayConverter, NumpyScalarConverter

from eddyline.errors import SetupError
from eddyline.spark import class_archive
from eddyline.spark.connectors import connector_jars
from eddyline.spark.formats.avro_limits import AVRO_LIMITS
from eddyline.spark.python_workers import WORKER_CONF, await_workers, start_workers

_MIN_JAVA: Final = 17
#: A task is repeated if its worker process has died, so that the batch does not fail.
_TASK_ATTEMPTS: Final = 4
_JAVA_OPTIONS: Final = "spark.driver.extraJavaOptions"
_OF_EXECUTORS: Final = "spark.executor.extraJavaOptions"
_JARS: Final = "spark.jars"
_LOG_SETTINGS: Final = Path(__file__).with_name("log4j2.properties")

#: Methods are compiled a second time, with all optimizations, after ten times as many calls and
#: loops as by default. Up to the first result that compiler takes 1.5 instead of 5 of 20 CPU
#: seconds. The loops over rows of a large batch reach these numbers at once.
_LATE_OPTIMIZATION: Final = (
    "-XX:Tier4InvocationThreshold=50000",
    "-XX:Tier4MinInvocationThreshold=6000",
    "-XX:Tier4CompileThreshold=150000",
    "-XX:Tier4BackEdgeThreshold=400000",
)

#: Configuration of the streaming query, which is fixed when it starts: set only around the start.
JOB_CONF: Final[Mapping[str, str]] = {
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
    # Recovery needs only the last batch; each retained one keeps its state changes on disk.
    "spark.sql.streaming.minBatchesToRetain": "10",
    # A batch without rows would have no effect: an engine's clock is driven by its rows.
    "spark.sql.streaming.noDataMicroBatches.enabled": "false",
    "spark.sql.session.timeZone": "UTC",
}

#: Batches of rows for Python are limited by number: a limit in bytes other than 2^31 - 1, which
#: means none, makes Spark compute the size of the batch after each row, in twice the time that it
#: takes to write the row. Packed batches are as large as ``INPUT_BLOB_BYTES``, so the limit bounds
#: a batch of these to 128 MB. What a user sets for rows of 100 KB and more is left as it is.
ARROW_CONF: Final[Mapping[str, str]] = {
    "spark.sql.execution.arrow.maxRecordsPerBatch": "2048",
    "spark.sql.execution.arrow.maxBytesPerBatch": str(2**31 - 1),
}

#: For checkpoints on a local disk. Spark's default uses Hadoop's FileContext, which runs a process
#: per written file to check for links. Both check that the target does not exist and then rename a
#: complete temporary file, which is atomic in POSIX; neither calls fsync, so they are equally safe
#: in a power failure. The second checksum is off because Hadoop's local file system writes its own.
LOCAL_CHECKPOINT_CONF: Final[Mapping[str, str]] = {
    "spark.sql.streaming.checkpointFileManagerClass": (
        "org.apache.spark.sql.execution.streaming.checkpointing."
        "FileSystemBasedCheckpointFileManager"
    ),
    "spark.sql.streaming.checkpoint.fileChecksum.enabled": "false",
}


def local_session(
    partitions: int | None = None,
    log: Path | None = None,
    properties: Mapping[str, str] | None = None,
    *,
    java_options: Sequence[str] | None = None,
) -> SparkSession:
    """A session on all cores of this machine, bound to the loopback address, unless the properties
    say otherwise; in a program of ``spark-submit`` as this has been told.

    Args:
        partitions: of a shuffle; by default one per core.
        log: file for Spark's messages; by default they are written to standard error.
        properties: of Spark, instead of the default ones.
        java_options: more options for Java; by default those that use the archive of classes.

    Raises:
        SetupError: there is no Java, it is too old, or Spark does not start.
    """
    java = require_java()
    logging.getLogger("py4j").setLevel(logging.ERROR)
    # pandas is used for a few packed batches only; the case of PySpark's warning does not occur
    warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
    more = class_archive.use_options(java) if java_options is None else java_options
    conf = SparkConf()
    if "PYSPARK_GATEWAY_PORT" in os.environ:  # spark-submit has started Java
        SparkContext._ensure_initialized()
        conf = SparkConf()
        properties = {**dict(conf.getAll()), **(properties or {})}
    conf.setAll(list(_all_properties(partitions, more, properties or {}).items()))
    if log is not None and SparkContext._gateway is None:  # else Java runs already
        _launch(conf, log)
    return SparkSession.builder.config(conf=conf).getOrCreate()


def _all_properties(
    partitions: int | None, java_options: Sequence[str], given: Mapping[str, str]
) -> dict[str, str]:
    """Those of a session: the given ones, to whose Java options and jars others are added, and the
    default ones.
    """
    options = (f"-Dlog4j2.configurationFile={_LOG_SETTINGS}", *_LATE_OPTIMIZATION, *java_options)
    java = [*(f'"{option}"' for option in options), *_given(given, _JAVA_OPTIONS)]
    jars = [*(jar.as_uri() for jar in connector_jars()), *_given(given, _JARS)]
    values = {
        "spark.master": f"local[*, {_TASK_ATTEMPTS}]",
        "spark.app.name": "eddyline",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.memory": os.environ.get("EDDYLINE_DRIVER_MEMORY", "2g"),
        "spark.python.daemon.module": "eddyline.spark.daemon",
        **WORKER_CONF,
    }
    if given.get("spark.master", "local").startswith("local"):
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        values["spark.driver.bindAddress"] = values["spark.driver.host"] = "127.0.0.1"
        values["spark.sql.shuffle.partitions"] = str(os.cpu_count() or 1)
    if partitions is not None:
        values["spark.sql.shuffle.partitions"] = str(partitions)
    values |= given
    limits = (f"-D{name}={value}" for name, value in AVRO_LIMITS.items())
    values[_OF_EXECUTORS] = " ".join((*limits, *_given(given, _OF_EXECUTORS)))
    values[_JAVA_OPTIONS] = " ".join(java)
    if jars:
        values[_JARS] = ",".join(jars)
    return values


def _given(given: Mapping[str, str], name: str) -> list[str]:
    return [given[name]] if given.get(name) else []


def _launch(conf: SparkConf, log: Path) -> None:
    """Start Java and the context, with messages to a file."""
    with log.open("ab") as file:
        start = file.tell()
        try:
            gateway = launch_gateway(conf, {"stderr": file})  # type: ignore[no-untyped-call]  # no types
        except PySparkRuntimeError:
            with log.open("rb") as written:
                written.seek(start)
                text = written.read().decode(errors="replace")
            raise SetupError(f"Spark did not start: {_reason(text)}\nfull log: {log}") from None
    SparkContext(conf=conf, gateway=gateway)


def _reason(text: str) -> str:
    """The first error among Java's messages, without the names of exceptions."""
    lines = [line for line in text.splitlines() if "xception" in line or "Error" in line]
    return lines[0].rpartition("Exception: ")[2] if lines else "Java has ended"


@contextmanager
def starting_session(
    partitions: int | None = None,
    log: Path | None = None,
    properties: Mapping[str, str] | None = None,
) -> Iterator[Future[SparkSession]]:
    """A session as of :func:`local_session`, which starts in a thread while the block runs, and
    then its Python workers. It is stopped if the block fails.

    It is for a process of Eddyline's own, which passes no NumPy values to Java.

    Raises:
        SetupError: there is no Java, or it is too old; before the block.
    """
    require_java()
    _remove_numpy_converters()
    with ThreadPoolExecutor(1) as pool:
        started = pool.submit(_session_with_workers, partitions, log, properties)
        try:
            yield started
        except BaseException:
            if started.exception() is None:
                session = started.result()
                await_workers(session)
                session.stop()
            raise


def _session_with_workers(
    partitions: int | None, log: Path | None, properties: Mapping[str, str] | None
) -> SparkSession:
    session = local_session(partitions, log, properties)
    start_workers(session)
    return session


def _remove_numpy_converters() -> None:
    """PySpark's converters of NumPy values import its module for tests, and pandas, when Java is
    called for the first time: 0.7 s for which the start of Spark waits.
    """
    converters = protocol.INPUT_CONVERTER
    of_numpy = (NumpyArrayConverter, NumpyScalarConverter)
    converters[:] = [c for c in converters if not isinstance(c, of_numpy)]


def require_java() -> Path:
    """The command of the Java that Spark will start.

    Raises:
        SetupError: there is none, or it is too old; with instructions.
    """
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home, "bin", "java")) if home else shutil.which("java")
    if java is None or not Path(java).exists():
        where = f"JAVA_HOME is {home}, which has no bin/java" if home else "none is on the PATH"
        raise SetupError(f"Spark needs Java {_MIN_JAVA} or newer: {where}. {_INSTALL}")
    release = _java_release(java)
    if release is not None and release < _MIN_JAVA:
        raise SetupError(
            f"Spark needs Java {_MIN_JAVA} or newer: {java} is Java {release}. {_INSTALL}"
        )
    return Path(java)


_INSTALL: Final = (
    "Install a JDK or JRE (for instance the package openjdk-17-jre-headless) and set JAVA_HOME "
    "if more than one is there."
)


def _java_release(java: str) -> int | None:
    """The major release of a Java, from its release file or its output."""
    release_file = Path(java).resolve().parent.parent / "release"
    if release_file.exists():
        text = release_file.read_text()
    else:
        text = subprocess.run(
            [java, "-XshowSettings:properties", "-version"],
            capture_output=True,
            text=True,
            check=False,
        ).stderr.replace("java.version = ", 'JAVA_VERSION="')
    for line in text.splitlines():
        if "JAVA_VERSION=" in line:
            major = line.split('"')[1].split(".")[0]
            return int(major) if major.isdigit() else None
    return None


def job_conf(spark: SparkSession, more: Mapping[str, str]) -> dict[str, str]:
    """``JOB_CONF``, ``ARROW_CONF`` as far as the user has not set it, and ``more``."""
    given = spark.conf.getAll
    return {**{k: v for k, v in ARROW_CONF.items() if k not in given}, **JOB_CONF, **more}


@contextmanager
def settings(spark: SparkSession, values: Mapping[str, str]) -> Iterator[None]:
    """Set SQL configuration in the block. A query keeps the values of its start."""
    before = {name: spark.conf.get(name, None) for name in values}
    for name, value in values.items():
        spark.conf.set(name, value)
    try:
        yield
    finally:
        for name, old in before.items():
            if old is None:
                spark.conf.unset(name)
            else:
                spark.conf.set(name, old)
