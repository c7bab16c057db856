"""Statements of the project, and what can happen to a text."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Final

_ROOT: Final = Path(__file__).parents[2]
_TOKEN: Final = re.compile(
    r"\s+|[A-Za-z_]\w*|[0-9.]+|'[^']*'|\"[^\"]*\"|`[^`]*`|--[^\n]*|.", re.DOTALL
)
_FENCED: Final = re.compile(r"```sql\n(.*?)```", re.DOTALL)

#: Characters; a longer text takes longer, which is no fault.
LONGEST: Final = 50_000

_WORDS: Final = """
    SELECT FROM WHERE GROUP BY HAVING ORDER LIMIT JOIN LEFT FULL CROSS ON USING AS AND OR NOT IN
    EXISTS BETWEEN LIKE RLIKE ESCAPE CASE WHEN THEN ELSE END IS NULL TRUE CAST DISTINCT UNION ALL
    INTERSECT EXCEPT WITH RECURSIVE WINDOW RANGE ROWS NOW UNBOUNDED PARTITION OVER FILTER EMIT
    INSERTS CHANGES SNAPSHOT EVERY CREATE STREAM TABLE VIEW QUERY DROP EXPLAIN ANALYZE TIMESTAMP
    LATENESS FOR EACH ROW OF OVERLOAD SHED INTERVAL LATERAL UNNEST PIVOT QUALIFY VALUES EXTRACT TRIM
    SUBSTRING POSITION ARRAY MAP STRUCT DECIMAL ANY SOME ROLLUP CUBE TABLESAMPLE MATCH_RECOGNIZE
    DATE SECOND MINUTE count(*) s.x s.* t.* abs(x) lpad(y,9,'z') late:s _op 0x1F 1L 1S 1.5BD 1.5.2
"""
#: Words that mean something, and numbers, names and characters that may surprise.
WORDS: Final = (
    *_WORDS.split(),
    *("(", ")", "[", "]", "{", "}", ",", ";", ".", "*", "+", "-", "/", "%", "=", "<", "<=>"),
    *("!=", "||", "::", ":", "->", "=>", ":=", "|>", "<@", "?", "@", "#", "$", "&", "|", "^", "~"),
    *("'", '"', "`", "\\", "--", "/*", "*/", "/*+", "''", '""', "``", "$$", "{{", "}}", "{%"),
    *("0", "-1", "1e400", "1e-400", "9" * 25, "9" * 5_000),
    *("\x00", "\t", "\r\n", "\u00a0", "\u2028", "\ufeff", "\ud800", "\U0001f600", "\u0660", "²"),
    *(
        "ß",
        "İ",
        "é",
        "ﬁ",
        "'\ud83d'",
        "`\u202e`",
        "r'x'",
        "X'1F'",
        "b'1'",
        "N'x'",
        "x" * 300,
        "`a b`",
        '"x"',
    ),
)

#: A text around a text.
NESTS: Final[tuple[tuple[str, str], ...]] = (
    ("(", ")"),
    ("abs(", ")"),
    ("coalesce(x, ", ")"),
    ("CASE WHEN ", " THEN 1 ELSE 2 END"),
    ("CAST(", " AS BIGINT)"),
    ("NOT ", ""),
    ("- ", ""),
    ("EXISTS (SELECT 1 FROM t [NOW] WHERE ", ")"),
    ("(SELECT * FROM ", ")"),
    ("x IN (", ")"),
    ("[", "]"),
    ("SELECT * FROM (", ")"),
    ("WITH a AS (", ") SELECT * FROM a"),
    ("ARRAY<", ">"),
    ("INTERVAL ", ""),
    ("x BETWEEN 1 AND ", ""),
)


@cache
def statements() -> tuple[str, ...]:
    """The statements of examples, documentation and golden files."""
    texts = [p.read_text() for p in sorted((_ROOT / "examples").glob("**/*.sql"))]
    pages = [_ROOT / "README.md", *sorted((_ROOT / "docs").glob("*.md"))]
    texts += [code for page in pages for code in _FENCED.findall(page.read_text())]
    found = [s.strip() for text in texts for s in text.split(";")]
    for path in sorted((_ROOT / "tests").glob("*/*/*.sql")):
        cases = path.read_text().split("\n----------\n")
        found += [case.split("\n=>\n")[0].strip() for case in cases]
    return tuple(dict.fromkeys(s for s in found if s))


def mutated(rng: random.Random, originals: Sequence[str]) -> str:
    """One of the statements after some accidents."""
    tokens = _TOKEN.findall(rng.choice(originals))
    for _ in range(rng.choice((1, 1, 1, 2, 3, 6))):
        if tokens:
            tokens = rng.choice(_ACCIDENTS)(tokens, rng)
    return "".join(tokens)[:LONGEST]


def _deleted(tokens: list[str], rng: random.Random) -> list[str]:
    at = rng.randrange(len(tokens))
    return tokens[:at] + tokens[at + rng.choice((1, 1, 2, 5)) :]


def _doubled(tokens: list[str], rng: random.Random) -> list[str]:
    start = rng.randrange(len(tokens))
    end = start + rng.choice((1, 2, 5, 20))
    times = rng.choice((2, 2, 3, 40, 300))
    return tokens[:start] + tokens[start:end] * times + tokens[end:]


def _swapped(tokens: list[str], rng: random.Random) -> list[str]:
    a, b = rng.randrange(len(tokens)), rng.randrange(len(tokens))
    tokens = list(tokens)
    tokens[a], tokens[b] = tokens[b], tokens[a]
    return tokens


def _replaced(tokens: list[str], rng: random.Random) -> list[str]:
    tokens = list(tokens)
    tokens[rng.randrange(len(tokens))] = rng.choice(WORDS)
    return tokens


def _inserted(tokens: list[str], rng: random.Random) -> list[str]:
    at = rng.randrange(len(tokens) + 1)
    words = [w for _ in range(rng.choice((1, 1, 3))) for w in (" ", rng.choice(WORDS), " ")]
    return tokens[:at] + words + tokens[at:]


def _nested(tokens: list[str], rng: random.Random) -> list[str]:
    start = rng.randrange(len(tokens))
    end = min(len(tokens), start + rng.choice((1, 1, 3, 9, 10_000)))
    before, behind = rng.choice(NESTS)
    times = rng.choice((1, 2, 5, 15, 31, 60, 400))
    return [*tokens[:start], before * times, *tokens[start:end], behind * times, *tokens[end:]]


def _spliced(tokens: list[str], rng: random.Random) -> list[str]:
    """With a piece of another statement."""
    other = _TOKEN.findall(rng.choice(statements()))
    start = rng.randrange(len(other))
    piece = other[start : start + rng.choice((1, 3, 10))]
    at = rng.randrange(len(tokens) + 1)
    end = at + rng.choice((0, 0, len(piece)))
    return [*tokens[:at], " ", *piece, " ", *tokens[end:]]


_ACCIDENTS: Final[tuple[Callable[[list[str], random.Random], list[str]], ...]] = (
    _deleted,
    _doubled,
    _swapped,
    _replaced,
    _inserted,
    _nested,
    _spliced,
)
