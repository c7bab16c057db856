"""What ``list``, ``stats`` and ``tail`` print of a running job: text for people, JSON lines."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

import pyarrow as pa

from eddyline.cli.mailbox_client import Status, state_of
from eddyline.cli.view import instant, jsonable
from eddyline.spark.printing import format_rows
from eddyline.spark.verify import Finding

_BYTE_UNITS: Final = ("B", "kB", "MB", "GB", "TB")


def print_queries(status: Status, *, as_json: bool) -> None:
    """The standing queries."""
    if as_json:
        for query in status.queries:
            _print_json("query", **query, set_aside=_set_aside(status, query["name"]))
        _print_state(status)
        return
    lines = [("query", "since", "sink", "state", "SQL")]
    for query in status.queries:
        since = f"{datetime.fromisoformat(query['since']):%Y-%m-%d %H:%M:%S}"
        sql = " ".join(query["sql"].split())
        state = "runs" if _set_aside(status, query["name"]) is None else "set aside"
        lines.append((query["name"], since, query["sink"], state, sql))
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    _print_aligned(lines, width)
    for query in status.queries:
        if (cause := _set_aside(status, query["name"])) is not None:
            print(f"{query['name']} is set aside: {cause}")
    _print_state(status)


def _set_aside(status: Status, query: str) -> str | None:
    """Why a query does not run any more; None: it runs."""
    cause: str | None = status.stats.get(query, {}).get("set_aside")
    return cause


def print_stats(status: Status, names: Sequence[str], *, as_json: bool) -> None:
    """How far the job is, and the figures of some of its queries."""
    out = status.progress["rows_out"]
    metrics = {  # rows_out: the job counts since its first start, the engine since its last one
        name: {**_flat(status.stats.get(name, {})), "rows_out": out.get(name, 0)} for name in names
    }
    if as_json:
        problem = status.problem
        _print_json("job", state=status.state, at=status.at, problem=problem, **status.progress)
        for name, entry in metrics.items():
            _print_json("query", name=name, **entry)
        return
    _print_progress(status.progress)
    columns = list(dict.fromkeys(key for entry in metrics.values() for key in entry))
    lines = [("query", *(c.replace("_", " ") for c in columns))]
    for name, entry in metrics.items():
        lines.append((name, *(amount(c, entry.get(c)) for c in columns)))
    numbers = {
        i
        for i, column in enumerate(columns, start=1)
        if not any(isinstance(entry.get(column), str) for entry in metrics.values())
    }
    _print_aligned(lines, None, numbers)
    _print_state(status)


def print_results(query: str, rows: pa.Table, n: int, *, as_json: bool) -> None:
    """The first rows of a batch of a query, of the ``n`` that there were."""
    if as_json:
        _print_json("rows", query=query, count=n, rows=rows.to_pylist())
    elif rows.num_rows:
        print(format_rows(query, rows, n), flush=True)
    else:
        print(f"{query}: {n:,} rows, too large to show", flush=True)


def print_findings(findings: Iterable[Finding], *, as_json: bool) -> bool:
    """What was found in a checkpoint, as it is found; whether nothing is wrong."""
    sound = True
    for finding in findings:
        sound &= finding.level != "error"
        if as_json:
            _print_json("finding", **vars(finding))
        else:
            print(f"{finding.level:5}  {finding.what:12}  {finding.text}", flush=True)
    return sound


def amount(key: str, value: Any) -> str:
    """A value of a metric as people read it; the end of its name tells the unit.

    >>> amount("state_bytes", 2_500_000), amount("cpu_seconds", 0.25), amount("rows_saved", 12345)
    ('2.5 MB', '0.25 s', '12,345')
    """
    if value is None:
        return "-"
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return str(value)
    match key.rpartition("_")[2]:
        case "bytes":
            return _bytes(value)
        case "seconds":
            return _seconds(value)
        case "us":
            return _seconds(value / 1e6)
        case "share":
            return f"{value:.1%}"
    return f"{value:,}" if isinstance(value, int) else f"{value:,.4g}"


def _seconds(value: float) -> str:
    return f"{value:.3g} s" if abs(value) < 1000 else f"{value:,.0f} s"


def _bytes(value: float) -> str:
    for unit in _BYTE_UNITS[:-1]:
        if abs(value) < 1000:
            return f"{value:.3g} {unit}"
        value /= 1000
    return f"{value:.3g} {_BYTE_UNITS[-1]}"


def _flat(entry: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested metrics as ``outer.inner``."""

    def items() -> Iterator[tuple[str, Any]]:
        for key, value in entry.items():
            if isinstance(value, Mapping):
                yield from _flat(value, f"{prefix}{key}.").items()
            else:
                yield prefix + key, value

    return dict(items())


def _print_progress(progress: Mapping[str, Any]) -> None:
    print(
        f"{sum(progress['rows_in'].values()):,} rows in, "
        f"{sum(progress['rows_out'].values()):,} out, "
        f"{sum(progress['late'].values()):,} late, {sum(progress['bad'].values()):,} bad, "
        f"{sum(progress['dropped'].values()):,} dropped; "
        f"{progress['rows_per_second']:,.0f} rows/s"
    )
    for group, us in progress["watermark_us"].items():
        print(f"watermark of {group}: {instant(us)}")
    print()


def _print_state(status: Status) -> None:
    """On standard error, where the job does not run, or has trouble with requests."""
    if status.state != "running":
        print(f"the job does not run: {state_of(status)}", file=sys.stderr)
    if status.problem is not None:
        print(f"the job has trouble with its mailbox: {status.problem}", file=sys.stderr)


def _print_aligned(
    lines: Sequence[Sequence[str]], width: int | None, numbers: Collection[int] = ()
) -> None:
    """Columns, the first line above them, cut at the width; those that hold numbers stand right."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        cells = [
            cell.rjust(w) if i in numbers else cell.ljust(w)
            for i, (cell, w) in enumerate(zip(line, widths, strict=True))
        ]
        text = "  ".join(cells).rstrip()
        print(text if width is None or len(text) <= width else f"{text[: width - 1]}…")


def _print_json(event: str, **content: Any) -> None:
    print(json.dumps({"event": event, **content}, default=jsonable), flush=True)
