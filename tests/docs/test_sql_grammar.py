"""The grammar of the reference: examples of each alternative, the parser's tables, all SQL."""

from __future__ import annotations

import re
from functools import cache

import pytest

from eddyline.docs.generated import DOCS
from eddyline.docs.sql.examples import engine, examples
from eddyline.docs.sql.grammar import (
    TERMINALS,
    Choice,
    Expression,
    Reference,
    Word,
    rules,
    sections,
)
from eddyline.docs.sql.matching import Branch, Matcher, branch_text, branches
from eddyline.sql import durations, statement_parser
from eddyline.sql.datatypes import type_names
from eddyline.sql.time_window_syntax import ARGUMENTS
from eddyline.sql.unnest_syntax import FUNCTIONS

RULES = rules()
SCRIPTS = [script for section in examples().values() for script in section.scripts]


@cache
def taken(script: str) -> frozenset[Branch]:
    matcher = Matcher(RULES, script)
    found = matcher.taken("script")
    assert found is not None, f"not in the grammar, from: {matcher.rest()}"
    return found


def words(part: Expression) -> set[str]:
    """The keywords that stand in an expression."""
    if isinstance(part, Word):
        return {part.text}
    inner = getattr(part, "parts", None) or [getattr(part, "part", None)]
    return set().union(*(words(p) for p in inner if p is not None))


def first_words(rule: str) -> set[str]:
    """The keywords with which the alternatives of a rule begin."""
    expression = RULES[rule].expression
    assert isinstance(expression, Choice)
    firsts = [getattr(part, "parts", (part,))[0] for part in expression.parts]
    return {first.text for first in firsts if isinstance(first, Word)}


def references(part: Expression) -> set[str]:
    if isinstance(part, Reference):
        return {part.name}
    inner = getattr(part, "parts", None) or [getattr(part, "part", None)]
    return set().union(*(references(p) for p in inner if p is not None))


def test_every_rule_is_defined_and_used() -> None:
    used = set().union(*(references(rule.expression) for rule in RULES.values()))
    assert used - set(TERMINALS) == set(RULES) - {"script"}


@pytest.mark.parametrize("script", SCRIPTS)
def test_an_example_is_in_the_grammar_and_is_planned(script: str) -> None:
    assert taken(script)
    engine().sql(script)


def test_every_section_has_an_example_that_shows_its_result() -> None:
    assert set(examples()) == {section.title for section in sections()}
    assert all(section.shown for section in examples().values())


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_every_alternative_has_an_example(rule: object) -> None:
    seen = frozenset[Branch]().union(*map(taken, SCRIPTS))
    missing = [b for b in branches(rule) if b not in seen]  # type: ignore[arg-type]
    assert not missing, [branch_text(rule, b) for b in missing]  # type: ignore[arg-type]


@pytest.mark.parametrize("page", sorted(DOCS.rglob("*.md")), ids=lambda p: p.stem)
def test_the_sql_of_the_documents_is_in_the_grammar(page: object) -> None:
    text = page.read_text(encoding="utf-8")  # type: ignore[attr-defined]
    for block in re.findall(r"^```sql\n(.*?)^```", text, flags=re.DOTALL | re.M):
        assert taken(block)


def test_the_grammar_has_the_words_of_the_parser_s_tables() -> None:
    kinds = {kind.upper() for kind in statement_parser._KINDS}
    assert words(RULES["drop"].expression) == kinds | {"DROP", "FUNCTION"}
    assert words(RULES["show"].expression) == {"SHOW", *statement_parser._SHOWN}
    assert words(RULES["describe"].expression) == kinds | {"DESCRIBE", "DESC"}
    clauses = {word for clause in statement_parser._TIME_CLAUSES for word in clause.split()}
    assert words(RULES["time_clause"].expression) == clauses
    assert first_words("type") == set(type_names())
    units = {*durations._UNITS_US, *durations._SHORT_US, *durations._MONTHS}
    assert words(RULES["unit"].expression) == units
    assert words(RULES["window_call"].expression) == set(ARGUMENTS)
    assert words(RULES["unnest"].expression) == {*FUNCTIONS, "WITH", "ORDINALITY"}


@pytest.mark.parametrize(
    "script",
    [
        "SELECT x",
        "SELECT FROM s",
        "CREATE STREAM s (ts TIMESTAMP)",
        "SELECT x FROM s [RANGE]",
        "SELECT x FROM s [ROWS 1.5]",
        "SELECT x FROM s GROUP BY",
        "SELECT x FROM s WHERE x >",
        "CREATE QUERY q SELECT x FROM s",
        "DROP INDEX i",
    ],
)
def test_what_the_parser_refuses_is_not_in_the_grammar(script: str) -> None:
    assert Matcher(RULES, script).taken("script") is None
