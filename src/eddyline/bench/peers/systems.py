"""The peers: how each is installed and started, and what it can be asked."""

from __future__ import annotations

import importlib.util
import os
import sys
from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import cached_property
from importlib.metadata import version
from typing import Final, NamedTuple

from eddyline.bench.peers.cases import Case
from eddyline.bench.peers.install import HERE, java, python, require, rust
from eddyline.bench.peers.process import HEAP, Limits
from eddyline.bench.peers.programs import bytewax_peer, duckdb_peer, eddyline_peer, spark_peer
from eddyline.errors import SetupError


class Forms(NamedTuple):
    """How a query can be written for a peer.

    Attributes:
        names: the fastest of them counts; without names the case is left out.
        why: it is left out.
    """

    names: tuple[str, ...] = ()
    why: str = ""


class System(ABC):
    """A peer, or Eddyline itself.

    Attributes:
        name: on the command line. title: for readers.
        warm_s: seconds for which it runs before it is measured.
        is_slow: it is measured only if it is asked for.
    """

    name: str
    title: str
    warm_s: float = 0.0
    is_slow: bool = False

    @abstractmethod
    def install(self) -> None:
        """Fetch and compile what is not there yet.

        Raises:
            SetupError: something that it needs is missing.
        """

    @abstractmethod
    def command(self, limits: Limits) -> list[str]:
        """The program, without the folder of the case that it takes."""

    @abstractmethod
    def forms(self, case: Case) -> Forms:
        """The forms of a case."""

    def environment(self, limits: Limits) -> Mapping[str, str]:
        """Variables of its process."""
        return {}

    @abstractmethod
    def version(self) -> str:
        """What is measured."""


def _module(program: str) -> list[str]:
    return [sys.executable, "-m", f"eddyline.bench.peers.programs.{program}"]


class Eddyline(System):
    """The engine, embedded."""

    name, title = "eddyline", "Eddyline"

    def install(self) -> None:
        return None

    def command(self, limits: Limits) -> list[str]:
        return _module("eddyline_peer")

    def forms(self, case: Case) -> Forms:
        return Forms(eddyline_peer.forms(case))

    def version(self) -> str:
        return f"Eddyline {version('eddyline')}, embedded"


class DuckDb(System):
    """The same answer computed offline."""

    name, title = "duckdb", "DuckDB, offline"

    def install(self) -> None:
        if importlib.util.find_spec("duckdb") is None:
            raise SetupError("this needs DuckDB: pip install 'eddyline[bench]'")

    def command(self, limits: Limits) -> list[str]:
        return _module("duckdb_peer")

    def forms(self, case: Case) -> Forms:
        if case.call_rows < 100_000:
            return Forms(why="has all rows at once")
        return Forms(duckdb_peer.forms(case))

    def version(self) -> str:
        return f"DuckDB {version('duckdb')}, offline, all rows at once"


class Esper(System):
    """Compiled EPL."""

    name, title = "esper", "Esper"
    warm_s = 6.0
    _size_mb: Final = 13

    @cached_property
    def _path(self) -> str:
        files = ("Case", "Serve", "Events", "EsperPeer")
        sources = [HERE / "java" / f"{name}.java" for name in files]
        return java(self.name, HERE / "java" / "esper.xml", sources, self._size_mb)

    def install(self) -> None:
        assert self._path, "a class path"

    def command(self, limits: Limits) -> list[str]:
        return java_command(self._path, "EsperPeer", limits)

    def forms(self, case: Case) -> Forms:
        if case.kind == "rules":  # a statement per rule takes a minute for 10,000 of them
            return Forms(("filters", "cells") if case.count < 10_000 else ("cells",))
        if case.kind == "queries":
            return Forms(("shared", "statements") if case.count <= 10 else ("shared",))
        if case.kind == "absent":
            return Forms(why="its outer join does not take a row back when its first partner comes")
        if case.kind in ("groups", "distinct"):
            return Forms(("time",))
        if case.kind == "over":
            return Forms(("ext_timed",))
        return Forms(("time", "ext_timed"))

    def version(self) -> str:
        return "Esper 9.0.0, compiled EPL, no locks"


