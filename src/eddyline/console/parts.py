"""The parts of the page that change: streams, queries, health."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any, Final
from urllib.parse import quote

from eddyline.console.markup import (
    amount,
    badge,
    count_text,
    facts,
    instant_text,
    seconds_text,
    share_text,
    shortened,
    table,
    tag,
)
from eddyline.console.rates import Rates
from eddyline.console.source import Health, Look, QueryLine, StreamLine

_SQL_TEXT: Final = 200


def head_html(look: Look, rates: Rates) -> str:
    """The line at the top: what runs, and whether it is well."""
    health = look.health
    rows = sum(stream.rows_in for stream in look.streams)
    rate = rates.rate("rows in", rows, look.at)
    state = badge("running", "good") if health.problem is None else badge(health.problem, "bad")
    shed = [s.name for s in look.streams if s.keep < 1]
    parts = [
        state,
        f"{count_text(look.query_count)} queries",
        f"{len(look.streams)} streams",
        f"{amount(rate)} rows/s",
        f"{amount(rows)} rows so far",
        _cores(health),
    ]
    if shed:
        names = ", ".join(shed[:3]) + (" ..." if len(shed) > 3 else "")
        parts.append(badge(f"load shedding: {names}", "warn"))
    return "".join(tag("span", part) for part in parts if part)


def _cores(health: Health) -> str:
    needed, had = health.cores.get("needed"), health.cores.get("had")
    if needed is None or had is None:
        return ""
    text = f"needs {_cores_text(needed)} of {had:.3g} cores"
    return badge(text, "bad" if needed > had else "")


def _cores_text(cores: float) -> str:
    return "less than 0.001" if cores < 0.001 else f"{cores:.3g}"


def streams_html(look: Look, rates: Rates) -> str:
    """A row for each stream."""
    if not look.streams:
        return tag("p", "There are no streams.", class_="empty")
    heads = [
        "stream",
        "rows/s",
        "rows in",
        "watermark",
        "behind",
        "waiting",
        "late",
        "bad",
        "dropped",
    ]
    rows = [_stream_row(stream, look, rates) for stream in look.streams]
    notes = "".join(_stream_notes(stream) for stream in look.streams)
    return table(heads, rows, right=(1, 2, 4, 5, 6, 7, 8)) + notes


def _stream_row(stream: StreamLine, look: Look, rates: Rates) -> list[str]:
    lag = None
    if stream.watermark_us is not None and stream.watermark_us <= look.wall_us:
        lag = (look.wall_us - stream.watermark_us) / 1e6
    waiting = count_text(stream.held)
    if stream.held_bytes:
        waiting += tag("small", f" {amount(stream.held_bytes, 'B')}")
    return [
        tag("b", escape(stream.name)),
        amount(rates.rate(f"stream {stream.name}", stream.rows_in, look.at)),
        count_text(stream.rows_in),
        instant_text(stream.watermark_us),
        seconds_text(lag) if lag is None or lag < 48 * 3600 else f"{lag / 86400:,.0f} days",
        waiting,
        _concern(stream.late),
        _concern(stream.bad),
        _concern(stream.dropped),
    ]


def _concern(n: int) -> str:
    return tag("span", count_text(n), class_="concern") if n else "0"


def _stream_notes(stream: StreamLine) -> str:
    notes = []
    if stream.keep < 1:
        notes.append(f"load shedding keeps {share_text(stream.keep)} of the rows to come")
    if stream.why:
        notes.append(f"it is not thinned: {stream.why}")
    if stream.held and stream.held_by and stream.held_by != stream.name:
        notes.append(f"its rows wait for {stream.held_by}")
    if stream.bad_reason:
        notes.append(f"the last bad row: {stream.bad_reason}")
    if not notes:
        return ""
    return tag("p", tag("b", escape(stream.name)) + ": " + escape("; ".join(notes)), class_="note")


def health_html(look: Look) -> str:
    """Cores, state, the parts of the time of a batch, shards."""
    health = look.health
    known = {"status": "running" if health.problem is None else escape(health.problem)}
    known |= {name: escape(text) for name, text in health.facts.items()}
    known |= _needs("CPU cores", health.cores, "")
    known |= _needs("state", health.memory, "B")
    parts = [facts(known)]
    if health.advice:
        parts.insert(0, tag("p", escape(health.advice), class_="advice"))
    if health.phases:
        parts += [tag("h3", "Time of the last batch"), _phases(health.phases)]
    largest = [*_largest("CPU cores", health.cores, ""), *_largest("state", health.memory, "B")]
    if largest:
        parts += [tag("h3", "What needs most"), table(["", "of", "needs"], largest, right=(2,))]
    if health.shards:
        heads = list(health.shards[0])
        rows = [[escape(shard.get(h, "")) for h in heads] for shard in health.shards]
        parts += [tag("h3", "Shards"), table(heads, rows, right=range(2, len(heads)))]
    return "".join(parts)


def _needs(what: str, needs: Mapping[str, Any], unit: str) -> dict[str, str]:
    texts = {"had": "may have", "needed": "needs for all rows", "used": "uses"}
    found = [
        f"{text} {escape(_amount_of(needs[key], unit))}"
        for key, text in texts.items()
        if needs.get(key) is not None
    ]
    return {what: ", ".join(found)} if found else {}


def _amount_of(value: float, unit: str) -> str:
    return amount(value, unit) if unit else _cores_text(value)


def _largest(what: str, needs: Mapping[str, Any], unit: str) -> list[list[str]]:
    found = needs.get("largest", {}).items()
    return [[escape(shortened(k)), what, escape(_amount_of(v, unit))] for k, v in found]


def _phases(phases: Mapping[str, float]) -> str:
    """A bar, divided as the time was."""
    total = sum(phases.values()) or 1.0
    bars, x = [], 0.0
    for number, name in enumerate(phases):
        width = 100 * phases[name] / total
        title = tag("title", escape(f"{name}: {seconds_text(phases[name])}"))
        kind = f"phase{number % 6}"
        bars.append(
            tag("rect", title, x=f"{x:.2f}", y=0, width=f"{width:.2f}", height=6, class_=kind)
        )
        x += width
    legend = "".join(
        tag("span", f"{escape(name)} {seconds_text(phases[name])}", class_=f"key phase{n % 6}")
        for n, name in enumerate(phases)
    )
    options = {"viewBox": "0 0 100 6", "preserveAspectRatio": "none", "class_": "bar"}
    return tag("svg", "".join(bars), **options) + tag("p", legend, class_="legend")


def queries_html(lines: Sequence[QueryLine], rates: Rates, at: float, *, can_change: bool) -> str:
    """A row for each of some queries."""
    heads = ["query", "rows out", "rows/s", "p50", "p99", "CPU time", "state", "shared with"]
    heads += ["SQL", ""]
    rows = [_query_row(line, rates, at, can_change=can_change) for line in lines]
    if not rows:
        return tag("p", "There is no such query.", class_="empty")
    return table(heads, rows, right=range(1, 8))


def _query_row(line: QueryLine, rates: Rates, at: float, *, can_change: bool) -> list[str]:
    link = tag("a", escape(shortened(line.name, 40)), href=query_link(line.name))
    if line.set_aside is not None:
        link += " " + badge("set aside", "bad")
    drop = tag("button", "Drop", class_="drop", data_drop=line.name) if can_change else ""
    others = "-" if line.shared_with is None else count_text(line.shared_with)
    return [
        link,
        count_text(line.rows_out),
        amount(rates.rate(f"query {line.name}", line.rows_out, at)),
        seconds_text(line.p50_s),
        seconds_text(line.p99_s),
        seconds_text(line.seconds),
        amount(line.state, "B"),
        others,
        tag("code", escape(shortened(_select(line.sql), _SQL_TEXT)), title=line.sql),
        drop,
    ]


def _select(sql: str) -> str:
    """A statement from its SELECT on."""
    found = re.search(r"\bAS\s+(?=SELECT|WITH|\()", sql, re.IGNORECASE)
    return sql if found is None or not sql.upper().startswith("CREATE") else sql[found.end() :]


def query_link(name: str) -> str:
    """The address of a query in the page."""
    return f"#query/{quote(name, safe='')}"


def query_html(line: QueryLine, rates: Rates, at: float, *, can_change: bool) -> str:
    """The figures of one query."""
    known = {
        "rows out": count_text(line.rows_out),
        "rows/s": amount(rates.rate(f"query {line.name}", line.rows_out, at)),
        "latency p50": seconds_text(line.p50_s),
        "latency p99": seconds_text(line.p99_s),
        "CPU time": seconds_text(line.seconds),
        "state": amount(line.state, "B"),
        "shares with": "-" if line.shared_with is None else f"{line.shared_with:,} queries",
        "bad rows": _concern(line.bad),
        "runs as": escape(line.runs_as or "-"),
    }
    if line.sink:
        known["sink"] = escape(line.sink)
    title = tag("h2", escape(line.name))
    if can_change:
        title += tag("button", "Drop query", class_="drop", data_drop=line.name)
    why = tag("p", escape(f"Why: {line.why}"), class_="note") if line.why else ""
    aside = ""
    if line.set_aside is not None:
        aside = tag("p", escape(f"set aside: {line.set_aside}"), class_="advice")
    return (
        tag("div", title, class_="title")
        + tag("pre", escape(line.sql))
        + aside
        + facts(known)
        + why
    )
