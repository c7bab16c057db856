"""Random MATCH_RECOGNIZE queries over a stream (ts, k, x), each beside its model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import permutations
from random import Random
from typing import Any, Final

from eddyline.testing import row_patterns as model
from eddyline.testing.row_patterns import Condition, Match, Pattern, Run, Ways

VARIABLES: Final = "ABCDE"
#: Values of a match's rows, from the match and the number of rows up to the current one.
Measure = Callable[[Run], Any]


@dataclass(frozen=True)
class PatternQuery:
    """A query.

    Attributes:
        sql: its text. pattern: its model. by: whether k divides the rows into partitions.
        all_rows: ALL ROWS PER MATCH. measures: what each one is of a run.
    """

    sql: str
    pattern: Pattern
    by: bool
    all_rows: bool
    measures: tuple[Measure, ...]

    def rows_of(self, match: Match) -> list[tuple[Any, ...]]:
        """The rows of the output for a match."""
        run = match.run
        if not self.all_rows:
            key = (run.rows[run.matched[0][0]]["k"],) if self.by else ()
            return [(*key, *(m(run) for m in self.measures))]
        found = []
        for length in range(1, len(run.matched) + 1):
            part = Run(run.rows, run.matched[:length])
            row = part.row
            values = [m(part) for m in self.measures]
            first = (row["k"], row["ts"]) if self.by else (row["ts"],)
            rest = (row["x"],) if self.by else (row["k"], row["x"])
            found.append((*first, *values, *rest))
        return found


def pattern_queries(random: Random) -> PatternQuery:
    """A random query."""
    text, ways, used = _pattern(random, 2)
    names = sorted(used)
    runs = random.random() < 0.5
    conditions = [(v, _condition(random, v, names, runs)) for v in names if random.random() < 0.85]
    within = random.choice([300, 1000, 2500])
    skip, skip_text, target = _skip(random, names)
    by, all_rows = random.random() < 0.8, random.random() < 0.3
    from_start = random.random() < 0.15
    measures = [_measure(random, names) for _ in range(random.randint(1, 4))]
    items = ", ".join(f"{sql} AS m{i}" for i, (sql, _) in enumerate(measures))
    define = ", ".join(f"{v} AS {sql}" for v, (sql, _) in conditions)
    sql = (
        f"SELECT * FROM s MATCH_RECOGNIZE ({'PARTITION BY k ' if by else ''}ORDER BY ts MEASURES "
        f"{items} {'ALL ROWS' if all_rows else 'ONE ROW'} PER MATCH {skip_text} "
        f"PATTERN ({'^ ' if from_start else ''}{text}) "
        f"WITHIN INTERVAL '{within}' MILLISECOND{' DEFINE ' if define else ''}{define}) AS m"
    )
    pattern = Pattern(
        ways,
        {v: condition for v, (_, condition) in conditions},
        within * 1000,
        skip,
        target,
        from_start,
    )
    return PatternQuery(sql, pattern, by, all_rows, tuple(m for _, m in measures))


def _skip(random: Random, names: list[str]) -> tuple[Any, str, tuple[str, ...]]:
    kind = random.choice(["past last", "past last", "next", "first", "last", ""])
    target = random.choice(names)
    return {
        "": ("past last", "", ()),
        "past last": ("past last", "AFTER MATCH SKIP PAST LAST ROW", ()),
        "next": ("next", "AFTER MATCH SKIP TO NEXT ROW", ()),
        "first": ("first", f"AFTER MATCH SKIP TO FIRST {target}", (target,)),
        "last": ("last", f"AFTER MATCH SKIP TO LAST {target}", (target,)),
    }[kind]


def _pattern(random: Random, depth: int) -> tuple[str, Ways, set[str]]:
    """A pattern that matches a row at least."""
    parts = [_part(random, depth) for _ in range(random.randint(1, 4))]
    if not any(required for *_, required in parts):
        variable = random.choice(VARIABLES)
        parts.insert(
            random.randrange(len(parts) + 1), (variable, model.row(variable), {variable}, True)
        )
    text = " ".join(p[0] for p in parts)
    return text, model.sequence(*(p[1] for p in parts)), set().union(*(p[2] for p in parts))


def _part(random: Random, depth: int) -> tuple[str, Ways, set[str], bool]:
    """A part of a sequence; the last value: whether it has a row at least."""
    choice = random.random()
    if depth == 0 or choice < 0.6:
        variable = random.choice(VARIABLES)
        text, ways, used = variable, model.row(variable), {variable}
    elif choice < 0.67:
        inner = [_pattern(random, 0 if random.random() < 0.7 else depth - 1) for _ in range(2)]
        text = f"PERMUTE({', '.join(i[0] for i in inner)})"
        ways = model.either(*(model.sequence(*(p[1] for p in o)) for o in permutations(inner)))
        used = set().union(*(i[2] for i in inner))
    elif choice < 0.8:
        inner = [_pattern(random, depth - 1) for _ in range(random.randint(2, 3))]
        text = f"({' | '.join(i[0] for i in inner)})"
        ways, used = model.either(*(i[1] for i in inner)), set().union(*(i[2] for i in inner))
    else:
        text, ways, used = _pattern(random, depth - 1)
        text = f"({text})"
    least, most, sign = random.choice(
        [
            *((1, 1, ""), (1, 1, ""), (1, 1, ""), (0, None, "*"), (1, None, "+"), (0, 1, "?")),
            *((2, 2, "{2}"), (1, 3, "{1,3}"), (0, 2, "{,2}"), (2, None, "{2,}")),
        ]
    )
    if not sign:
        return text, ways, used, True
    greedy = random.random() < 0.6
    text += sign + ("" if greedy else "?")
    return text, model.repeat(ways, least, most, greedy=greedy), used, least > 0


# -- conditions --------------------------------------------------------


def _x(row: Any) -> Any:
    return None if row is None else row["x"]


def _less(a: Any, b: Any) -> bool | None:
    return None if a is None or b is None else a < b


def _last(run: Run, variable: str, offset: int = 0) -> Any:
    rows = run.of(variable)
    return _x(rows[-1 - offset]) if len(rows) > offset else None


def _first(run: Run, variable: str, offset: int = 0) -> Any:
    rows = run.of(variable)
    return _x(rows[offset]) if len(rows) > offset else None


def _total(run: Run, *variables: str) -> Any:
    known = [r["x"] for r in run.of(*variables) if r["x"] is not None]
    return sum(known) if known else None


def _mean(run: Run, *variables: str) -> Any:
    known = [r["x"] for r in run.of(*variables) if r["x"] is not None]
    return sum(known) / len(known) if known else None


def _either(a: bool | None, b: bool | None) -> bool | None:
    if a or b:
        return True
    return None if a is None or b is None else False


def _condition(random: Random, v: str, names: list[str], runs: bool) -> tuple[str, Condition]:
    """A condition of variable ``v``; ``runs``: it may read rows matched before."""
    other, c, n = random.choice(names), random.randint(0, 3), random.randint(1, 2)
    alone: list[tuple[str, Condition]] = [
        (f"{v}.x <= {c}", lambda r: None if r.row["x"] is None else r.row["x"] <= c),
        (f"x > {c}", lambda r: _less(c, r.row["x"])),
        ("x IS NOT NULL", lambda r: r.row["x"] is not None),
        (f"{v}.x > PREV({v}.x)", lambda r: _less(_x(r.previous()), r.row["x"])),
        (f"x < PREV(x, {n})", lambda r: _less(r.row["x"], _x(r.previous(n)))),
        (f"PREV(x, {n}) IS NULL", lambda r: _x(r.previous(n)) is None),
    ]
    reading: list[tuple[str, Condition]] = [
        (f"{v}.x > {other}.x", lambda r: _less(_last(r, other), r.row["x"])),
        (f"x >= FIRST({other}.x)", lambda r: _not(_less(r.row["x"], _first(r, other)))),
        (
            f"LAST({v}.x, {n}) IS NULL OR {v}.x > LAST({v}.x, {n})",
            lambda r: _either(_last(r, v, n) is None, _less(_last(r, v, n), r.row["x"])),
        ),
        (f"SUM({other}.x) < {3 * c}", lambda r: _less(_total(r, other), 3 * c)),
        (f"AVG(x) < {c} + 0.5", lambda r: _less(_mean(r), c + 0.5)),
        (f"COUNT({v}.*) <= {n} AND x >= 1", lambda r: _counted(r, v, n)),
        (
            f"{v}.ts - FIRST(ts) < INTERVAL '400' MILLISECOND",
            lambda r: r.row["ts"] - r.of()[0]["ts"] < 400_000,
        ),
        (f"k = LAST({other}.k)", lambda r: _same_key(r, other)),
        (
            f"x + 1 > MAX({other}.x) - FIRST({other}.x, 1)",
            lambda r: _difference(r, other),
        ),
    ]
    return random.choice(reading if runs and random.random() < 0.6 else alone)


def _not(value: bool | None) -> bool | None:
    return None if value is None else not value


def _counted(run: Run, variable: str, most: int) -> bool | None:
    if len(run.of(variable)) > most:
        return False
    return None if run.row["x"] is None else run.row["x"] >= 1


def _same_key(run: Run, variable: str) -> bool | None:
    rows = run.of(variable)
    return rows[-1]["k"] == run.row["k"] if rows else None


def _difference(run: Run, variable: str) -> bool | None:
    known = [r["x"] for r in run.of(variable) if r["x"] is not None]
    first = _first(run, variable, 1)
    if not known or first is None or run.row["x"] is None:
        return None
    return bool(run.row["x"] + 1 > max(known) - first)


def _measure(random: Random, names: list[str]) -> tuple[str, Measure]:
    v, n = random.choice(names), random.randint(0, 2)
    return random.choice(
        [
            (f"{v}.x", lambda r: _last(r, v)),
            (f"FIRST({v}.x, {n})", lambda r: _first(r, v, n)),
            (f"LAST({v}.x, {n})", lambda r: _last(r, v, n)),
            (f"SUM({v}.x)", lambda r: _total(r, v)),
            (f"COUNT({v}.x)", lambda r: sum(row["x"] is not None for row in r.of(v))),
            ("COUNT(*)", lambda r: len(r.matched)),
            ("CLASSIFIER()", lambda r: r.matched[-1][1]),
            ("FIRST(ts)", lambda r: r.of()[0]["ts"]),
            (f"COUNT(DISTINCT {v}.x)", lambda r: len({_x(row) for row in r.of(v)} - {None})),
            (
                "PREV(FIRST(x))",
                lambda r: _x(r.rows[r.matched[0][0] - 1]) if r.matched[0][0] else None,
            ),
            ("MAX(x) - x", lambda r: _below_most(r)),
        ]
    )


def _below_most(run: Run) -> Any:
    known = [r["x"] for r in run.of() if r["x"] is not None]
    last = run.of()[-1]["x"]
    return None if last is None else max(known) - last
