"""The figures as a page of the documentation, and as a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from eddyline.bench.peers.turns import Measured, Outcome
from eddyline.bench.peers.why import why

_OURS: Final = "eddyline"

_INTRODUCTION: Final = """\
# Peers, side by side

Made by `{command}` on {date}: {machine}. Do not edit; `docs/benchmarks.md` describes the
cases and how they are measured.

{versions}

Every peer gets the same rows from memory in its own form ({cores}, {memory} MB), runs each
case from an empty state in the fastest of the forms in which it can be written, and takes turns
with the others. All have found equal bags of results, or there would be no figures. Medians of
{rounds} runs, more of those that take less than a second in all, with the slowest and the fastest;
CPU: rows per second of processor time of all threads; the peak includes the input.
"""


def page(outcomes: Sequence[Outcome], titles: Mapping[str, str], about: Mapping[str, Any]) -> str:
    """The page, as Markdown.

    Args:
        titles: of the peers, by name. about: ``command``, ``date``, ``machine``, ``cores``,
            ``memory``, ``rounds``, and ``versions`` (a list of texts).
    """
    versions = "\n".join(f"- {text}" for text in about["versions"])
    parts = [_INTRODUCTION.format(**{**about, "versions": versions}), _overview(outcomes, titles)]
    parts += [_table(outcome, titles) for outcome in outcomes]
    parts.append(_faster(outcomes, titles))
    parts.append(_left_out(outcomes, titles))
    return "\n".join(parts)


def row(measured: Measured, ours: Measured | None) -> tuple[str, str, str, str, str]:
    """Rows/s, their spread, rows per CPU second, the peak, and how many times as fast as ours."""
    low, high = measured.spread
    return (
        f"{measured.rows_per_s:,.0f}",
        f"{low:,.0f} - {high:,.0f}",
        f"{measured.rows_per_cpu_s:,.0f}",
        "-" if measured.peak_mb is None else f"{measured.peak_mb:,.0f}",
        "-" if ours is None else f"{measured.rows_per_s / ours.rows_per_s:.2f}",
    )


def winners(outcome: Outcome) -> list[str]:
    """The peers that are faster than Eddyline, the fastest first."""
    ours = outcome.measured.get(_OURS)
    if ours is None:
        return []
    faster = {
        name: measured.rows_per_s
        for name, measured in outcome.measured.items()
        if name != _OURS and measured.rows_per_s > ours.rows_per_s
    }
    return sorted(faster, key=lambda name: -faster[name])


def _overview(outcomes: Sequence[Outcome], titles: Mapping[str, str]) -> str:
    """How many times as fast as each peer Eddyline is, in all cases."""
    peers = [name for name in titles if name != _OURS]
    lines = [
        "## All cases",
        "",
        "Rows/s of Eddyline, and how many times those of each peer that is.",
        "",
        f"| | Eddyline | {' | '.join(titles[name] for name in peers)} |",
        f"|---|---|{'---|' * len(peers)}",
    ]
    for outcome in outcomes:
        ours = outcome.measured.get(_OURS)
        if ours is not None:
            cells = [_times(ours, outcome.measured.get(name)) for name in peers]
            lines.append(f"| {outcome.case.name} | {ours.rows_per_s:,.0f} | {' | '.join(cells)} |")
    return "\n".join([*lines, ""])


def _times(ours: Measured, peer: Measured | None) -> str:
    """Two digits that count; what is below 1 is bold."""
    if peer is None:
        return "-"
    times = ours.rows_per_s / peer.rows_per_s
    if times < 1:
        return f"**{times:.2f}**"
    return f"{times:.1f}" if times < 10 else f"{times:,.0f}"


def _table(outcome: Outcome, titles: Mapping[str, str]) -> str:
    case = outcome.case
    some = next(iter(outcome.measured.values()), None)
    results = f", {some.runs[0].bag.rows:,} results" if some else ""
    lines = [
        f"## {case.name}",
        "",
        f"{case.all_rows:,} rows{results}.",
        "",
        "| | form | rows/s | spread | rows/CPU s | peak MB | times Eddyline |",
        "|---|---|---|---|---|---|---|",
    ]
    ours = outcome.measured.get(_OURS)
    for name, measured in outcome.measured.items():
        title = f"**{titles[name]}**" if name == _OURS else titles[name]
        lines.append(f"| {title} | {measured.form} | {' | '.join(row(measured, ours))} |")
    return "\n".join([*lines, ""])


def _faster(outcomes: Sequence[Outcome], titles: Mapping[str, str]) -> str:
    lines = ["## Where a peer is faster", ""]
    for outcome in outcomes:
        ours = outcome.measured.get(_OURS)
        for name in winners(outcome):
            assert ours is not None, "it is slower"
            times = outcome.measured[name].rows_per_s / ours.rows_per_s
            reason = why(outcome.case.kind, name)
            lines.append(f"- {outcome.case.name}: {titles[name]}, {times:.2f} times: {reason}.")
    return "\n".join([*lines, ""] if len(lines) > 2 else [*lines, "Nowhere in this run.", ""])


def _left_out(outcomes: Sequence[Outcome], titles: Mapping[str, str]) -> str:
    reasons: dict[tuple[str, str], list[str]] = {}
    for outcome in outcomes:
        for name, reason in outcome.left_out.items():
            reasons.setdefault((name, reason), []).append(outcome.case.name)
    lines = ["## Left out", ""]
    lines += [f"- {titles[n]}: {reason}: {'; '.join(of)}." for (n, reason), of in reasons.items()]
    return "\n".join([*lines, ""] if len(lines) > 2 else [*lines, "Nothing.", ""])
