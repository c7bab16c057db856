"""What is written of a run: JSON, and tables in Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from eddyline.bench.figures.fit import fit
from eddyline.bench.figures.points import Point
from eddyline.bench.figures.report import (
    CLAIM_COLUMNS,
    markdown_table,
    point_as_dict,
    today,
    write_json,
)
from eddyline.bench.figures.results import Results
from eddyline.bench.figures.trace import Trace
from eddyline.bench.figures.update_patterns.cases import CASES, UPA_50
from eddyline.bench.figures.update_patterns.claims import judged
from eddyline.bench.figures.update_patterns.drawing import draw_eager, draw_figures, draw_recorded
from eddyline.bench.figures.update_patterns.experiment import PatternExperiment, Series
from eddyline.bench.measure import machine


def write_all(
    out: Path, experiment: PatternExperiment, points: Sequence[Sequence[Point]], command: str
) -> dict[str, Any]:
    """Write every file.

    Args:
        points: of each series, as the experiment lists them.

    Returns:
        The content of ``figures.json``.
    """
    main, recorded = experiment.main, experiment.recorded
    first, last = 1 + len(experiment.on_off), 1 + len(experiment.on_off) + len(recorded)
    trace, results = main.make(), Results([p for part in points[:first] for p in part])
    described = [_described(trace, main)]
    if experiment.on_off:
        described.append(_on_off(experiment))
    draw_figures(results, {d["name"]: d["about"] for d in described}, out)
    for series, of_trace in zip(recorded, points[first:last], strict=True):
        other = series.make()
        draw_recorded(other, Results(of_trace), out)
        described.append(_described(other, series))
    eager = [p for part in points[last:] for p in part]
    draw_eager(eager, trace.about, out)
    report = {
        "paper": "Golab and Ozsu, Update-Pattern-Aware Modeling and Processing of Continuous "
        "Queries, SIGMOD 2005, section 6",
        "command": command,
        "made": today(),
        "machine": machine(),
        "traces": described,
        "fit": fit(trace, main.windows[-1]),
        "answers": answer_sizes(results, trace),
        "claims": judged(results),
        "points": [point_as_dict(p) for part in points[:last] for p in part],
        "eager": [point_as_dict(p) for p in eager],
    }
    write_json(report, out / "figures.json")
    write_json(report["claims"], out / "claims.json")
    (out / "claims.md").write_text(as_markdown(report))
    return report


def _on_off(experiment: PatternExperiment) -> dict[str, Any]:
    """The traces of all windows as one."""
    series = experiment.on_off[-1]
    windows = [s.windows[0] for s in experiment.on_off]
    return {**_described(series.make(), series), "windows": windows}


def _described(trace: Trace, series: Series) -> dict[str, Any]:
    return {
        "name": trace.name,
        "about": trace.about,
        "few": trace.few,
        "many": trace.many,
        "windows": list(series.windows),
        "effort": asdict(series.effort),
    }


def answer_sizes(results: Results, trace: Trace) -> list[dict[str, Any]]:
    """How large the answers are at the largest window, and how much of them is taken back."""
    rows = []
    for name, case in CASES.items():
        window = results.windows(name)[-1]
        point = results.point(name, window, UPA_50)
        tuples = point.rows * len(point.ms_per_1000)
        rows.append(
            {
                "query": case.title.format(few=trace.few, many=trace.many),
                "window": f"{window:,}",
                "answer rows": f"{point.answer_rows:,}",
                "results per 1,000 tuples": round(1_000 * point.inserted / tuples),
                "taken back early": f"{results.premature(name, window, UPA_50):.0%}",
            }
        )
    return rows


def as_markdown(report: Mapping[str, Any]) -> str:
    """``claims.md``: claims, answers, times and fit as tables."""
    machine_text = ", ".join(f"{k} {v}" for k, v in report["machine"].items())
    main = report["traces"][0]
    parts = [
        "# Update patterns: what the paper says, and what was measured",
        f"Made by `{report['command']}`, {report['made']}. {machine_text}.",
        f"Claims are judged on the {main['name']} trace (Query 5: on-off), with an eager interval "
        f"of {main['effort']['chunk_rows']:,} rows. Compare numbers within one run only.",
        "## Claims",
        markdown_table(report["claims"], CLAIM_COLUMNS),
        "## Answers",
        markdown_table(report["answers"], report["answers"][0]),
        "## Milliseconds per 1,000 tuples",
        *(_times(report, trace) for trace in report["traces"]),
        *_eager(report["eager"], main),
        "## How the synthetic trace fits",
        markdown_table(report["fit"], report["fit"][0]),
    ]
    return "\n\n".join(parts) + "\n"


def _times(report: Mapping[str, Any], trace: Mapping[str, Any]) -> str:
    points = [p for p in report["points"] if p["trace"] == trace["name"]]
    return f"### {trace['name']}: {trace['about']}\n\n{_time_table(points, 'window', trace)}"


def _eager(points: Sequence[Mapping[str, Any]], trace: Mapping[str, Any]) -> list[str]:
    """Times by the rows between two eager expiries, if they were measured."""
    if not points:
        return []
    window = points[0]["window"]
    table = _time_table(points, "chunk_rows", trace)
    return [f"### By rows between two eager expiries, window {window:,}\n\n{table}"]


def _time_table(points: Sequence[Mapping[str, Any]], by: str, trace: Mapping[str, Any]) -> str:
    """A row per query and value of ``by``, a column per contender."""
    contenders = list(dict.fromkeys(p["contender"] for p in points))
    rows: dict[tuple[str, int], dict[str, str]] = {}
    for p in points:
        title = CASES[p["case"]].title.format(few=trace["few"], many=trace["many"])
        start = {"query": title, by: f"{p[by]:,}"} | dict.fromkeys(contenders, "")
        row = rows.setdefault((p["case"], p[by]), start)
        least, most = (f"{p[which]:.2f}" for which in ("least_ms", "most_ms"))
        row[p["contender"]] = f"{p['ms_per_1000']:.2f} ({least} to {most})"
    order = sorted(rows, key=lambda key: (list(CASES).index(key[0]), key[1]))
    return markdown_table([rows[key] for key in order], ("query", by, *contenders))