class Differential(System):
    """A program in Rust for each kind of case."""

    name, title = "differential", "differential"
    _size_mb: Final = 6

    @cached_property
    def _binary(self) -> str:
        return str(rust("differential_peer", HERE / "rust", self._size_mb))

    def install(self) -> None:
        assert self._binary, "a program"

    def command(self, limits: Limits) -> list[str]:
        return [self._binary]

    def forms(self, case: Case) -> Forms:
        if case.kind == "join":
            return Forms(("timed", "steps"))
        if case.kind == "rules":
            return Forms(("scan", "cells") if case.count <= 100 else ("cells",))
        return Forms(("dataflow",))

    def version(self) -> str:
        return "differential dataflow 0.26.0, one worker"


class Flink(System):
    """Flink SQL in an embedded cluster."""

    name, title = "flink", "Flink SQL"
    warm_s = 6.0
    _size_mb: Final = 131
    _left_out: Final = {
        "groups": "its groups tell nothing when a row leaves a sliding window",
        "distinct": "its DISTINCT has no sliding window",
        "absent": "its NOT EXISTS has no sliding windows",
    }

    @cached_property
    def _path(self) -> str:
        sources = [HERE / "java" / f"{name}.java" for name in ("Case", "Serve", "FlinkPeer")]
        return java(self.name, HERE.parent / "flink" / "pom.xml", sources, self._size_mb)

    def install(self) -> None:
        assert self._path, "a class path"

    def command(self, limits: Limits) -> list[str]:
        opened = ("java.util", "java.lang")
        options = [f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in opened]
        return java_command(self._path, "FlinkPeer", limits, *options)

    def forms(self, case: Case) -> Forms:
        if case.kind in self._left_out:
            return Forms(why=self._left_out[case.kind])
        return Forms(("job",))

    def version(self) -> str:
        return "Flink SQL 2.2.1, embedded cluster, parallelism 1, state on the heap"


class Bytewax(System):
    """Keyed state in Python."""

    name, title = "bytewax", "Bytewax"
    _version, _size_mb = "0.21.1", 31

    @cached_property
    def _folder(self) -> str:
        return str(python(self.name, [f"bytewax=={self._version}"], self._size_mb))

    def install(self) -> None:
        assert self._folder, "a directory"

    def command(self, limits: Limits) -> list[str]:
        return _module("bytewax_peer")

    def environment(self, limits: Limits) -> Mapping[str, str]:
        path = [self._folder, *filter(None, [os.environ.get("PYTHONPATH")])]
        return {"PYTHONPATH": os.pathsep.join(path)}

    def forms(self, case: Case) -> Forms:
        if case.kind not in bytewax_peer.KINDS:
            return Forms(
                why="only what a state per key says, which its own rows change, is written"
            )
        return Forms(("state",))

    def version(self) -> str:
        return f"Bytewax {self._version}, state per key in Python"


class Spark(System):
    """Structured Streaming, and what one writes by hand in foreachBatch."""

    name, title = "spark", "Spark"
    warm_s, is_slow = 8.0, True

    def install(self) -> None:
        if importlib.util.find_spec("pyspark") is None:
            raise SetupError("this needs PySpark: pip install 'eddyline[spark]'")
        require("Spark", ("java",), "a JDK 17")

    def command(self, limits: Limits) -> list[str]:
        return _module("spark_peer")

    def environment(self, limits: Limits) -> Mapping[str, str]:
        return {HEAP: str(limits.memory_mb)}

    def forms(self, case: Case) -> Forms:
        if case.kind == "absent":
            return Forms(why="its left join of streams tells an absence only when it is final")
        if case.call_rows < 100_000:
            return Forms(why="a batch takes a tenth of a second, however few its rows")
        return Forms(spark_peer.forms(case))

    def version(self) -> str:
        return (
            f"Spark {version('pyspark')}, Structured Streaming from Parquet files, state in memory"
        )


def java_command(path: str, main: str, limits: Limits, *options: str) -> list[str]:
    """A JVM with the memory of the limits; its collector fits the number of cores."""
    collector = "-XX:+UseSerialGC" if len(limits.cores) == 1 else "-XX:+UseParallelGC"
    return ["java", f"-Xmx{limits.memory_mb}m", collector, *options, "-cp", path, main]


def systems() -> list[System]:
    """Eddyline first."""
    return [Eddyline(), DuckDb(), Esper(), Differential(), Flink(), Bytewax(), Spark()]
