"""Texts and tables of the page. Whatever comes from outside is escaped here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from html import escape
from typing import Any, Final

import pyarrow as pa

#: Characters of a cell, at most.
_MOST_TEXT: Final = 80
_UNITS: Final = ("", " k", " M", " G", " T")


def tag(name: str, content: str = "", /, **attributes: object) -> str:
    """An element; its content is markup already. ``class_`` is the attribute ``class``, and ``_``
    in names is ``-``.

    >>> tag("a", "x", href="#", class_="y", data_n=1)
    '<a href="#" class="y" data-n="1">x</a>'
    """
    given = {k.rstrip("_").replace("_", "-"): v for k, v in attributes.items() if v is not None}
    text = "".join(f' {k}="{escape(str(v))}"' for k, v in given.items())
    return f"<{name}{text}>{content}</{name}>"


def table(heads: Sequence[str], rows: Iterable[Sequence[str]], *, right: Iterable[int] = ()) -> str:
    """A table of cells that are markup already.

    Args:
        right: the columns of numbers; one called SQL is as wide as there is room.
    """
    numbers = set(right)
    kinds = [
        "number" if i in numbers else "sql" if head == "SQL" else None
        for i, head in enumerate(heads)
    ]
    head = "".join(tag("th", escape(h), class_=k) for h, k in zip(heads, kinds, strict=True))
    body = "".join(
        tag("tr", "".join(tag("td", c, class_=k) for c, k in zip(row, kinds, strict=True)))
        for row in rows
    )
    return tag(
        "div", tag("table", tag("thead", tag("tr", head)) + tag("tbody", body)), class_="wide"
    )


def rows_table(rows: pa.Table, most: int) -> str:
    """The first rows of an Arrow table."""
    shown = rows.slice(0, most)
    right = [i for i, f in enumerate(rows.schema) if _is_number(f.type)]
    columns = [column.to_pylist() for column in shown.columns]
    cells = ([value_text(v) for v in row] for row in zip(*columns, strict=True))
    return table(rows.column_names, cells, right=right)


def facts(known: Mapping[str, str]) -> str:
    """Names with texts that are markup already."""
    each = (tag("div", tag("dt", escape(k)) + tag("dd", v)) for k, v in known.items())
    return tag("dl", "".join(each))


def badge(text: str, kind: str = "") -> str:
    """A short text with a background."""
    return tag("span", escape(text), class_=f"badge {kind}".strip())


def value_text(value: Any) -> str:
    """A value of a row."""
    if value is None:
        return tag("i", "NULL")
    if isinstance(value, float):
        return escape(f"{value:,.6g}")
    if isinstance(value, datetime):
        return escape(value.isoformat(" ", timespec="milliseconds").removesuffix("+00:00"))
    return escape(shortened(str(value)))


def shortened(text: str, most: int = _MOST_TEXT) -> str:
    """The text in one line of at most some characters."""
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1] + "…"


def count_text(n: float) -> str:
    """A whole number."""
    return f"{n:,.0f}"


def amount(n: float | None, unit: str = "") -> str:
    """A number with three digits and a power of 1000; ``-``: it is not known.

    >>> amount(1234), amount(0.5, "/s"), amount(None), amount(12.0), amount(2_500_000, "B")
    ('1.23 k', '0.5/s', '-', '12', '2.5 MB')
    """
    if n is None:
        return "-"
    power = 0
    while abs(n) >= 999.5 and power < len(_UNITS) - 1:
        n, power = n / 1000, power + 1
    text = f"{n:.3g}" if n else "0"
    gap = _UNITS[power] if not unit.isalpha() or power else f"{_UNITS[power]} "
    return f"{text}{gap}{unit}"


def seconds_text(seconds: float | None) -> str:
    """A duration.

    >>> seconds_text(0.00123), seconds_text(2.0), seconds_text(None), seconds_text(7200)
    ('1.23 ms', '2 s', '-', '2 h')
    """
    if seconds is None:
        return "-"
    for factor, unit in ((1e-6, "us"), (1e-3, "ms"), (1, "s"), (60, "min"), (3600, "h")):
        limit = {"us": 1e-3, "ms": 1, "s": 120, "min": 7200}.get(unit, float("inf"))
        if seconds < limit:
            return f"{seconds / factor:.3g} {unit}"
    raise AssertionError("the last limit is infinite")


def share_text(share: float | None) -> str:
    """A share as percent."""
    return "-" if share is None else f"{100 * share:.3g} %"


def instant_text(us: int | None) -> str:
    """An instant in us since 1970."""
    if us is None:
        return "-"
    try:
        at = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=us)
    except OverflowError:
        return "-"
    return f"{at:%Y-%m-%d %H:%M:%S}"


def _is_number(of: pa.DataType) -> bool:
    return bool(pa.types.is_integer(of) or pa.types.is_floating(of) or pa.types.is_decimal(of))
