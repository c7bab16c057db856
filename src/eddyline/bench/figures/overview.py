"""One page of all five papers: what they claim, and what was measured, made from the reports."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from eddyline.bench.figures.reasons import REASONS
from eddyline.bench.figures.report import markdown_table

PAGE: Final = "papers.md"
#: Sources of claims that are no paper's begin so.
_OURS: Final = "this project"
_VERDICTS: Final = ("yes", "in part", "no")


def write_overview(folder: Path, names: Sequence[str]) -> Path:
    """Write ``papers.md`` into the directory that has the results of papers in folders.

    Args:
        names: of the papers; those that have no report in the directory are left out.
    """
    reports = {
        name: json.loads(file.read_text())
        for name in names
        if (file := folder / name / "figures.json").exists()
    }
    page = folder / PAGE
    page.write_text(_page(folder, reports))
    return page


def _page(folder: Path, reports: Mapping[str, Mapping[str, Any]]) -> str:
    parts = [
        "# What the five papers claim, what we measure",
        "Made by `make figures` (`eddyline bench figures all`), from the reports of the papers; "
        "`eddyline bench figures page` makes it anew without measuring. What is *asked* of a "
        "measurement was stated before it; a claim of which the right direction holds, but not "
        "the extent, holds *in part*. Numbers are medians, with the least and the most of the "
        "repeats. Outside the regime of the paper a claim does not hold. How everything is "
        "measured: [benchmarks](../benchmarks.md).",
        markdown_table(_counts(reports), ("paper", "of", *_VERDICTS, "made")),
        *(part for name, report in reports.items() for part in _paper(folder, name, report)),
    ]
    return "\n\n".join(parts) + "\n"


def _counts(reports: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
    rows = []
    for name, report in reports.items():
        of = {"the paper": False, "this project": True}
        for whose, ours in of.items():
            mine = [c for c in report["claims"] if _is_ours(c) == ours]
            found = Counter(claim["holds"] for claim in mine)
            rows.append(
                {
                    "paper": f"[{name}]({name}/claims.md)",
                    "of": whose,
                    **{verdict: found[verdict] for verdict in _VERDICTS},
                    "made": f"`{report['command']}`, {report.get('made', 'undated')}",
                }
            )
    return rows


def _paper(folder: Path, name: str, report: Mapping[str, Any]) -> list[str]:
    """The claims of one paper, those of the project behind them, and its pictures."""
    claims = sorted(report["claims"], key=_is_ours)
    rows = [{**claim, "why not": _reason(name, claim)} for claim in claims]
    files = sorted(file.name for file in (folder / name).glob("*.png"))
    pictures = " · ".join(f"[{file.removesuffix('.png')}]({name}/{file})" for file in files)
    machine = ", ".join(f"{key} {value}" for key, value in report["machine"].items())
    columns = ("source", "claim", "asked", "measured", "holds", "why not")
    return [
        f"## {name}",
        f"{report['paper']}. Made by `{report['command']}`, {report.get('made', 'undated')}: "
        f"{machine}.",
        markdown_table([_filled(row, columns) for row in rows], columns),
        f"Pictures: {pictures}",
    ]


def _filled(row: Mapping[str, Any], columns: Sequence[str]) -> dict[str, Any]:
    return {column: row.get(column, "") for column in columns}


def _is_ours(claim: Mapping[str, Any]) -> bool:
    return str(claim["source"]).startswith(_OURS)


def _reason(name: str, claim: Mapping[str, Any]) -> str:
    """In one sentence, why a claim does not hold."""
    if claim["holds"] == "yes":
        return ""
    source = claim["source"]
    return REASONS.get((name, source, claim["claim"])) or REASONS.get((name, claim["claim"]), "")
