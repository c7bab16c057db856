"""Each system on small cases of each kind: all of them have to find equal bags."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from eddyline.bench.peers import systems
from eddyline.bench.peers.bags import Bag
from eddyline.bench.peers.cases import Case
from eddyline.bench.peers.process import Limits, all_cores
from eddyline.bench.peers.systems import System
from eddyline.bench.peers.turns import measure
from thinned import thinned

_LIMITS = Limits(all_cores()[:1], 6_000, 120.0)
_SMALL = Case("small", "join", 3_000, 100, 200, 100_000)
CASES = {
    "join": _SMALL,
    "join of strings": replace(_SMALL, string_keys=True),
    "join, rows a call": replace(_SMALL, rows=300, call_rows=7),
    "chain": replace(_SMALL, kind="chain", count=3, keys=200),
    "star": replace(_SMALL, kind="star", count=4, keys=400),
    "cycle": replace(_SMALL, kind="cycle", count=3, keys=30),
    "groups": replace(_SMALL, kind="groups"),
    "over": replace(_SMALL, kind="over"),
    "distinct": replace(_SMALL, kind="distinct", keys=200),
    "absent": replace(_SMALL, kind="absent", keys=400),
    "a rule": replace(_SMALL, kind="rules"),
    "rules": replace(_SMALL, kind="rules", count=200),
    "queries": replace(_SMALL, kind="queries", count=5),
}


def answers(peers: Sequence[System], case: Case, folder: Path) -> Bag:
    """Measure, which compares; what all have found."""
    outcome = measure(case, peers, _LIMITS, folder, 1, warm=False)
    bags = {run.bag for measured in outcome.measured.values() for run in measured.runs}
    (bag,) = bags
    assert bag.rows > 0
    return bag


@pytest.mark.parametrize("name", thinned(3, CASES))
def test_the_engine_and_duckdb(name: str, tmp_path: Path) -> None:
    peers = [systems.Eddyline(), systems.DuckDb()]
    whole = answers(peers, replace(CASES[name], call_rows=100_000), tmp_path / "a")
    cut = replace(CASES[name], call_rows=min(CASES[name].call_rows, 1_000))
    assert answers(peers[:1], cut, tmp_path / "b") == whole


def with_tools(peer: type[System], *tools: str) -> object:
    missing = [tool for tool in tools if shutil.which(tool) is None]
    marks = (pytest.mark.long, pytest.mark.skipif(bool(missing), reason=f"needs {missing}"))
    return pytest.param(peer, marks=marks, id=peer.name)


@pytest.mark.parametrize(
    "peer",
    [
        with_tools(systems.Esper, "javac", "mvn"),
        with_tools(systems.Differential, "cargo", "cc"),
        with_tools(systems.Flink, "javac", "mvn"),
        with_tools(systems.Bytewax),
        with_tools(systems.Spark, "java"),
    ],
)
def test_a_peer_that_is_fetched(peer: type[System], tmp_path: Path) -> None:
    one = peer()
    one.install()
    for name, case in CASES.items():
        if not one.forms(case).names:
            continue
        answers([systems.Eddyline(), one], case, tmp_path / name)
