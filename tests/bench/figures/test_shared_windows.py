"""Experiments of the shared window joins: a tiny run of all, the driver, and the simulation."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from eddyline.bench.figures import papers
from eddyline.bench.figures.shared_windows import (
    cpu,
    end_to_end,
    equations,
    judges,
    model,
    run,
    schedules,
)
from eddyline.bench.figures.shared_windows.arrivals import arrivals, at_once, evenly
from eddyline.bench.figures.shared_windows.blocks import JoinLoad, blocks
from eddyline.bench.figures.shared_windows.driver import (
    Drive,
    Pace,
    Responses,
    RunOutcome,
    drive_together,
    weighted,
)
from eddyline.bench.figures.shared_windows.operator import shared_join
from eddyline.bench.figures.shared_windows.runs import RunPoint, measure_runs, serve_at_once
from eddyline.bench.figures.shared_windows.server import (
    GREEDY,
    LWO,
    STATE_SLICE,
    STRATEGIES,
    SWF,
    TABLE_1,
    BlockRelease,
    Server,
)
from eddyline.bench.figures.shared_windows.simulated import SimulatedServer
from eddyline.cli.main import app

TINY = JoinLoad("hash", 4, 60, 20.0, 15)


@pytest.mark.long
def test_command(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(papers, "apart", lambda case: case())
    monkeypatch.setattr(schedules, "QUICK_HASH", replace(TINY, alike=True))
    monkeypatch.setattr(schedules, "QUICK_NESTED", replace(TINY, method="nested loops"))
    monkeypatch.setattr(schedules, "_QUICK_SIMULATED", 30)
    loads = tuple(replace(TINY, method=m) for m in ("nested loops", "hash"))
    monkeypatch.setattr(equations, "_QUICK_LOADS", loads)
    monkeypatch.setattr(end_to_end, "_QUICK", replace(TINY, block_rows=16))
    monkeypatch.setattr(cpu, "_QUICK", cpu.Effort(200, 100, 2, 9))
    arguments = ["bench", "figures", "shared-windows", "--quick", "--json", "--out", str(tmp_path)]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    report = json.loads(result.stdout)
    assert report == json.loads((tmp_path / "figures.json").read_text())
    assert report["claims"] == json.loads((tmp_path / "claims.json").read_text())
    assert {claim["holds"] for claim in report["claims"]} <= {"yes", "in part", "no"}
    assert all(report["points"][experiment.name] for experiment in run.PAPER.experiments)
    names = {f"figure-{n}.png" for n in ("03-05", "07", "08", "09", "10")}
    names |= {f"simulated-{n}.png" for n in ("07", "08", "10")}
    names |= {f"end-to-end-{n}.png" for n in ("07", "08", "bursts")}
    assert {f.name for f in tmp_path.glob("*.png")} == names | {
        "equations.png",
        "costs.png",
        "cpu.png",
    }
    text = (tmp_path / "claims.md").read_text()
    assert "| Small-Large | 5 | Greedy |" in text


# -- arrivals ----------------------------------------------------------


@pytest.mark.parametrize("burst", [1.0, 2.0, 4.0, 5.0])
def test_arrivals_have_the_same_rate_whatever_the_bursts(burst: float) -> None:
    come = arrivals(4_000, burst, seed=3)
    assert len(come) == 8_000
    assert (np.diff(come.at) >= 0).all()
    assert np.bincount(come.stream).tolist() == [4_000, 4_000]
    assert come.at[-1] == pytest.approx(4_000, rel=0.02)
    sizes = Counter(come.at[come.stream == 0].tolist())
    assert 4_000 / len(sizes) == pytest.approx(burst, rel=0.2)
    assert (max(sizes.values()) > 20) == (burst > 1)


def test_even_arrivals_take_turns() -> None:
    come = evenly(3)
    assert come.at.tolist() == [0.0, 0.5, 1.0, 1.5, 2.0, 2.5]
    assert come.stream.tolist() == [0, 1, 0, 1, 0, 1]


# -- the driver --------------------------------------------------------


class _Scripted:
    """Each unit takes a second and has as many results as its number; released by level."""

    join_rows = 100
    output_rows = 3

    def __init__(self) -> None:
        self.seconds = 0.0
        self.queue: list[int] = []
        self.done = 0

    @property
    def waiting(self) -> bool:
        return bool(self.queue)

    @property
    def input_rows(self) -> int:
        return len(self.queue)

    @property
    def scanned(self) -> float:
        return self.done

    def arrive(self, unit: int) -> None:
        self.seconds += 0.25
        self.queue.append(unit)

    def step(self) -> Sequence[BlockRelease]:
        self.seconds += 1.0
        unit = self.queue.pop(0)
        self.done += 1
        return [BlockRelease(0, unit, (unit,)), BlockRelease(1, unit, (0,))]


def test_response_times_are_those_of_a_queue() -> None:
    server = _Scripted()
    drive = Drive(server, np.array([0.0, 0.5, 10.0]), 1, 2, lambda: server.seconds)
    drive.advance()
    outcome = drive.outcome()
    # unit 1: 1.25 s; unit 2 comes at 0.5 and is built at 1.25: ends at 2.5; unit 3: from 10 on
    first, second = outcome.windows
    assert first.results == 6
    assert first.average == pytest.approx((1 * 1.25 + 2 * 2.0 + 3 * 1.25) / 6)
    assert (first.longest, first.p99, first.median) == (2.0, 2.0, 1.25)
    assert second == Responses(0, 0.0, 0.0, 0.0, 0.0)
    assert (outcome.busy_s, outcome.elapsed_s) == (3.75, 11.25)
    assert (outcome.input_rows, outcome.input_share) == (1, 0.01)
    assert (outcome.output_rows, outcome.output_share) == (3, 0.03)


def test_turns_do_not_change_a_run() -> None:
    def drives() -> list[Drive]:
        servers = [_Scripted() for _ in range(2)]
        at = np.array([0.0, 0.1, 2.0, 7.0])
        return [Drive(s, at, 0, 2, lambda s=s: s.seconds) for s in servers]  # type: ignore[misc]

    alone, together = drives(), drives()
    for drive in alone:
        drive.advance()
    drive_together(together, 0.3)
    assert [d.outcome() for d in alone] == [d.outcome() for d in together]


def test_pace_takes_out_what_slows_the_machine_down() -> None:
    class Slowing(_Scripted):
        def step(self) -> Sequence[BlockRelease]:
            self.seconds += 2.0 if self.seconds > 50 else 0.0
            return super().step()

    at = np.arange(400) * 2.0
    server = Slowing()
    drive = Drive(server, at, 0, 2, lambda: server.seconds)
    drive_together([drive], 20.0, [Pace(drive, 1.25)])
    assert drive.outcome().busy_s == pytest.approx(400 * 1.25, rel=0.1)


def test_weights() -> None:
    responses = weighted(np.array([3.0, 1.0, 2.0]), np.array([1, 98, 1]))
    average: Any = pytest.approx(1.03)
    assert responses == Responses(100, average, 1.0, 2.0, 3.0)


# -- the simulation ----------------------------------------------------


def _simulated(strategy: str, units: int) -> RunOutcome:
    scanned = np.diff([0, *TABLE_1["Uniform"]]).tolist()
    server = SimulatedServer(strategy, scanned, scanned, 1.0)
    drive = Drive(server, np.zeros(units), 0, 7, server.clock)
    drive.advance()
    return drive.outcome()


@pytest.mark.parametrize("strategy", [LWO, SWF])
def test_simulation_agrees_with_the_equations(strategy: str) -> None:
    scan_s = [float(w) for w in TABLE_1["Uniform"]]
    if strategy == LWO:
        reckoned = model.largest_window_only(scan_s, 1.0, 50)
    else:
        reckoned = model.smallest_window_first(scan_s, 50)
    measured = [w.average for w in _simulated(strategy, 50).windows]
    assert measured == pytest.approx(reckoned, rel=0.02)


def test_equations_of_one_window_agree() -> None:
    assert model.largest_window_only([7.0], 0.5, 10) == model.isolated([7.0], 0.5, 10)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_every_result_is_released_once_and_in_order(strategy: str) -> None:
    found = [2, 0, 5]
    server = SimulatedServer(strategy, [10, 1, 30], found, 1.0, unit_rows=3, join_rows=9)
    got: dict[int, Counter[int]] = {level: Counter() for level in range(3)}
    latest = [-1, -1, -1]
    for unit in range(40):
        server.arrive(unit)
        for _ in range(unit % 4):
            if server.waiting:
                _take(server, got, latest)
    assert server.input_rows > 0
    while server.waiting:
        _take(server, got, latest)
    assert [dict(got[level]) for level in range(3)] == [
        dict.fromkeys(range(40), sum(found[: level + 1])) for level in range(3)
    ]
    assert server.output_rows == 0


def _take(server: Server, got: dict[int, Counter[int]], latest: list[int]) -> None:
    for r in server.step():
        assert r.first >= latest[r.level], "in the order of the units"
        latest[r.level] = r.first
        got[r.level][r.first] += sum(r.results)


def test_greedy_continues_with_a_small_slice() -> None:
    """Figure 6: w2 - w1 is smaller than w1, w3 - w2 the largest."""
    server = SimulatedServer(GREEDY, [5, 2, 9], [1, 1, 1], 1.0)
    server.arrive(0)
    server.arrive(1)
    order = []
    while server.waiting:
        released = server.step()
        order.append([(r.level, r.first) for r in released])
    # unit 0 up to w2, then unit 1, and only then the rest of both; what unit 1 found comes at once
    assert order[:2] == [[(0, 0), (1, 0), (2, 0)], [(1, 0), (2, 0)]]
    assert order[2][0] == (0, 1)
    assert order[4] == [(2, 0), (2, 1)]


# -- the operator ------------------------------------------------------


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("method", ["hash", "nested loops"])
def test_operator_finds_what_the_windows_hold(strategy: str, method: str) -> None:
    load = JoinLoad(method, 3, 30, 5.0, 12)  # type: ignore[arg-type]
    windows = TABLE_1["Mostly-Small"]
    work = blocks(load, windows, arrivals(12, 2.0, 5), 600)
    server, clock = shared_join(strategy, work)
    drive = Drive(server, np.linspace(0.0, 1e-3, 24), work.preloaded, len(windows), clock)
    drive.advance()
    expected = [0] * len(windows)
    for unit in range(work.preloaded, work.ts_us.size):
        for other in np.flatnonzero(work.stream[:unit] != work.stream[unit]):
            age = work.ts_us[unit] - work.ts_us[other]
            pairs = int((work.keys[unit][:, None] == work.keys[other][None, :]).sum())
            for level, window_us in enumerate(work.windows_us):
                expected[level] += pairs * bool(age < window_us)
    assert [w.results for w in drive.outcome().windows] == expected
    assert server.output_rows == 0


def test_runs_of_all_strategies_have_as_many_results() -> None:
    points = measure_runs(shared_join, TINY, "Small-Large", 2.0)
    assert [p.strategy for p in points] == list(STRATEGIES)
    assert len({p.outcome.windows[-1].results for p in points}) == 1


def test_units_at_once() -> None:
    outcome = serve_at_once(shared_join, TINY, (600,), LWO, 5, 600)
    assert len(at_once(5)) == 5
    assert outcome.windows[0].results > 0


# -- end to end --------------------------------------------------------


def test_engines_find_what_the_operator_finds() -> None:
    load = replace(TINY, matches=5.0)
    bare = measure_runs(shared_join, load, "Small-Large", 2.0)
    points = end_to_end.measure_end_to_end(load, [("Small-Large", 2.0)], repeats=2)
    assert [p.strategy for p in points] == [LWO, SWF, GREEDY]
    expected = [w.results for w in bare[0].outcome.windows]
    assert expected[-1] > 0
    for p in points:
        assert [w.results for w in p.outcomes[0].windows] == expected
        assert [w.results for w in p.outcomes[1].windows] != expected  # other arrivals
        # without a pause where the machine is slow: both are sums of the same terms then
        assert all(0 < o.busy_s <= o.elapsed_s * (1 + 1e-9) for o in p.outcomes)
        assert all(w.longest >= w.average > 0 for w in p.outcome.windows if w.results)


# -- claims ------------------------------------------------------------


def _point(
    strategy: str, distribution: str, averages: Sequence[float], burst: float = 1.0
) -> RunPoint:
    windows = tuple(Responses(10, a, a, a, 2 * a) for a in averages)
    outcome = RunOutcome(windows, 8.0, 10.0, 0.05, 0.02, 5, 2)
    return RunPoint("hash", distribution, burst, strategy, 1e-3, (outcome,))


def _canned(burst: float = 1.0) -> list[RunPoint]:
    lines = {
        LWO: (9, 9, 9, 9, 10, 10, 10),
        SWF: (1, 1, 1, 9, 15, 40, 50),
        GREEDY: (1, 1, 1, 10, 10, 10, 10),
        STATE_SLICE: (2, 2, 2, 9, 15, 40, 50),
    }
    return [_point(s, "Small-Large", line, burst) for s, line in lines.items()]


def test_judges_of_windows() -> None:
    points = _canned()
    assert judges.greedy_is_best(points).holds == "yes"
    assert judges.lwo_is_second(points).holds == "yes"
    assert judges.lwo_is_flat(points).holds == "yes"
    assert judges.best_of_both(points).holds == "yes"
    assert judges.maxima_of_large_windows(points).holds == "yes"
    assert judges.input_buffer(0.1)(points).holds == "yes"
    assert judges.output_buffer(0.01)(points).holds == "no"
    assert judges.not_slower_than_slices(points).holds == "yes"
    assert judges.slices_against_lwo(points).holds == "no"
    assert "1.00x" in judges.costs(points).measured


def test_judges_of_bursts() -> None:
    points = _canned(1.0) + _canned(5.0)
    assert judges.greedy_beats_bursts(points).holds == "yes"
    assert judges.lwo_over_greedy(points).holds == "in part"
    assert judges.longest_of_the_largest(points).measured.startswith("5.0x Greedy's")
    assert judges.longest_of_the_largest(points).holds == "yes"
