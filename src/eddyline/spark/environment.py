"""Spark sessions and the configuration of the job."""

from __future__ import annotations

import logging
import os
import shutil
import subprocess
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Final

from pyspark.sql import SparkSession

from eddyline.errors import SetupError

_MIN_JAVA: Final = 17
#: A task is repeated if its worker process has died, so that the batch does not fail.
_TASK_ATTEMPTS: Final = 4
_LOG_SETTINGS: Final = Path(__file__).with_name("log4j2.properties")

#: Configuration of the streaming query, which is fixed when it starts: set only around the start.
JOB_CONF: Final[Mapping[str, str]] = {
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
    # Recovery needs only the last batch; each retained one keeps its state changes on disk.
    "spark.sql.streaming.minBatchesToRetain": "10",
    # Larger batches for Python than the default of 10,000 rows. The limit in bytes is for packed
    # batches, which are few and large.
    "spark.sql.execution.arrow.maxRecordsPerBatch": "100000",
    "spark.sql.execution.arrow.maxBytesPerBatch": str(64 << 20),
    # A batch without rows would have no effect: an engine's clock is driven by its rows.
    "spark.sql.streaming.noDataMicroBatches.enabled": "false",
    "spark.sql.session.timeZone": "UTC",
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


def local_session(partitions: int | None = None, log: Path | None = None) -> SparkSession:
    """A session on all cores of this machine, bound to the loopback address.

    Args:
        partitions: of a shuffle; by default one per core.
        log: file for Spark's messages; by default they are written to standard error.

    Raises:
        SetupError: there is no Java, or it is too old.
    """
    require_java()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    logging.getLogger("py4j").setLevel(logging.ERROR)
    # pandas is used for a few packed batches only; the case of PySpark's warning does not occur
    warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
    builder = (
        SparkSession.builder.master(f"local[*, {_TASK_ATTEMPTS}]")
        .appName("eddyline")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.driver.extraJavaOptions", f"-Dlog4j2.configurationFile={_LOG_SETTINGS}")
        .config("spark.sql.shuffle.partitions", str(partitions or os.cpu_count() or 1))
        .config("spark.driver.memory", os.environ.get("EDDYLINE_DRIVER_MEMORY", "2g"))
    )
    with _standard_error_to(log) if log is not None else nullcontext():
        return builder.getOrCreate()


def require_java() -> None:
    """Check that Spark finds a supported Java.

    Raises:
        SetupError: it does not; with instructions.
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


@contextmanager
def _standard_error_to(log: Path) -> Iterator[None]:
    """Redirect standard error to a file for processes that are started in the block."""
    sys.stderr.flush()
    kept = os.dup(2)
    with log.open("ab") as file:
        os.dup2(file.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)


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


@contextmanager
def worker_pool(spark: SparkSession, name: str) -> Iterator[None]:
    """Python functions created in the block run in a worker pool of this name.

    Spark keeps idle Python workers in one pool per set of environment variables. With a separate
    pool a shard is more likely to run in the worker that has its engine in the cache.
    """
    environment = spark.sparkContext.environment
    environment["EDDYLINE_WORKER_POOL"] = name
    try:
        yield
    finally:
        del environment["EDDYLINE_WORKER_POOL"]
