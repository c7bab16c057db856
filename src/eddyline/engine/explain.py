"""EXPLAIN: the plan, and its expected load if rates are known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from eddyline.algebra.catalog import Emit, StreamDef
from eddyline.algebra.explain import explain
from eddyline.algebra.plan import Plan
from eddyline.algebra.reads import stream_scans, streams_read, tables_read
from eddyline.algebra.windows import Range
from eddyline.optimizer.byte_sizes import bytes_text
from eddyline.optimizer.compared import columns_compared
from eddyline.optimizer.load import Load, load_of
from eddyline.optimizer.prices import TYPICAL, Prices
from eddyline.optimizer.statistics import DEFAULT_RATE, Statistics
from eddyline.runtime.operators.base import Operator

#: Minimum event time of a measured share of a core.
_LEAST_US: Final = 1_000_000


def explained(emit: Emit, plan: Plan, statistics: Statistics, prices: Prices) -> str:
    """The text of EXPLAIN for a query that runs as a tree of operators."""
    load = load_of([plan], statistics, prices)
    if load is None:
        return f"{emit}\n{explain(plan)}"
    columns = {
        "rows/s": [number(n.rate) for n in load.nodes],
        "rows alive": [number(n.rows) for n in load.nodes],
        "memory": [bytes_text(n.nbytes) if n.nbytes else "-" for n in load.nodes],
        "CPU": [percent(n.cores) for n in load.nodes],
    }
    return "\n".join([str(emit), explain(plan, columns), "", *needs(load, prices)])


def needs(load: Load, prices: Prices) -> list[str]:
    """The expected load of plans, and the assumptions behind it, as lines of text."""
    lines = [f"expected: {percent(load.cores)} of one core, {bytes_text(load.nbytes)} of state"]
    if load.assumed:
        lines.append(f"assumed rate of {', '.join(load.assumed)}: {DEFAULT_RATE:,.0f} rows/s")
    if prices == TYPICAL:
        lines.append(
            "by the prices of a typical machine: run `eddyline calibrate` to measure this one"
        )
    return lines


def seen(plan: Plan, chosen: Statistics, measured: Statistics) -> list[str]:
    """Measured statistics of a plan's inputs beside the expected ones, as lines of text.

    Args:
        chosen: those by which the plan was chosen. measured: those measured since.
    """
    names = streams_read(plan) | tables_read(plan)
    lines = [
        (f"{name} {what}", _or_dash(known.get(name)), number(rows[name]))
        for what, known, rows in (
            ("rows/s", chosen.rates, measured.rates),
            ("rows", chosen.table_rows, measured.table_rows),
        )
        for name in sorted(names & rows.keys())
    ]
    lines += [
        (f"{name}.{column} values", _or_dash(chosen.values.get((name, column))), number(values))
        for (name, column), values in sorted(measured.values.items())
        if (name, column) in columns_compared(plan)
    ]
    return ["", *aligned([("measured", "expected", "measured"), *lines])] if lines else []


def computed_values(plan: Plan, streams: Mapping[str, StreamDef]) -> list[str]:
    """The computed columns and event times of the streams that a query reads, as lines of text.

    Args:
        streams: the definitions of the streams, by name.
    """
    lines = []
    for stream in (streams[name] for name in sorted(streams_read(plan))):
        values = [f"{column} = {expression}" for column, expression in stream.computed.items()]
        if stream.event_time is not None:
            values.append(f"the event time = {stream.event_time}")
        if values:
            lines.append(f"computed for each row of {stream.name}: {', '.join(values)}")
    return lines


def waits_for_rows(emit: Emit, plan: Plan, streams: Mapping[str, StreamDef]) -> list[str]:
    """A line of text if what time alone changes in a query's results waits for the next row,
    because streams without IDLE AFTER are read.

    Args:
        streams: the definitions of the streams, by name.
    """
    scans = list(stream_scans(plan))
    awaited = sorted({s.stream for s in scans if streams[s.stream].idle_us is None})
    by_expiry = emit.mode == "changes" or plan.takes_back
    expires = any(isinstance(s.window, Range) for s in scans)
    timed = emit.mode in ("snapshot", "final")
    if not awaited or not (timed or (by_expiry and expires)):
        return []
    return [
        f"without a row of {', '.join(awaited)} (no IDLE AFTER) time stands still: results that "
        "change by expiry alone wait for the next row"
    ]


def busy(operators: Sequence[Operator]) -> list[str]:
    """Computing time of operators, per row and per second of event time, as lines of text."""
    lines = []
    for operator in operators:
        passed_us = 0 if operator.since is None else operator.clock - operator.since
        rows = operator.rows_in if operator.inputs else operator.rows_out
        if passed_us >= _LEAST_US and rows:
            per_row = f"{number(operator.cpu_seconds / rows * 1e6)} us"
            share = percent(operator.cpu_seconds / passed_us * 1e6)
            lines.append((type(operator).__name__, per_row, share))
    return ["", *aligned([("operator", "CPU per row", "CPU"), *lines])] if lines else []


def _or_dash(value: float | None) -> str:
    return "-" if value is None else number(value)


def number(value: float) -> str:
    """A rate or a number of rows, with three significant digits or more.

    >>> number(1234567.8), number(12.345), number(0.01234)
    ('1,234,568', '12.3', '0.0123')
    """
    return f"{value:,.0f}" if value >= 100 or value == 0 else f"{value:.3g}"


def percent(share: float) -> str:
    """A share of a core.

    >>> percent(1.4), percent(0.0321), percent(0.0000123)
    ('140 %', '3.21 %', '0.00123 %')
    """
    return f"{number(100 * share)} %"


def aligned(lines: Sequence[Sequence[str]], left: int = 1) -> list[str]:
    """Lines of cells in columns: the first ``left`` columns are left-aligned, others right."""
    widths = [max(map(len, cells)) for cells in zip(*lines, strict=True)]
    return [
        "  ".join(
            cell.ljust(w) if i < left else cell.rjust(w)
            for i, (cell, w) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    ]
