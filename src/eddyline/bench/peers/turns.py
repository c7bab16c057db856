"""One case: all peers started, warmed up, compared, and then measured in turns."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NamedTuple

from eddyline.bench.peers.bags import check_equal
from eddyline.bench.peers.cases import Case
from eddyline.bench.peers.process import Limits, PeerProcess, Run, TooSlow, started
from eddyline.bench.peers.systems import System

#: A form that takes this many times as long as another is not tried again.
_HOPELESS: Final = 3.0
#: A peer that has been measured for as many seconds is not measured again.
_BUDGET_S: Final = 15.0
#: One that has been measured for less is measured up to three times as often as others.
_SHORT_S: Final = 1.0


@dataclass(frozen=True)
class Measured:
    """The runs of a peer in its fastest form.

    Attributes:
        rows: of all streams, in one run. peak_mb: None where the system cannot tell.
    """

    form: str
    rows: int
    runs: tuple[Run, ...]
    peak_mb: float | None

    @property
    def rows_per_s(self) -> float:
        """Of the median run."""
        return self.rows / statistics.median(run.seconds for run in self.runs)

    @property
    def spread(self) -> tuple[float, float]:
        """Rows/s of the slowest and of the fastest run."""
        return (
            self.rows / max(run.seconds for run in self.runs),
            self.rows / min(run.seconds for run in self.runs),
        )

    @property
    def rows_per_cpu_s(self) -> float:
        """Rows per second of processor time, of the median run."""
        return self.rows / max(1e-9, statistics.median(run.cpu for run in self.runs))

    def as_dict(self) -> dict[str, Any]:
        """For machines."""
        return {
            "form": self.form,
            "rows": self.rows,
            "results": self.runs[0].bag.rows,
            "rows_per_s": round(self.rows_per_s),
            "rows_per_cpu_s": round(self.rows_per_cpu_s),
            "seconds": [round(run.seconds, 4) for run in self.runs],
            "cpu_seconds": [round(run.cpu, 4) for run in self.runs],
            "peak_mb": None if self.peak_mb is None else round(self.peak_mb),
        }


@dataclass
class Outcome:
    """A case, as far as peers could be asked: what they took, and why others were left out."""

    case: Case
    measured: dict[str, Measured] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)


class _Contender(NamedTuple):
    system: System
    process: PeerProcess
    form: str


def measure(
    case: Case,
    peers: Sequence[System],
    limits: Limits,
    folder: Path,
    rounds: int,
    *,
    warm: bool = True,
    tell: Callable[[str], None] = lambda _: None,
) -> Outcome:
    """Measure a case.

    Args:
        peers: installed. folder: for the rows, and the logs of peers.
        rounds: runs of each peer that count; of short ones up to three times as many.
        warm: run JVMs for as long as they need.
        tell: told what is happening.

    Raises:
        Differ: peers have found different results.
        PeerFailed: a peer has failed.
    """
    case.write(folder)
    outcome = Outcome(case)
    contenders: list[_Contender] = []
    with ExitStack() as stack:
        for peer in peers:
            forms = peer.forms(case)
            if not forms.names:
                outcome.left_out[peer.name] = forms.why
                continue
            tell(f"{case.name}: {peer.title} warms up")
            command = [*peer.command(limits), str(folder)]
            log = folder / f"{peer.name}.log"
            block = ExitStack()
            try:
                process = block.enter_context(
                    started(peer.title, command, limits, log, peer.environment(limits))
                )
                form = fastest_form(case, process, forms.names, peer.warm_s if warm else 0.0)
            except TooSlow as late:
                block.close()
                outcome.left_out[peer.name] = str(late)
                continue
            except BaseException:
                block.close()
                raise
            stack.push(block)
            contenders.append(_Contender(peer, process, form))
        _in_turns(case, contenders, rounds, outcome, tell)
    return outcome


def fastest_form(case: Case, process: PeerProcess, forms: Sequence[str], warm_s: float) -> str:
    """Run each form, again and again until the time is up, and compare what they find.

    Raises:
        Differ: forms have found different results.
        TooSlow: the only form, or all of them, take too long.
    """
    begin = time.monotonic()
    left = list(forms)
    while True:
        runs = {form: process.run(form) for form in left}
        check_equal(case.name, {form: run.bag for form, run in runs.items()})
        best = min(runs, key=lambda form: runs[form].seconds)
        left = [f for f in left if runs[f].seconds < _HOPELESS * runs[best].seconds]
        if time.monotonic() - begin >= warm_s:
            return best


def _in_turns(
    case: Case,
    contenders: Sequence[_Contender],
    rounds: int,
    outcome: Outcome,
    tell: Callable[[str], None],
) -> None:
    runs: Mapping[str, list[Run]] = {c.system.name: [] for c in contenders}
    for turn in range(3 * rounds):
        for contender in contenders:
            mine = runs[contender.system.name]
            if sum(run.seconds for run in mine) > (_BUDGET_S if turn < rounds else _SHORT_S):
                continue
            tell(f"{case.name}: {contender.system.title}, run {turn + 1}")
            mine.append(contender.process.run(contender.form))
    found = {
        f"{c.system.title}, run {number + 1}": run.bag
        for c in contenders
        for number, run in enumerate(runs[c.system.name])
    }
    check_equal(case.name, found)
    for contender in contenders:
        name = contender.system.name
        outcome.measured[name] = Measured(
            contender.form, case.all_rows, tuple(runs[name]), contender.process.peak_mb()
        )
