"""Peers as processes: turns, comparison, and what goes wrong; with a peer that only pretends."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from eddyline.bench.peers.bags import Bag, Differ
from eddyline.bench.peers.cases import Case
from eddyline.bench.peers.process import Limits, PeerFailed, TooSlow, all_cores, started
from eddyline.bench.peers.run import Choice, chosen_cases, installed, report
from eddyline.bench.peers.systems import Forms, System
from eddyline.bench.peers.turns import measure
from eddyline.errors import DataError, SetupError

_CASE = Case("small", "join", 100, 10, 20, 30)
_LIMITS = Limits(all_cores()[:1], 4_000, 30.0)


class Fake(System):
    """Answers what its forms say."""

    def __init__(self, name: str, *forms: str, why: str = "", missing: bool = False) -> None:
        self.name = self.title = name
        self._forms = Forms(forms, why)
        self._missing = missing

    def install(self) -> None:
        if self._missing:
            raise SetupError(f"{self.name} needs the command x")

    def command(self, limits: Limits) -> list[str]:
        return [sys.executable, str(Path(__file__).parent / "fake_peer.py")]

    def forms(self, case: Case) -> Forms:
        return self._forms

    def version(self) -> str:
        return f"{self.name} 1"


def test_peers_take_turns(tmp_path: Path) -> None:
    told: list[str] = []
    peers = [Fake("eddyline", "right"), Fake("b", "right"), Fake("c", why="cannot say it")]
    outcome = measure(_CASE, peers, _LIMITS, tmp_path, 2, tell=told.append)
    runs = range(1, 7)  # short ones
    assert told[2:] == [f"small: {who}, run {n}" for n in runs for who in ("eddyline", "b")]
    assert outcome.left_out == {"c": "cannot say it"}
    for measured in outcome.measured.values():
        assert measured.rows == 200 and len(measured.runs) == 6
        assert {run.bag for run in measured.runs} == {Bag(3, 7)}
        assert measured.rows_per_s > 0 and measured.spread[0] <= measured.spread[1]
        if os.path.exists("/proc/self/status"):
            assert measured.peak_mb is not None and measured.peak_mb > 5
    assert report([outcome], {})["cases"][0]["peers"]["b"]["results"] == 3


def test_peers_that_differ_give_no_figures(tmp_path: Path) -> None:
    peers = [Fake("eddyline", "right"), Fake("b", "wrong")]
    with pytest.raises(Differ, match="small: results differ: eddyline, run 1: 3 rows, hash 7"):
        measure(_CASE, peers, _LIMITS, tmp_path, 1)


def test_forms_that_differ_give_no_figures(tmp_path: Path) -> None:
    with pytest.raises(Differ, match="right: 3 rows, hash 7; wrong: 3 rows, hash 8"):
        measure(_CASE, [Fake("eddyline", "right", "wrong")], _LIMITS, tmp_path, 1)


def test_a_peer_that_takes_too_long_is_left_out(tmp_path: Path) -> None:
    peers = [Fake("eddyline", "right"), Fake("b", "slow")]
    outcome = measure(_CASE, peers, _LIMITS._replace(run_s=3.0), tmp_path, 1)
    assert list(outcome.measured) == ["eddyline"]
    assert outcome.left_out == {"b": "b: more than 3 s"}


def test_a_peer_that_fails(tmp_path: Path) -> None:
    with pytest.raises(PeerFailed, match=r"b has failed: .*this form fails"):
        measure(_CASE, [Fake("b", "fails")], _LIMITS, tmp_path, 1)
    command = [*Fake("b").command(_LIMITS), "dies"]
    with (
        pytest.raises(PeerFailed, match="b has failed: RuntimeError: no rows"),
        started("b", command, _LIMITS, tmp_path / "log"),
    ):
        pass


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="needs Linux")
def test_a_peer_is_pinned_and_limited(tmp_path: Path) -> None:
    program = (
        "import os, resource, sys; print('ready', flush=True); sys.stdin.readline();"
        "print(len(os.sched_getaffinity(0)), resource.getrlimit(resource.RLIMIT_DATA)[0], 1, 1)"
    )
    with started("b", [sys.executable, "-c", program], _LIMITS, tmp_path / "log") as process:
        assert process.run("any").bag == Bag(1, 4_000 * 2**20)


def test_a_peer_that_does_not_answer_in_time(tmp_path: Path) -> None:
    command = [*Fake("b").command(_LIMITS), str(tmp_path)]
    limits = _LIMITS._replace(run_s=0.5)
    with (
        started("b", command, limits, tmp_path / "log") as process,
        pytest.raises(TooSlow, match=r"b: more than 0\.5 s"),
    ):
        process.run("slow")


def test_which_peers_and_cases(capsys: pytest.CaptureFixture[str]) -> None:
    def known() -> list[System]:
        return [Fake("eddyline"), Fake("b"), Fake("c", missing=True)]

    assert [peer.name for peer in installed((), known)] == ["eddyline", "b"]
    assert "without c: c needs the command x" in capsys.readouterr().err
    assert [peer.name for peer in installed(("b",), known)] == ["eddyline", "b"]
    with pytest.raises(SetupError, match="c needs the command x"):
        installed(("c",), known)
    with pytest.raises(DataError, match="no peer 'd'; there are: b, c, all"):
        installed(("d",), known)
    assert [case.name for case in chosen_cases(Choice(case="DISTINCT"))] == ["DISTINCT"]
    with pytest.raises(DataError, match="no such case; there are: join, windows"):
        chosen_cases(Choice(case="nothing"))
