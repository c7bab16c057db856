"""The start of Spark, of Java and of the Python workers."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyspark
import pytest
from pyspark.sql import SparkSession

import eddyline
from eddyline.errors import SetupError
from eddyline.spark import class_archive, environment
from eddyline.spark.daemon import without_archive
from eddyline.spark.environment import require_java, starting_session
from eddyline.spark.python_workers import start_workers

JAVA_OPTIONS = "spark.driver.extraJavaOptions"
SOURCE = str(Path(eddyline.__file__).parent.parent)


def python(code: str, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments, "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": SOURCE, **variables},
        timeout=400,
        check=False,
    )


def test_missing_java_is_named_before_anything_starts(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with (
        pytest.raises(SetupError, match=r"needs Java 17 or newer: JAVA_HOME is .*, which has no"),
        starting_session(),
    ):
        raise AssertionError("the block is not entered")


def test_errors_of_the_start_are_raised_where_the_session_is_needed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken(*_: object) -> SparkSession:
        raise RuntimeError("no memory for Java")

    monkeypatch.setattr(environment, "local_session", broken)
    with starting_session() as starting, pytest.raises(RuntimeError, match="no memory for Java"):
        starting.result()
    with pytest.raises(ValueError, match="wrong script"), starting_session():
        raise ValueError("wrong script")


def test_a_session_is_stopped_if_the_block_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []

    class Session:
        def stop(self) -> None:
            calls.append("stop")

    monkeypatch.setattr(environment, "local_session", lambda *_: Session())
    monkeypatch.setattr(environment, "start_workers", lambda _: calls.append("start workers"))
    monkeypatch.setattr(environment, "await_workers", lambda _: calls.append("await workers"))
    with starting_session():
        pass
    assert calls == ["start workers"]
    with pytest.raises(ValueError, match="wrong script"), starting_session():
        raise ValueError("wrong script")
    assert calls[1:] == ["start workers", "await workers", "stop"]


def test_commands_start_java_before_they_import_the_engine() -> None:
    code = (
        "import sys, eddyline.cli.main, eddyline.cli.starting\n"
        "print(sorted({'numba', 'pyarrow', 'sqlglot', 'pandas'} & set(sys.modules)))"
    )
    assert python(code).stdout == "[]\n"


def test_the_process_that_asks_for_state_variables_imports_little() -> None:
    code = (
        "import sys, eddyline.spark.workers.processor\n"
        "print([m for m in sys.modules if m.startswith('eddyline.')])\n"
        "print(sorted({'numba', 'pyarrow', 'sqlglot'} & set(sys.modules)))"
    )
    modules, libraries = python(code).stdout.splitlines()
    assert libraries == "[]"
    assert set(eval(modules)) <= {
        *("eddyline.errors", "eddyline.extras", "eddyline.version"),
        *("eddyline.spark", "eddyline.spark.workers", "eddyline.spark.workers.processor"),
    }


def test_the_daemon_is_forked_while_no_thread_can_hold_a_lock() -> None:
    code = (
        "import os, eddyline.spark.daemon\n"
        "tasks = '/proc/self/task'\n"
        "print([open(f'{tasks}/{t}/comm').read().strip() for t in os.listdir(tasks)][1:])"
    )
    if not Path("/proc/self/task").exists():
        pytest.skip("threads are counted by Linux")
    threads = python(code, OMP_NUM_THREADS="1").stdout
    assert set(eval(threads)) <= {"jemalloc_bg_thd"}, "it has handlers for forks"


def test_the_daemon_imports_the_installed_package() -> None:
    package = Path(pyspark.__file__).parent
    archive = package / "python/lib/pyspark.zip"
    assert archive.is_file()
    code = "import eddyline.spark.daemon, pyspark\nprint(pyspark.__file__)"
    done = python(code, PYTHONPATH=os.pathsep.join((str(archive), SOURCE)))
    assert done.stdout.strip() == str(package / "__init__.py"), done.stderr


def test_the_archive_of_another_spark_is_used(tmp_path: Path) -> None:
    other = str(tmp_path / "spark/python/lib/pyspark.zip")
    path = ["", other, str(Path(pyspark.__file__).parents[1]), "pyspark.zip"]
    assert without_archive(path) == path


def test_the_archive_belongs_to_one_java(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    files = []
    for version in ("17.0.1", "21.0.2"):
        java = tmp_path / version / "bin" / "java"
        java.parent.mkdir(parents=True)
        java.touch()
        (tmp_path / version / "release").write_text(f'JAVA_VERSION="{version}"')
        files.append(class_archive.archive_file(java))
        assert class_archive.use_options(java) == ()
    assert len(set(files)) == 2
    files[1].parent.mkdir(parents=True)
    files[1].touch()
    assert class_archive.use_options(java)[0] == f"-XX:SharedArchiveFile={files[1]}"


@pytest.mark.spark
def test_a_damaged_archive_is_not_used(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    archive = class_archive.archive_file(require_java())
    archive.parent.mkdir()
    archive.write_bytes(b"no archive")
    code = (
        "from pathlib import Path\nfrom eddyline.spark.environment import local_session\n"
        f"spark = local_session(1, Path('{tmp_path}/log'))\n"
        "print(spark.range(3).count())\nspark.stop()"
    )
    done = python(code)
    assert (done.stdout, done.stderr, done.returncode) == ("3\n", "", 0)


@pytest.mark.spark
def test_sessions_have_the_given_properties(tmp_path: Path) -> None:
    code = (
        "from pathlib import Path\nfrom eddyline.spark.environment import local_session\n"
        f"given = {{'spark.master': 'local[3]', '{JAVA_OPTIONS}': '-Dmine=5'}}\n"
        f"spark = local_session(1, Path('{tmp_path}/log'), given)\n"
        "java = spark.sparkContext._jvm.java.lang.System\n"
        "print(spark.sparkContext.defaultParallelism, java.getProperty('mine'))\n"
        "print('log4j2' in java.getProperty('log4j2.configurationFile'))\nspark.stop()"
    )
    done = python(code)
    assert (done.stdout, done.stderr, done.returncode) == ("3 5\nTrue\n", "", 0)


def test_the_reason_is_said_if_spark_does_not_start(tmp_path: Path) -> None:
    log = tmp_path / "log"
    code = (
        "from pathlib import Path\nfrom eddyline.spark.environment import local_session\n"
        f"local_session(1, Path('{log}'), {{'spark.jars': 'no:scheme://x'}})"
    )
    message = python(code).stderr.splitlines()
    assert any("SetupError: Spark did not start: " in line and "no" in line for line in message)
    assert f"full log: {log}" in message[-1]


@pytest.mark.spark
def test_a_program_of_spark_submit_has_its_properties(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "from eddyline.spark.environment import local_session\n"
        "conf = local_session(4).sparkContext.getConf()\n"
        "names = ('spark.master', 'spark.app.name', 'spark.ui.enabled')\n"
        "print(*(conf.get(name) for name in names))"
    )
    submit = str(Path(pyspark.__file__).parent / "bin" / "spark-submit")
    properties = ["--master", "local[1]", "--name", "mine"]
    done = subprocess.run(
        [submit, *properties, "--conf", "spark.driver.host=127.0.0.1", str(program)],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": SOURCE, "PYSPARK_PYTHON": sys.executable},
        timeout=400,
        check=False,
    )
    assert (done.stdout, done.returncode) == ("local[1] mine false\n", 0), done.stderr


def test_tasks_of_functions_run_in_the_started_workers(spark: SparkSession) -> None:
    start_workers(spark)
    for thread in threading.enumerate():
        if thread.name == "start of Python workers":
            thread.join()

    def modules(rows: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        is_imported = "eddyline.spark.workers.shard" in sys.modules
        yield pa.record_batch({"id": [os.getppid() * is_imported]})

    daemons = set(spark.sparkContext.range(4).map(lambda _: os.getppid()).collect())
    ids = spark.range(0, 2, 1, 2).mapInArrow(modules, "id long").toArrow()["id"].to_pylist()
    assert set(ids) == daemons and len(daemons) == 1, "the module was imported before"
