"""Functions of text give what Spark 4.3 gives, also beyond ASCII."""

# ruff: noqa: RUF001

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from expression_columns import column, evaluate, fn

#: Function, its constant arguments ("?" is the text), the text, and Spark's answer.
ANSWERS: list[tuple[str, list[Any], str, Any]] = [
    ("upper", ["?"], "ß", "SS"),
    ("upper", ["?"], "ŉ", "ʼN"),
    ("upper", ["?"], "ﬁ", "FI"),
    ("upper", ["?"], "ǆ", "Ǆ"),
    ("upper", ["?"], "\u0390", "\u0399\u0308\u0301"),
    ("upper", ["?"], "և", "ԵՒ"),
    ("upper", ["?"], "ı", "I"),
    ("upper", ["?"], "µ ſ ÿ", "Μ S Ÿ"),
    ("upper", ["?"], "ᾳ", "ΑΙ"),
    ("upper", ["?"], "ა", "Ა"),
    ("upper", ["?"], "ⅷ ⓐ", "Ⅷ Ⓐ"),
    ("upper", ["?"], "plain i", "PLAIN I"),
    ("lower", ["?"], "İ", "i\u0307"),
    ("lower", ["?"], "ΑΣ", "ας"),
    ("lower", ["?"], "ΑΣ Β", "ας β"),
    ("lower", ["?"], "Σ", "σ"),
    ("lower", ["?"], "ΑΣ.", "ας."),
    ("lower", ["?"], "ΑΣa", "ασa"),
    ("lower", ["?"], "Α.Σ", "α.ς"),
    ("lower", ["?"], "ẞ", "ß"),
    ("lower", ["?"], "\N{OHM SIGN}\N{KELVIN SIGN}I", "ωki"),
    ("initcap", ["?"], "ßtraße", "Sstraße"),
    ("initcap", ["?"], "ǆabc", "ǅabc"),
    ("initcap", ["?"], "hELLO wORLD", "Hello World"),
    ("initcap", ["?"], "a-b c_d", "A-b C_d"),
    ("initcap", ["?"], "a\tb", "A\tb"),
    ("initcap", ["?"], "o'neil", "O'neil"),
    ("initcap", ["?"], "  two  spaces ", "  Two  Spaces "),
    ("initcap", ["?"], "İSTANBUL", "İstanbul"),
    ("initcap", ["?"], "ﬁsh", "Fish"),
    ("initcap", ["?"], "ΑΣ ΣΑΣ", "Ας Σας"),
    ("initcap", ["?"], "1abc ŉa", "1abc ʼNa"),
    ("reverse", ["?"], "a𝄞é", "é𝄞a"),
    ("length", ["?"], "𝄞", 1),
    ("length", ["?"], "abc ", 4),
    ("ascii", ["?"], "𝄞", 119070),
    ("substring", ["?", 2, 2], "𝄞abc", "ab"),
    ("substring", ["?", -3, 2], "abcde", "cd"),
    ("substring", ["?", 0, 2], "abc", "ab"),
    ("substring", ["?", -5, 3], "abc", "a"),
    ("substring", ["?", -5], "abc", "abc"),
    ("substring", ["?", 2, -1], "abc", ""),
    ("substring", ["?", 5, 1], "abc", ""),
    ("left", ["?", 1], "𝄞bc", "𝄞"),
    ("left", ["?", -1], "abc", ""),
    ("right", ["?", 1], "ab𝄞", "𝄞"),
    ("right", ["?", 10], "abc", "abc"),
    ("right", ["?", -1], "abc", ""),
    ("trim", ["?"], "  a b  ", "a b"),
    ("trim", ["?"], "\ta\t", "\ta\t"),
    ("trim", ["xy", "?"], "yxaxyx", "a"),
    ("trim", ["𝄞", "?"], "𝄞a𝄞", "a"),
    ("trim", ["", "?"], "abc", "abc"),
    ("ltrim", ["xy", "?"], "yxaxyx", "axyx"),
    ("rtrim", ["xy", "?"], "yxaxyx", "yxa"),
    ("btrim", ["?", "xy"], "yxaxyx", "a"),
    ("lpad", ["?", 5, "xy"], "hi", "xyxhi"),
    ("lpad", ["?", 5, ""], "hi", "hi"),
    ("lpad", ["?", 1, "?"], "hi", "h"),
    ("lpad", ["?", 3, "𝄞"], "é", "𝄞𝄞é"),
    ("lpad", ["?", 2, "x"], "𝄞𝄞𝄞", "𝄞𝄞"),
    ("lpad", ["?", -1, "x"], "hi", ""),
    ("rpad", ["?", 3, "𝄞b"], "é", "é𝄞b"),
    ("rpad", ["?", 5], "hi", "hi   "),
    ("like", ["?", r"a\_c"], "a_c", True),
    ("like", ["?", r"a\_c"], "abc", False),
    ("like", ["?", r"a\\c"], "a\\c", True),
    ("like", ["?", "a!%c", "!"], "a%c", True),
    ("like", ["?", "_"], "𝄞", True),
    ("like", ["?", "a%b"], "a\nb", True),
    ("like", ["?", "a_b"], "a\nb", True),
    ("like", ["?", "é"], "É", False),
    ("ilike", ["?", "a_c"], "ABC", True),
    ("ilike", ["?", "i%"], "İ", True),
    ("ilike", ["?", "SS"], "ß", False),
    ("ilike", ["?", "straße"], "STRASSE", False),
    ("ilike", ["?", "é"], "É", True),
    ("ilike", ["?", "ς"], "Σ", False),
    ("ilike", ["?", "k"], "\N{KELVIN SIGN}", True),
    ("repeat", ["?", 0], "ab", ""),
    ("repeat", ["?", -1], "ab", ""),
    ("instr", ["?", "c"], "𝄞bc", 3),
    ("instr", ["?", ""], "abc", 1),
    ("split_part", ["?", ",", 2], "a,b,c", "b"),
    ("split_part", ["?", ",", -1], "a,b,c", "c"),
    ("split_part", ["?", ",", 5], "a,b,c", ""),
    ("split_part", ["?", "", 1], "a,b,c", "a,b,c"),
    ("replace", ["?", "b", "xx"], "abcabc", "axxcaxxc"),
    ("replace", ["?", "", "x"], "abc", "abc"),
    ("startswith", ["?", ""], "abc", True),
    ("contains", ["?", "B"], "abc", False),
    ("regexp_extract", ["?", r"(\d+)", 1], "foo", ""),
    ("regexp_replace", ["?", "", "-"], "abc", "-a-b-c-"),
]


@pytest.mark.parametrize(("function", "arguments", "text", "expected"), ANSWERS)
def test_as_in_spark(function: str, arguments: list[Any], text: str, expected: Any) -> None:
    """Alone, and among other texts, one of which has what parts texts inside."""
    place = arguments.index("?")
    for texts in ([text], [None, text, "Ω\uf8ffx", "", text]):
        table = pa.table({"v": pa.array(texts)})
        given = [column("v", table) if i == place else a for i, a in enumerate(arguments)]
        found = evaluate(fn(function, *given), table).to_pylist()
        assert [f for f, t in zip(found, texts, strict=True) if t == text] == [expected] * (
            texts.count(text)
        )
        assert all(f is None for f, t in zip(found, texts, strict=True) if t is None)


def test_case_of_no_rows_and_of_slices() -> None:
    for texts in (pa.array([], pa.string()), pa.array(["x", "ß", None, "İ", "y"]).slice(1, 3)):
        table = pa.table({"v": texts})
        for function, convert in (("upper", str.upper), ("lower", str.lower)):
            found = evaluate(fn(function, column("v", table)), table).to_pylist()
            assert found == [None if t is None else convert(t) for t in texts.to_pylist()]
