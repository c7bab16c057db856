"""The faults that the tests have caused; pytest prints them at the end as a table."""

from __future__ import annotations

from collections import Counter

#: After each the results were those of a run without it; by kind of fault.
_survived: Counter[str] = Counter()
#: What happened, by kind: "the job went on", ...
_outcomes: dict[str, Counter[str]] = {}
#: Lines below the table.
_figures: list[str] = []


def survived(fault: str, outcome: str) -> None:
    """Record a fault after which the results were compared, and right."""
    _survived[fault] += 1
    _outcomes.setdefault(fault, Counter())[outcome] += 1


def note_figure(text: str) -> None:
    """Record what was measured."""
    _figures.append(text)


def table() -> list[str]:
    """The lines of the table; empty if there was no fault."""
    if not _survived:
        return []
    width = max(map(len, (*_survived, "total")))
    lines = [f"{'fault':{width}}  times  then"]
    for fault, times in _survived.items():
        outcomes = ", ".join(f"{n} x {text}" for text, n in _outcomes[fault].most_common())
        lines.append(f"{fault:{width}}  {times:5}  {outcomes}")
    return [
        *lines,
        f"{'total':{width}}  {_survived.total():5}  results as without faults",
        *_figures,
    ]
