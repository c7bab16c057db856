"""Output of ``list``, ``stats``, ``tail`` and ``checkpoint verify``: text or JSON lines."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

import pyarrow as pa

from eddyline.cli.mailbox_client import Status, state_of
from eddyline.cli.view import cores_text, instant, jsonable, memory_text
from eddyline.optimizer.byte_sizes import bytes_text
from eddyline.spark.delivery.undelivered import Undelivered
from eddyline.spark.sinks.printing import format_rows
from eddyline.spark.verify import Finding

_SHOWN_CELLS: Final = 16
#: What is done with the rows of a split key.
_STEPS: Final = {
    "copies": "the rows of other inputs are copied first",
    "spreads": "its rows are spread",
    "ends": "no longer spread, the others are copied until its rows have expired",
    "waits": "no longer split, until the copies have expired",
}


def print_queries(status: Status, *, as_json: bool) -> None:
    """Print the queries of a job."""
    if as_json:
        for query in status.queries:
            more = {"undelivered": _undelivered(status).get(query["name"])}
            _print_json("query", **query, set_aside=_set_aside(status, query["name"]), **more)
        _print_state(status)
        return
    lines = [("query", "since", "sink", "state", "SQL")]
    for query in status.queries:
        since = f"{datetime.fromisoformat(query['since']):%Y-%m-%d %H:%M:%S}"
        sql = " ".join(query["sql"].split())
        state = "runs" if _set_aside(status, query["name"]) is None else "set aside"
        if query["name"] in _undelivered(status):
            state += ", sink fails"
        lines.append((query["name"], since, query["sink"], state, sql))
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    _print_aligned(lines, width)
    for query in status.queries:
        if (cause := _set_aside(status, query["name"])) is not None:
            print(f"{query['name']} is set aside: {cause}")
    _print_undelivered(_undelivered(status))
    _print_state(status)


def _undelivered(status: Status) -> Mapping[str, Mapping[str, Any]]:
    """By query or side output, what waits for its sink."""
    found: Mapping[str, Mapping[str, Any]] = status.progress.get("undelivered", {})
    return found


def _print_undelivered(waiting: Mapping[str, Mapping[str, Any]]) -> None:
    for name, fields in waiting.items():
        print(f"{name}: {Undelivered(**fields).text}")


def _set_aside(status: Status, query: str) -> str | None:
    """The reason why a query was set aside; None: it runs."""
    cause: str | None = status.stats.get(query, {}).get("set_aside")
    return cause


def print_stats(status: Status, names: Sequence[str], *, as_json: bool) -> None:
    """Print the progress of a job, and the metrics of some of its queries."""
    out, latency = status.progress["rows_out"], status.progress.get("latency", {})
    metrics = {  # rows_out: the job counts since its first start, the engine since its last one
        name: {
            **_flat(status.stats.get(name, {})),
            **_flat(latency.get(name, {}), "delivery."),
            "rows_out": out.get(name, 0),
        }
        for name in names
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
    """Print the first rows of a batch of a query, which has ``n`` rows."""
    if as_json:
        _print_json("rows", query=query, count=n, rows=rows.to_pylist())
    elif rows.num_rows:
        print(format_rows(query, rows, n), flush=True)
    else:
        print(f"{query}: {n:,} rows, too large to show", flush=True)


def print_findings(findings: Iterable[Finding], *, as_json: bool) -> bool:
    """Print findings about a checkpoint; whether there are no errors."""
    is_valid = True
    for finding in findings:
        is_valid &= finding.level != "error"
        if as_json:
            _print_json("finding", **vars(finding))
        else:
            print(f"{finding.level:5}  {finding.what:12}  {finding.text}", flush=True)
    return is_valid


def amount(key: str, value: Any) -> str:
    """A metric's value as text; the last word of its name is the unit.

    >>> amount("state_bytes", 2_500_000), amount("cpu_seconds", 0.25), amount("rows_saved", 12345)
    ('2.5 MB', '0.25 s', '12,345')
    """
    if value is None:
        return "-"
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return str(value)
    match key.rpartition("_")[2]:
        case "bytes":
            return bytes_text(value)
        case "seconds":
            return _seconds(value)
        case "us":
            return _seconds(value / 1e6)
        case "share":
            return f"{value:.1%}"
    return f"{value:,}" if isinstance(value, int) else f"{value:,.4g}"


def _seconds(value: float) -> str:
    return f"{value:.3g} s" if abs(value) < 1000 else f"{value:,.0f} s"


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
    needs = cores_text(progress["cores"])
    if needs:
        print(needs)
    if state := memory_text(progress.get("memory", {})):
        print(state)
    for group, us in progress["watermark_us"].items():
        print(f"watermark of {group}: {instant(us)}")
    for group, rows in progress["waiting"].items():
        print(f"rows of {group} that wait for larger windows: {rows:,}")
    for layout, received in progress["received"].items():
        if len(received) > 1:
            even = sum(received) / len(received)
            most = f", at most {max(received) / even:.2f} times the average" if even else ""
            print(f"rows received by the cells of {layout}: {_counts(received)}{most}")
    _print_undelivered(progress.get("undelivered", {}))
    for split in progress["split_keys"]:
        print(
            f"key split: {split['axis']} = {split['key']}, {split['share']:.1%} of "
            f"{split['spread']}; {_STEPS[split['step']]}"
        )
    print()


def _counts(received: Sequence[int]) -> str:
    shown = ", ".join(f"{n:,}" for n in received[:_SHOWN_CELLS])
    return shown if len(received) <= _SHOWN_CELLS else f"{shown}, ..."


def _print_state(status: Status) -> None:
    """Print to standard error if the job does not run, or has a problem with its mailbox."""
    if status.state != "running":
        print(f"the job does not run: {state_of(status)}", file=sys.stderr)
    if status.problem is not None:
        print(f"problem with the job's mailbox: {status.problem}", file=sys.stderr)


def _print_aligned(
    lines: Sequence[Sequence[str]], width: int | None, numbers: Collection[int] = ()
) -> None:
    """Print lines in columns, truncated at the width; ``numbers``: columns aligned right."""
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
