"""Jobs on two executors that share neither memory, nor a working directory, nor the driver's
packages: Eddyline reaches them in an archive.

Such a session needs a JVM of its own, so the jobs run in another process.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tarfile
import venv
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pyspark
import pytest

import eddyline
from short_lived_java import SHORT_LIVED_JAVA
from spark_cases import NAMES, QUERIES, Feed, bag, definitions, embedded, stream_tables

pytestmark = pytest.mark.spark

_DRIVER = Path(__file__).parents[1] / "support" / "cluster_driver.py"
#: A file system that is not local for Hadoop: a view of a local directory.
_REMOTE = "viewfs://remote/jobs"


class Job(NamedTuple):
    """A job over files below ``root``, a path or URL.

    Attributes:
        seeds: of its streams. files: of each stream. losses: batches in which an executor is lost.
        delays: seconds from the begin of these batches until then.
    """

    root: str
    seeds: tuple[int, int]
    files: int
    losses: list[int]
    delays: list[float]

    def streams(self) -> dict[str, list[pa.Table]]:
        return {n: stream_tables(s, self.files) for n, s in zip("ab", self.seeds, strict=True)}

    def described(self) -> dict[str, object]:
        """For the driver."""
        sources = {
            n: f"source = 'parquet', path = '{self.root}/{n}', maxFilesPerTrigger = 1" for n in "ab"
        }
        script = definitions(sources) + (
            "CREATE TABLE names (k BIGINT, name STRING) "
            f"WITH (source = 'parquet', path = '{self.root}/names.parquet');"
        )
        for name, sql in QUERIES.items():
            sink = f"WITH (sink = 'parquet', path = '{self.root}/out/{name}')"
            script += f"CREATE QUERY {name} AS {sql} {sink};"
        return {
            "script": script,
            "checkpoint": f"{self.root}/checkpoint",
            "losses": self.losses,
            "delays": self.delays,
        }


JOBS = {
    "lossy": Job(
        "lossy", (1, 2), 4, [1, 2], [0.0, 0.0]
    ),  # relative to the driver's working directory
    "remote": Job(f"{_REMOTE}/remote", (3, 4), 2, [], []),
}


class Cluster(NamedTuple):
    """The jobs after their end: each has a directory of its name; the report of their driver."""

    directory: Path
    report: dict[str, Any]

    def changes(self, job: str) -> dict[str, list[tuple[Any, ...]]]:
        """What the queries of a job have written."""
        return {name: self._rows(f"{job}/out/{name}") for name in QUERIES}

    def _rows(self, sink: str) -> list[tuple[Any, ...]]:
        files = f"{self.directory}/{sink}/*/*.parquet"
        relation: Any = duckdb.sql(
            f"SELECT * EXCLUDE eddyline_batch FROM read_parquet('{files}', hive_partitioning=true)"
        )
        return bag(relation.arrow().read_all())


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Cluster:
    return run_jobs(tmp_path_factory.mktemp("cluster"), JOBS)


def run_jobs(directory: Path, jobs: Mapping[str, Job]) -> Cluster:
    """Run jobs on two executors."""
    for name, job in jobs.items():
        write_input(directory / name, job.streams())
    described = {name: job.described() for name, job in jobs.items()}
    (directory / "jobs.json").write_text(json.dumps(described))
    environment = {n: v for n, v in os.environ.items() if not n.startswith("PYTHON")}
    environment |= {
        "SPARK_HOME": str(spark_home(directory)),  # executors get working directories below it
        "PYSPARK_PYTHON": "./environment/bin/python",
    }
    command = [f"{directory}/spark/bin/spark-submit", "--master", "local-cluster[2,1,1024]"]
    command += ["--archives", f"{pack_environment(directory)}#environment"]
    for setting in (
        "spark.ui.enabled=false",
        "spark.driver.host=127.0.0.1",
        f"spark.driver.extraJavaOptions={SHORT_LIVED_JAVA}",
        f"spark.executor.extraJavaOptions={SHORT_LIVED_JAVA}",
        f"spark.hadoop.fs.viewfs.mounttable.remote.link./jobs=file://{directory}",
    ):
        command += ["--conf", setting]
    done = subprocess.run(
        [*command, str(_DRIVER), "jobs.json"],
        cwd=directory,
        env=environment,
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-8_000:]
    return Cluster(directory, json.loads(done.stdout.splitlines()[-1]))


def write_input(directory: Path, tables: Mapping[str, list[pa.Table]]) -> None:
    directory.mkdir()
    for name, parts in tables.items():
        Feed(directory / name).write(*parts)
    pq.write_table(NAMES, directory / "names.parquet")


def pack_environment(directory: Path) -> Path:
    """``environment`` in the directory, and as an archive: a virtual environment with Eddyline.

    What Eddyline needs is found where it is installed, because packing it takes minutes.
    """
    environment = directory / "environment"
    venv.create(environment, symlinks=True, with_pip=False)
    (packages,) = environment.glob("lib/python*/site-packages")
    (packages / "needed.pth").write_text(str(Path(pyspark.__file__).parents[1]) + "\n")
    source = Path(eddyline.__file__).parent
    shutil.copytree(source, packages / "eddyline")  # with compiled kernels, if there are any
    archive = directory / "environment.tar.gz"
    with tarfile.open(archive, "w:gz", compresslevel=1) as tar:
        tar.add(environment, ".")
    return archive


def spark_home(directory: Path) -> Path:
    """Spark as it is installed, in a directory that can be written."""
    home = directory / "spark"
    home.mkdir()
    for part in Path(pyspark.__file__).parent.iterdir():
        (home / part.name).symlink_to(part)
    return home


def test_executors_have_their_own_directory_and_environment(cluster: Cluster) -> None:
    workers = cluster.report["workers"]
    directories = {directory for directory, *_ in workers}
    assert len(directories) == 2 and str(cluster.directory) not in directories
    for directory, interpreter, package in workers:
        assert interpreter.startswith(f"{directory}/environment/")
        assert package.startswith(f"{directory}/environment/")


@pytest.mark.parametrize("name", JOBS)
def test_same_changes_as_embedded(cluster: Cluster, name: str) -> None:
    job = JOBS[name]
    expected = embedded(job.streams())
    assert all(expected.values()), "each query must have something to say"
    assert cluster.changes(name) == expected
    rows = 40 * job.files
    assert cluster.report["jobs"][name]["rows_in"] == {"a": rows, "b": rows}


def test_lost_executors_fail_no_batch(cluster: Cluster) -> None:
    report = cluster.report["jobs"]["lossy"]
    assert report["lost_in_batch"] > 0, "no executor was lost while it had work"
    assert report["restarts"] == 0
