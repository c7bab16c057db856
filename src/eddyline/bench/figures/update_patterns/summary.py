"""What is written of a run: JSON, tables in Markdown, and the figures."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from eddyline.bench.figures.fit import fit
from eddyline.bench.figures.plots import Plot, draw_bars, draw_lines
from eddyline.bench.figures.points import Case, Effort, Point
from eddyline.bench.figures.report import markdown_table, point_as_dict, write_json
from eddyline.bench.figures.results import Results
from eddyline.bench.figures.trace import Trace
from eddyline.bench.figures.update_patterns.cases import CASES
from eddyline.bench.figures.update_patterns.claims import judged
from eddyline.bench.measure import machine

PLOTS: Final = (
    Plot("figure-09", "Figure 9: Query 1, protocol = ftp", "query1-ftp", "time"),
    Plot("figure-10", "Figure 10: Query 1, protocol = telnet", "query1-telnet", "time"),
    Plot("figure-11", "Figure 11: Query 2, distinct sources", "query2-src", "time"),
    Plot("figure-12", "Figure 12: Query 2, distinct pairs", "query2-pairs", "time"),
    Plot("figure-13", "Figure 13: Query 2, distinct sources", "query2-src", "state"),
    Plot("figure-14", "Figure 14: Query 2, distinct pairs", "query2-pairs", "state"),
    Plot("figure-15", "Figure 15: Query 3", "query3", "time"),
    Plot("figure-16", "Figure 16: Query 4", "query4", "time"),
    Plot("figure-17", "Figure 17: Query 5", "query5", "time"),
)


@dataclass(frozen=True)
class Series:
    """A trace and the windows over which every case is measured on it.

    Attributes:
        make: makes the trace; in each measuring process anew, from files or a seed.
        windows: in time units.
    """

    make: Callable[[], Trace]
    windows: tuple[int, ...]
    effort: Effort

    def tasks(self) -> Iterator[tuple[Case, int]]:
        """Every case over every window."""
        for case in CASES.values():
            for window in self.windows:
                yield case, window


def write_all(
    out: Path, series: Sequence[Series], points: Sequence[Sequence[Point]], *, quick: bool
) -> dict[str, Any]:
    """Write every file; the content of ``figures.json``."""
    traces = [one.make() for one in series]
    results = [Results(p) for p in points]
    main = results[0]
    largest = series[0].windows[-1]
    report = {
        "paper": "Golab and Ozsu, Update-Pattern-Aware Modeling and Processing of Continuous "
        "Queries, SIGMOD 2005, section 6",
        "command": f"eddyline bench figures update-patterns{' --quick' if quick else ''}",
        "machine": machine(),
        "traces": [
            {
                "name": trace.name,
                "about": trace.about,
                "few": trace.few,
                "many": trace.many,
                "windows": list(one.windows),
                "effort": asdict(one.effort),
            }
            for trace, one in zip(traces, series, strict=True)
        ],
        "fit": fit(traces[0], largest),
        "sizes": answer_sizes(main),
        "claims": judged(main),
        "points": [point_as_dict(p) for part in points for p in part],
    }
    write_json(report, out / "figures.json")
    write_json(report["claims"], out / "claims.json")
    (out / "claims.md").write_text(as_markdown(report, results[1:]))
    for plot in PLOTS:
        draw_lines(plot, main, f"{traces[0].about}", out)
    titles = {name: case.title for name, case in CASES.items()}
    for trace, of_trace in zip(traces[1:], results[1:], strict=True):
        window = of_trace.windows(next(iter(CASES)))[-1]
        title = f"Queries 1 to 5, window of {window:,} time units"
        draw_bars(trace.name, title, of_trace, titles, out, trace.about)
    return report


def answer_sizes(results: Results) -> list[dict[str, Any]]:
    """How large the answers are at the largest window, and how much of them is taken back."""
    rows = []
    for name, case in CASES.items():
        window = results.windows(name)[-1]
        point = results.point(name, window, case.contenders[-1].label)
        rows.append(
            {
                "query": case.title,
                "window": f"{window:,}",
                "answer rows": f"{point.answer_rows:,}",
                "results per 1,000 tuples": round(
                    1_000 * point.inserted / (point.rows * len(point.ms_per_1000))
                ),
                "taken back early": f"{point.taken_back / max(point.inserted, 1):.0%}",
            }
        )
    return rows


def as_markdown(report: Mapping[str, Any], others: Sequence[Results]) -> str:
    """``claims.md``: claims, sizes, times and fit as tables."""
    machine_text = ", ".join(f"{k} {v}" for k, v in report["machine"].items())
    parts = [
        "# Update patterns: what the paper says, and what was measured",
        f"Made by `{report['command']}`. {machine_text}.",
        "Figures and claims are of the synthetic trace. Compare numbers within one run only.",
        "## Claims",
        markdown_table(report["claims"], ("source", "claim", "measured", "holds")),
        "## Answers",
        markdown_table(report["sizes"], report["sizes"][0]),
        "## Milliseconds per 1,000 tuples",
        *(_times(report, trace) for trace in report["traces"]),
        "## How the synthetic trace fits",
        markdown_table(report["fit"], report["fit"][0]),
    ]
    return "\n\n".join(parts) + "\n"


def _times(report: Mapping[str, Any], trace: Mapping[str, Any]) -> str:
    """A table of a trace's times: a row per query and window, a column per contender."""
    points = [p for p in report["points"] if p["trace"] == trace["name"]]
    contenders = list(dict.fromkeys(p["contender"] for p in points))
    rows: dict[tuple[str, int], dict[str, Any]] = {}
    for p in points:
        start = {"query": CASES[p["case"]].title, "window": f"{p['window']:,}"}
        row = rows.setdefault((p["case"], p["window"]), start | dict.fromkeys(contenders, ""))
        row[p["contender"]] = f"{p['ms_per_1000']:.2f}"
    table = markdown_table(list(rows.values()), ("query", "window", *contenders))
    return f"### {trace['name']}: {trace['about']}\n\n{table}"
