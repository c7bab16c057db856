"""SIMILAR TO, ~ and regexp_match are those of PostgreSQL."""

from __future__ import annotations

import pyarrow as pa
import pytest

from eddyline import Engine


def values(expression: str, texts: list[str | None]) -> list[object]:
    engine = Engine()
    engine.sql("CREATE STREAM r (ts TIMESTAMP, s STRING, i BIGINT) TIMESTAMP BY ts")
    engine.query(f"SELECT i, {expression} AS v FROM r [NOW]", name="q")
    columns = {"ts": [0] * len(texts), "s": pa.array(texts, pa.string()), "i": range(len(texts))}
    found = engine.process({"r": pa.table(columns)})
    return [row["v"] for row in found["q"].sort_by("i").to_pylist()]


@pytest.mark.parametrize(
    ("pattern", "texts", "expected"),
    [
        ("abc", ["abc", "abcd", "xabc", None], [True, False, False, None]),
        ("%(b|d)%", ["abc", "xdx", "xx"], [True, True, False]),
        ("(a|b)_c", ["axc", "bxc", "cxc", "a\nc"], [True, True, False, True]),
        ("a.c", ["a.c", "abc"], [True, False]),
        ("[a-c]+", ["abcab", "abd"], [True, False]),
        ("[%_.]*", ["%_.", "a"], [True, False]),
        ("a{2,3}", ["a", "aa", "aaaa"], [False, True, False]),
        ("^a$", ["^a$", "a"], [True, False]),
        (r"50\\%", ["50%", "505"], [True, False]),
        (r"a\\|b", ["a|b", "a"], [True, False]),
    ],
)
def test_similar_to(pattern: str, texts: list[str | None], expected: list[object]) -> None:
    assert values(f"s SIMILAR TO '{pattern}'", texts) == expected


def test_matches() -> None:
    texts = ["abc", "xABx", "", None]
    assert values("s ~ 'ab'", texts) == [True, False, False, None]
    assert values("s ~* 'ab'", texts) == [True, True, False, None]
    assert values("s !~ 'ab'", texts) == [False, True, True, None]
    assert values("s !~* 'ab'", texts) == [False, False, True, None]
    assert values("s || 'd' ~ 'cd$' AND s ~ '^a'", texts) == [True, False, False, None]


def test_groups_of_the_first_match() -> None:
    texts = ["k=12;k=3", "none", None]
    assert values("(regexp_match(s, '(k)=([0-9]+)'))[2]", texts) == ["12", None, None]
    assert values("(regexp_match(s, 'k=[0-9]+'))[1]", texts) == ["k=12", None, None]
    assert values("regexp_substr(s, '[0-9]+')", texts) == ["12", None, None]
