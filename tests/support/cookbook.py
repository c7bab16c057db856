"""Runs the recipes of a page of the cookbook in an engine, and their answers' texts in DuckDB.

A page of ``docs/cookbook`` declares its streams and tables in its first SQL block. Each further one
is a recipe, named by the heading above it. Its answer is a text for DuckDB in
``tests/cookbook/answers``, over streams and tables that have their rows up to the instant
``tau()``::

    -- recipe: name of the heading
    SELECT ... FROM metrics WHERE ts > tau() - INTERVAL '5 minutes'    -- the answer at tau()

    -- emitted: name of the heading
    SELECT ...                                 -- all results that have been emitted up to tau()

A column ``_ts`` of the latter is the time of the result.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any, Final

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from eddyline import Engine
from eddyline.sql.parser import parse
from eddyline.testing.bags import Row, difference, plain, rows_of

ROOT: Final = Path(__file__).parents[2]
PAGES: Final = ROOT / "docs" / "cookbook"
ANSWERS: Final = ROOT / "tests" / "cookbook" / "answers"
START: Final = datetime(2026, 3, 2, 8, tzinfo=UTC)  # a Monday
START_US: Final = int(START.timestamp()) * 1_000_000
#: When answers are compared, in us after the start; no row has such a time.
INSTANTS: Final = tuple(
    1 + int(60_000_000 * minutes) for minutes in (17.3, 44.0, 61.7, 95.2, 121.4, 163.9, 195.0)
)


@dataclass(frozen=True)
class Recipe:
    """One query of a page."""

    page: str
    name: str
    sql: str

    @property
    def query_name(self) -> str:
        return re.sub(r"\W+", "_", self.name.lower())


@dataclass(frozen=True)
class Expected:
    """The text for DuckDB of a recipe's answer, or of all results so far."""

    sql: str
    emitted: bool


@dataclass
class Played:
    """What a recipe's query has answered at each of the instants.

    Attributes:
        error: why the query was refused, if it was.
        answers: Q(tau).
        net: what its changelog adds up to, of queries with answers that change.
        emitted: all results so far, as tables of changes.
    """

    error: Exception | None = None
    answers: list[list[Row]] = field(default_factory=list)
    net: list[list[Row]] = field(default_factory=list)
    emitted: list[pa.Table] = field(default_factory=list)


def page_names() -> list[str]:
    """The pages, by their file names."""
    return sorted(path.stem for path in PAGES.glob("*.md"))


def recipes(page: str) -> tuple[str, list[Recipe]]:
    """The declarations of a page, and its recipes."""
    text = (PAGES / f"{page}.md").read_text(encoding="utf-8")
    found, heading = [], ""
    for title, block in re.findall(r"^## ([^\n]+)$|```sql\n(.*?)```", text, re.M | re.S):
        if title:
            heading = title
        else:
            found.append(Recipe(page, heading, block.strip()))
    return found[0].sql, found[1:]


def expectations(page: str) -> dict[str, Expected]:
    """The texts for DuckDB by the recipes' names."""
    text = (ANSWERS / f"{page}.sql").read_text(encoding="utf-8")
    parts = re.split(r"^-- (recipe|emitted): (.+)$", text, flags=re.M)[1:]
    kinds, names, texts = parts[0::3], parts[1::3], parts[2::3]
    assert len(set(names)) == len(names), "one text per recipe"
    return {
        name: Expected(sql.strip(), kind == "emitted")
        for kind, name, sql in zip(kinds, names, texts, strict=True)
    }


def play(
    page: str, rows: Mapping[str, pa.Table], tables: Mapping[str, pa.Table]
) -> dict[str, Played]:
    """Runs all recipes of a page in one engine; the rows between two instants come shuffled.

    Args:
        rows: those of streams (``ts``) and changes of tables (``_ts``), in the order of time.
        tables: the contents of static tables.
    """
    ddl, listed = recipes(page)
    texts = expectations(page)
    engine = Engine()
    engine.sql(ddl)
    for name, content in tables.items():
        engine.table(name, content)
    played = {recipe.name: Played() for recipe in listed}
    for recipe in listed:
        try:
            _add(engine, recipe, changelog=not texts[recipe.name].emitted)
        except Exception as error:
            played[recipe.name].error = error
    random = Random(7)
    before = None
    for after in INSTANTS:
        until = START_US + after
        batches = {n: _shuffled(_between(t, before, until), random, n) for n, t in rows.items()}
        out = engine.process(batches, watermark=until)
        before = until
        for recipe in listed:
            if played[recipe.name].error is None:
                _note(engine, recipe, played[recipe.name], out, texts[recipe.name])
    return played


def _add(engine: Engine, recipe: Recipe, *, changelog: bool) -> None:
    *first, last = parse(recipe.sql)
    for statement in first:
        engine.sql(statement.sql)
    engine.query(last.sql, name=recipe.query_name)
    if changelog and " EMIT " not in last.sql:
        engine.query(f"{last.sql}\nEMIT CHANGES", name=f"{recipe.query_name}_changes")


