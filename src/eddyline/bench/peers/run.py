"""``eddyline bench peers``: the cases, one after the other, and their figures."""

from __future__ import annotations

import datetime
import json as json_
import os
import platform
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from rich.console import Console
from rich.table import Table

from eddyline.bench.figures.console import progress_bar
from eddyline.bench.measure import machine
from eddyline.bench.peers.cases import Case
from eddyline.bench.peers.install import note
from eddyline.bench.peers.page import page, row, winners
from eddyline.bench.peers.process import Limits, all_cores
from eddyline.bench.peers.sizes import FULL, QUICK
from eddyline.bench.peers.systems import System, systems
from eddyline.bench.peers.turns import Outcome, measure
from eddyline.bench.peers.why import why
from eddyline.errors import DataError, SetupError

_ROUNDS: Final = 3
_QUICK_ROUNDS: Final = 1
#: Instead of the name of a peer: every one, also those that take long.
ALL: Final = "all"


@dataclass(frozen=True)
class Choice:
    """What is measured, and how.

    Attributes:
        peers: names, or ``all``; empty: all that can be installed and do not take long.
        case: part of the names of cases. quick: few and small ones.
        rounds: runs that count; None: 3, or 1 if quick.
        cores: how many. memory_mb: of each peer.
    """

    peers: Sequence[str] = ()
    case: str | None = None
    quick: bool = False
    rounds: int | None = None
    cores: int = 1
    memory_mb: int = 6_000


def run_peers(choice: Choice, *, write: Path | None = None, json: bool = False) -> None:
    """Measure, and print a table per case, one JSON object, or write a page.

    Raises:
        SetupError: a peer that is asked for cannot be installed.
        DataError: there is no such peer or case.
        Differ: peers have found different results; nothing is printed or written.
        PeerFailed: a peer has failed.
    """
    cases = chosen_cases(choice)
    peers = installed(choice.peers)
    limits = Limits(all_cores()[: choice.cores], choice.memory_mb)
    rounds = choice.rounds or (_QUICK_ROUNDS if choice.quick else _ROUNDS)
    about = _about(peers, limits, rounds)
    titles = {peer.name: peer.title for peer in peers}
    outcomes: list[Outcome] = []
    with progress_bar() as progress:
        task = progress.add_task("", total=len(cases))

        def tell(text: str) -> None:
            progress.update(task, description=text)

        for case in cases:
            with tempfile.TemporaryDirectory(prefix="eddyline-peers-") as folder:
                outcomes.append(
                    measure(
                        case, peers, limits, Path(folder), rounds, warm=not choice.quick, tell=tell
                    )
                )
            if write is not None:  # after each case: a long run may be ended
                write.parent.mkdir(parents=True, exist_ok=True)
                write.write_text(page(outcomes, titles, about), encoding="utf-8")
            progress.advance(task)
    if write is not None:
        note(f"written: {write}")
    if json:
        print(json_.dumps(report(outcomes, about), indent=2))
    elif write is None:
        show(outcomes, titles, Console())


def chosen_cases(choice: Choice) -> list[Case]:
    """The cases whose name contains what is asked for.

    Raises:
        DataError: there is none.
    """
    known = QUICK if choice.quick else FULL
    cases = [case for case in known if choice.case is None or choice.case in case.name]
    if not cases:
        raise DataError(f"no such case; there are: {'; '.join(case.name for case in known)}")
    return cases


def installed(
    names: Sequence[str], known: Callable[[], Sequence[System]] = systems
) -> list[System]:
    """Eddyline and the peers that are asked for; or all that can be installed.

    Raises:
        SetupError: a peer that is asked for cannot be installed.
        DataError: there is no such peer.
    """
    ours, *peers = known()
    valid = [peer.name for peer in peers]
    for name in names:
        if name not in (*valid, ALL):
            raise DataError(f"no peer '{name}'; there are: {', '.join([*valid, ALL])}")
    found = [ours]
    for peer in peers:
        if peer.name not in names and ALL not in names:
            if names:
                continue
            if peer.is_slow:
                note(f"without {peer.title}, which takes long: --peer {peer.name}, or --peer all")
                continue
        try:
            peer.install()
        except SetupError as missing:
            if peer.name in names:
                raise
            note(f"without {peer.title}: {missing}")
            continue
        found.append(peer)
    return found


def report(outcomes: Sequence[Outcome], about: dict[str, Any]) -> dict[str, Any]:
    """Everything, for machines."""
    return {
        "about": about,
        "cases": [
            {
                "name": outcome.case.name,
                "kind": outcome.case.kind,
                "peers": {n: m.as_dict() for n, m in outcome.measured.items()},
                "faster": {n: why(outcome.case.kind, n) for n in winners(outcome)},
                "left_out": outcome.left_out,
            }
            for outcome in outcomes
        ],
    }


def show(outcomes: Sequence[Outcome], titles: dict[str, str], console: Console) -> None:
    """A table per case."""
    for outcome in outcomes:
        table = Table("peer", "form", title=f"{outcome.case.name}: equal results")
        for heading in ("rows/s", "spread", "rows/CPU s", "peak MB", "times"):
            table.add_column(heading, justify="right")
        ours = outcome.measured.get("eddyline")
        for name, measured in outcome.measured.items():
            table.add_row(titles[name], measured.form, *row(measured, ours))
        console.print(table)
        for name, reason in outcome.left_out.items():
            console.print(f"without {titles[name]}: {reason}")


def _about(peers: Sequence[System], limits: Limits, rounds: int) -> dict[str, Any]:
    many = len(limits.cores)
    return {
        "command": " ".join(["eddyline", *sys.argv[1:]]),
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "machine": f"{_processor()}, {os.cpu_count()} cores, {platform.system()}, "
        f"Python {platform.python_version()}",
        "cores": f"{many} core{'s' if many > 1 else ''}",
        "memory": limits.memory_mb,
        "rounds": rounds,
        "versions": [peer.version() for peer in peers],
        "eddyline": machine()["eddyline"],
    }


def _processor() -> str:
    """The name of the processor, or of its architecture."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, platform.machine())
