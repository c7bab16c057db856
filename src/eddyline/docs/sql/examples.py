"""Runs the examples of the reference over a few rows, and shows what comes out."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from eddyline import Engine, Query
from eddyline.docs.values import markdown_table, shown

_FILE: Final = Path(__file__).with_name("examples.sql")
_DAY: Final = "2026-03-02"
_END: Final = f"{_DAY}T08:20:00Z"
#: Most changes of a query that are shown.
_MOST: Final = 8

#: The rows of the streams: minutes after 8 o'clock, and the other columns.
STREAMS: Final[Mapping[str, list[tuple[Any, ...]]]] = {
    "trades": [
        (0, "A", 10.0, 5),
        (1, "B", 20.0, 1),
        (2, "A", 12.0, 2),
        (5, "A", 9.0, 4),
        (12, "B", 21.0, 3),
    ],
    "quotes": [(0, "A", 9.0), (1, "B", 19.0), (4, "A", 11.0)],
    "visits": [
        (0, "ann", "/", ["new", "mobile"], '{"ms": 12}'),
        (3, "bob", "/cart", [], "{}"),
        (4, "ann", "/cart", ["mobile"], '{"ms": 40}'),
    ],
}
TABLES: Final[Mapping[str, list[tuple[Any, ...]]]] = {
    "companies": [("A", "tools"), ("B", "toys")],
    "halted": [("B",)],
    "ratings": [("A", "good")],
    "rules": [(1, "A", 10.0, 60), (2, "B", 21.0, 120)],
}


@dataclass
class Examples:
    """The examples of a section: those with a text and a result, and further forms."""

    shown: list[tuple[str, str]] = field(default_factory=list)
    forms: list[str] = field(default_factory=list)

    @property
    def scripts(self) -> list[str]:
        """All of them."""
        return [*(sql for _, sql in self.shown), *self.forms]


def world() -> str:
    """The statements that declare the streams and tables of the examples."""
    return _FILE.read_text(encoding="utf-8").split("\n\n== ")[0].removeprefix("-- world\n")


def examples() -> dict[str, Examples]:
    """The examples by the title of the section of the grammar."""
    found = {}
    for block in _FILE.read_text(encoding="utf-8").split("\n== ")[1:]:
        title, _, body = block.partition("\n")
        section = found[title] = Examples()
        for part in re.split(r"^-- ", body, flags=re.M)[1:]:
            text, _, sql = part.partition("\n")
            if text == "forms":
                section.forms += [line for line in sql.splitlines() if line.strip()]
            else:
                section.shown.append((text, sql.strip()))
    return found


def engine() -> Engine:
    """An engine with the streams and tables of the examples, before the first row."""
    made = Engine()
    made.sql(world())
    for name, rows in TABLES.items():
        columns = made.sql(f"DESCRIBE {name}")[0]
        assert isinstance(columns, pa.Table)
        names = columns["column"].to_pylist()
        made.table(
            name, pa.table(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))
        )
    return made


def run(sql: str) -> str:
    """What a script shows at its end: its last result as Markdown, empty if there is none."""
    made = engine()
    last = made.sql(sql)[-1]
    changes = made.process(
        {name: [_row(made, name, row) for row in rows] for name, rows in STREAMS.items()},
        watermark=_END,
    )
    bad = {name: rows["_reason"].to_pylist() for name, rows in changes.bad.items()}
    assert not any(bad.values()), f"{sql}: {bad}"
    match last:
        case Query():
            return _table(changes[last.name])
        case pa.Table():
            return _table(last, last.num_rows)
        case str():
            return f"```text\n{last.rstrip()}\n```\n"
    return ""


def _row(made: Engine, stream: str, row: tuple[Any, ...]) -> dict[str, Any]:
    columns = made.sql(f"DESCRIBE {stream}")[0]
    assert isinstance(columns, pa.Table)
    values = (f"{_DAY}T08:{row[0]:02}:00Z", *row[1:])
    return dict(zip(columns["column"].to_pylist(), values, strict=True))


def _table(rows: pa.Table, most: int = _MOST) -> str:
    header = [f"`{name}`" if name.startswith("_") else name for name in rows.column_names]
    listed = rows.slice(0, most).to_pylist()
    cells = [[_cell(name, value) for name, value in row.items()] for row in listed]
    more = rows.num_rows - len(listed)
    return markdown_table(header, cells) + (f"\nand {more} more.\n" if more > 0 else "")


def _cell(name: str, value: object) -> str:
    text = shown(value)
    if name == "_op" or isinstance(value, str):
        return str(value)
    return text.replace(f"{_DAY} ", "") if value is not None or name != "_exp" else ""