def _note(engine: Engine, recipe: Recipe, played: Played, out: Any, text: Expected) -> None:
    name = recipe.query_name
    bad = out.bad.get(name)
    assert bad is None or not bad.num_rows, f"bad rows of {recipe.name}: {bad.slice(0, 3)}"
    if text.emitted:
        new = out[name]
        played.emitted.append(pa.concat_tables([*played.emitted[-1:], new]))
        return
    played.answers.append(rows_of(engine.queries[name].snapshot()))
    changes = out.get(f"{name}_changes", out[name])
    net = Counter(played.net[-1] if played.net else ())
    for op, row in zip(
        changes["_op"].to_pylist(), rows_of(changes, range(3, changes.num_columns)), strict=True
    ):
        net[row] += 1 if op == "+" else -1
    assert all(count >= 0 for count in net.values()), f"{recipe.name}: a '-' without its '+'"
    played.net.append(list(net.elements()))


def _time_us(table: pa.Table) -> pa.ChunkedArray:
    column = table.column("_ts" if "_ts" in table.column_names else "ts")
    return column.cast(pa.timestamp("us")).cast(pa.int64())


def _between(table: pa.Table, after: int | None, until: int) -> pa.Table:
    time = _time_us(table)
    chosen = pc.less_equal(time, until)
    return table.filter(chosen if after is None else pc.and_(chosen, pc.greater(time, after)))


def _shuffled(table: pa.Table, random: Random, name: str) -> pa.Table:
    """Rows of streams in any order; changes of tables as they are."""
    if "_ts" in table.column_names:
        return table
    order = list(range(table.num_rows))
    random.shuffle(order)
    return table.take(pa.array(order, pa.int64()))


class Answers:
    """DuckDB over the rows of a page."""

    def __init__(self, rows: Mapping[str, pa.Table], tables: Mapping[str, pa.Table]) -> None:
        self._duckdb = duckdb.connect()
        self._duckdb.execute("SET threads = 1; SET TimeZone = 'UTC'")
        self._duckdb.execute("CREATE MACRO tau() AS getvariable('tau')")
        for name, table in tables.items():
            self._duckdb.register(f"{name}__arrow", table)
            self._duckdb.execute(f"CREATE TABLE {name} AS FROM {name}__arrow")
        for name, table in rows.items():
            self._duckdb.register(f"{name}__arrow", table)
            self._duckdb.execute(f"CREATE TABLE {name}__all AS FROM {name}__arrow")
            self._duckdb.execute(f"CREATE VIEW {name} AS {self._visible(name, table)}")

    @staticmethod
    def _visible(name: str, table: pa.Table) -> str:
        if "_ts" not in table.column_names:
            return f"SELECT * FROM {name}__all WHERE ts <= tau()"
        columns = ", ".join(c for c in table.column_names if c not in ("_ts", "_op"))
        rows = f"SELECT {columns} FROM {name}__all WHERE _ts <= tau() AND _op"
        return f"{rows} = '+' EXCEPT ALL {rows} = '-'"

    def at(self, sql: str, after_us: int) -> tuple[list[str], list[Row]]:
        """The names of the columns, and the rows, at an instant after the start."""
        tau = (START + timedelta(microseconds=after_us)).replace(tzinfo=None)
        self._duckdb.execute(f"SET VARIABLE tau = TIMESTAMP '{tau}'")
        cursor = self._duckdb.execute(sql)
        rows = [tuple(plain(v) for v in row) for row in cursor.fetchall()]
        return [column[0] for column in cursor.description], rows


def check(recipe: Recipe, played: Played, text: Expected, answers: Answers) -> None:
    """Compares what a recipe's query has answered with DuckDB, at every instant."""
    if played.error is not None:
        raise played.error
    shown = set()
    for number, after in enumerate(INSTANTS):
        names, expected = answers.at(text.sql, after)
        shown.add(tuple(sorted(expected, key=repr)))
        where = f"{recipe.page}, {recipe.name}, at {timedelta(microseconds=after)}"
        if text.emitted:
            table = played.emitted[number]
            assert set(table["_op"].to_pylist()) <= {"+"}, f"{where}: a result is taken back"
            columns = (
                [1, *range(3, table.num_columns)] if "_ts" in names else range(3, table.num_columns)
            )
            _same(
                where,
                names,
                [table.column_names[i] for i in columns],
                expected,
                rows_of(table, columns),
            )
        else:
            _same(where, names, None, expected, played.answers[number])
            _same(f"{where}, changelog", names, None, expected, played.net[number])
    assert any(shown), f"{recipe.name} has no result at any instant"
    assert len(shown) > 1, f"{recipe.name} has the same results at all instants"


def _same(
    where: str,
    names: list[str],
    found_names: list[str] | None,
    expected: list[Row],
    found: list[Row],
) -> None:
    assert found_names is None or len(names) == len(found_names), (
        f"{where}: {names} and {found_names}"
    )
    missing, extra = difference(expected, found)
    assert not missing and not extra, (
        f"{where}: of {len(expected)} rows of {names}\n"
        f"missing {missing[:5]}\nunexpected {extra[:5]}"
    )
