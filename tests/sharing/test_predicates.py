"""Predicates in conjunctive normal form: they pass the rows that evaluation passes."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eddyline.algebra.expressions import Call
from eddyline.physical.clauses import fold
from eddyline.sharing.predicates import MAX_CLAUSES, MAX_CONDITIONS, clauses_of
from eddyline.testing.strategies.expressions import ScopeColumn, predicates
from eddyline.types import TIMESTAMP
from predicate_cases import bound, check, shown

# -- random predicates -------------------------------------------------

_NUMBERS = ["0", "1", "2", "2.5D", "1 + 1", "-1", "0.1D", "NULL", "5000000000", "-1e300"]
_CONSTANTS = {
    **dict.fromkeys(("k", "v", "i", "tiny"), _NUMBERS),
    "d": [*_NUMBERS, "CAST('NaN' AS DOUBLE)", "CAST('Infinity' AS DOUBLE)", "-0.0D"],
    "f": [*_NUMBERS, "CAST('NaN' AS FLOAT)", "CAST(0.1 AS FLOAT)", "CAST('-Infinity' AS FLOAT)"],
    "p": ["0", "2", "2.5D", "CAST(2.5 AS DECIMAL(4,1))", "CAST(2.505 AS DECIMAL(9,3))", "100000"],
    "s": ["'a'", "'ab'", "''", "'é'", "CONCAT('a', 'b')", "NULL"],
    "b": ["TRUE", "FALSE", "NULL"],
    "t": ["'2026-01-02'", "TIMESTAMP '2026-01-02 00:00:00'", "DATE '2026-01-03'", "NULL"],
    "raw": ["CAST('a' AS BINARY)", "CAST('' AS BINARY)", "NULL"],
    "day": ["'2026-01-02'", "DATE '2026-01-01'", "TIMESTAMP '2026-01-01 12:00:00'"],
}
_ATTRIBUTES = {
    "k": ["k", "k + 1", "CAST(k AS INT)", "COALESCE(k, 2)"],
    "i": ["i", "i", "CAST(i AS BIGINT)", "i + v"],
    "d": ["d", "d * 2", "CAST(i AS DOUBLE)", "CAST(k AS DOUBLE)", "ABS(d)"],
    "s": ["s", "s", "UPPER(s)", "CONCAT(s, 'b')"],
    "b": ["b", "b", "(k > v)", "(k > 1)", "(b AND i > 2)", "CONTAINS(s, 'b')"],
}


@st.composite
def conditions(draw: st.DrawFn) -> str:
    name = draw(st.sampled_from(sorted(_CONSTANTS)))
    attribute = draw(st.sampled_from(_ATTRIBUTES.get(name, [name])))
    constants = st.sampled_from(_CONSTANTS[name])
    x, y, z = draw(constants), draw(constants), draw(constants)
    forms = [
        *(f"{attribute} {op} {x}" for op in ("=", "<>", "<", "<=", ">", ">=", "<=>")),
        *(f"{x} {op} {attribute}" for op in ("=", "<", "<=", ">", "<=>")),
        f"{attribute} BETWEEN {x} AND {y}",
        f"{attribute} NOT BETWEEN {x} AND {y}",
        f"{attribute} IN ({x}, {y}, {z})",
        f"{attribute} NOT IN ({x}, {y})",
        f"{attribute} IN ({x}, NULL)",
        f"{attribute} IS NULL",
        f"{attribute} IS NOT NULL",
        f"{x} IN ({attribute}, {y})",
        "(t - ts) IS NULL",
        "t - ts > INTERVAL 1 DAY",
        *(f"{word} s {form}" for word in ("", "NOT") for form in _LIKES),
        *(f"{attribute} IS {test}" for test in _TESTS if name == "b"),
    ]
    return draw(st.sampled_from(forms))


_LIKES = [
    "LIKE 'a%'",
    "LIKE 'ab'",
    "LIKE '%b'",
    "LIKE 'a_'",
    "LIKE '%'",
    "LIKE 'a\\\\%'",
    "LIKE 'a\\\\\\\\%'",
    "LIKE 'a!%%' ESCAPE '!'",
    "LIKE 'a%' ESCAPE '!'",
    "LIKE ''",
]
_LIKES += ["ILIKE 'B%'", "LIKE 'z%%'", "LIKE 'a%c'", "= u", "RLIKE '^a'"]
_TESTS = ["TRUE", "FALSE", "NOT TRUE", "NOT FALSE", "NULL", "NOT NULL"]
_CONNECTIONS = ["({0} AND {1})", "({0} OR {1})", "NOT ({0})"]
_CONNECTIONS += [f"(({{0}}) IS {test})" for test in _TESTS]
PREDICATES = st.recursive(
    conditions(),
    lambda inner: st.builds(
        lambda form, p, q: form.format(p, q), st.sampled_from(_CONNECTIONS), inner, inner
    ),
    max_leaves=8,
)
SCOPE = [
    ScopeColumn("k", "int"),
    ScopeColumn("v", "int"),
    ScopeColumn("s", "str"),
    ScopeColumn("d", "double"),
]


@given(PREDICATES)
def test_random_predicates(predicate: str) -> None:
    check(bound(predicate))


@given(st.lists(predicates(SCOPE), min_size=1, max_size=3))
def test_the_predicates_of_other_properties(terms: list[str]) -> None:
    check(bound(" OR ".join(f"({t})" for t in terms)))
    check(bound(" AND ".join(f"({t})" for t in terms)))


@given(st.lists(st.tuples(st.sampled_from("kvd"), st.integers(-1, 6)), min_size=2, max_size=12))
def test_or_of_ands(terms: list[tuple[str, int]]) -> None:
    pairs = zip(terms[::2], terms[1::2], strict=False)
    sql = " OR ".join(f"({a} = {x} AND {b} <> {y})" for (a, x), (b, y) in pairs)
    assert len(check(bound(sql))) <= MAX_CLAUSES


# -- typical shapes ----------------------------------------------------

GOLDENS: list[tuple[str, list[str]]] = [
    # one attribute is one set
    ("k > 5", ["k in (5, inf)"]),
    ("5 > k", ["k in (-inf, 5)"]),
    ("k = 5", ["k in {5}"]),
    ("k <> 5", ["k in (-inf, 5) | (5, inf)"]),
    ("d <> 5", ["d in (-inf, 5.0) | (5.0, inf) | NaN"]),
    ("NOT d > 5", ["d in (-inf, 5.0]"]),
    ("k BETWEEN 2 AND 4", ["k in [2, 4]"]),
    ("k NOT BETWEEN 2 AND 4", ["k in (-inf, 2) | (4, inf)"]),
    ("k BETWEEN 2 AND 4 OR k IS NULL OR k > 3 + 4", ["k in [2, 4] | (7, inf) | NULL"]),
    ("k > 1 AND NOT (k = 3 OR k >= 7)", ["k in (1, 3) | (3, 7)"]),
    ("k IN (3, 1, 2, 1)", ["k in {1} | {2} | {3}"]),
    ("k NOT IN (1, 3)", ["k in (-inf, 1) | (1, 3) | (3, inf)"]),
    ("k IN (1, NULL)", ["k in {1}"]),
    ("NOT (k IN (1, NULL)) IS TRUE", ["k in (-inf, 1) | (1, inf) | NULL"]),
    ("k IS NULL", ["k in NULL"]),
    ("k IS NOT NULL", ["k in (-inf, inf)"]),
    ("d IS NOT NULL", ["d in (-inf, inf) | NaN"]),
    ("k <=> 4", ["k in {4}"]),
    ("NOT k <=> 4", ["k in (-inf, 4) | (4, inf) | NULL"]),
    ("k <=> NULL", ["k in NULL"]),
    ("(k > 4) IS NOT TRUE", ["k in (-inf, 4] | NULL"]),
    ("(k > 4) IS NULL", ["k in NULL"]),
    ("s LIKE 'ab%'", ["s in [ab, ac)"]),
    ("s NOT LIKE 'ab%'", ["s in (-inf, ab) | [ac, inf)"]),
    ("s LIKE 'ab'", ["s in {ab}"]),
    ("startswith(s, 'a')", ["s in [a, b)"]),
    ("s LIKE '%'", ["s in (-inf, inf)"]),
    ("s LIKE 'a%' AND s >= 'b'", [""]),
    ("b", ["b in {True}"]),
    ("NOT b", ["b in {False}"]),
    ("b IS NOT FALSE", ["b in {True} | NULL"]),
    ("b <> TRUE", ["b in {False}"]),
    ("d = CAST('NaN' AS DOUBLE)", ["d in NaN"]),
    ("d <> CAST('NaN' AS DOUBLE)", ["d in (-inf, inf)"]),
    ("d < CAST('NaN' AS DOUBLE)", ["d in (-inf, inf)"]),
    ("d >= CAST('NaN' AS DOUBLE)", ["d in NaN"]),
    ("d > 5", ["d in (5.0, inf) | NaN"]),
    ("day >= '2026-01-02'", ["day in [2026-01-02, inf)"]),
    # constants
    ("TRUE", []),
    ("1 = 1 AND k > 2 + 3", ["k in (5, inf)"]),
    ("k > 5 OR 1 = 1", []),
    ("FALSE", [""]),
    ("NULL", [""]),
    ("k > NULL", [""]),
    ("NOT (k > NULL)", [""]),
    ("(k > NULL) IS NULL", []),
    ("k > 5 AND k < 3", [""]),
    ("k < 5 OR k >= 5 OR k IS NULL", []),
    ("b IS NULL OR b OR NOT b", []),
    # attributes
    ("k + 1 > 5", ["(k + 1) in (5, inf)"]),
    ("upper(s) = 'A' AND s > 'a'", ["upper(s) in {A}", "s in (a, inf)"]),
    ("v > k", ["(v > k) in {True}"]),
    ("NOT v > k", ["(v > k) in {False}"]),
    ("s LIKE '%b' OR s LIKE 'a%'", ["like(s, '%b') in {True} or s in [a, b)"]),
    ("s LIKE 'a\\\\%'", ["like(s, 'a\\%') in {True}"]),
    ("s LIKE 'a!%' ESCAPE '!'", ["like(s, 'a\\%') in {True}"]),
    ("s LIKE 'a\\\\%' ESCAPE '!'", ["like(s, 'a\\\\%') in {True}"]),
    ("s LIKE 'a%' ESCAPE '!'", ["s in [a, b)"]),
    ("i > 2.5", ["i in (2, inf)"]),
    ("i BETWEEN 1 AND 5000000000", ["i in [1, 2147483647]"]),
    ("tiny = 2.5", [""]),
    ("f > 0.1", ["f in (0.09999999403953552, inf) | NaN"]),
    ("f = 0.1", [""]),
    ("k > 2.5", ["CAST(k AS DOUBLE) in (2.5, inf) | NaN"]),
    ("p >= 2", ["p in [2.00, inf)"]),
    ("p < 100000", ["p in (-inf, 9999.99]"]),
    ("p < CAST(2.505 AS DECIMAL(9,3))", ["p in (-inf, 2.50]"]),
    # several attributes
    ("k > 5 AND v < 2 AND k < 9", ["k in (5, 9)", "v in (-inf, 2)"]),
    ("k > 5 OR v < 2", ["k in (5, inf) or v in (-inf, 2)"]),
    ("NOT (k > 5 OR v < 2)", ["k in (-inf, 5]", "v in [2, inf)"]),
    ("NOT (k > 5 AND v < 2)", ["k in (-inf, 5] or v in [2, inf)"]),
    (
        "k > 5 OR (v = 1 AND i = 2)",
        ["k in (5, inf) or v in {1}", "k in (5, inf) or i in {2}"],
    ),
    (
        "(k = 1 AND v = 1) OR (k = 2 AND v = 2)",
        ["k in {1} | {2}", "k in {1} or v in {2}", "v in {1} or k in {2}", "v in {1} | {2}"],
    ),
    ("(k = 1 AND v = 5) OR (k = 2 AND v = 5)", ["k in {1} | {2}", "v in {5}"]),
    ("(k > 1 OR v > 1) AND (k > 1 OR v > 1)", ["k in (1, inf) or v in (1, inf)"]),
    (
        "(k > 1 AND v > 1) IS NOT TRUE",
        ["k in (-inf, 1] | NULL or v in (-inf, 1] | NULL"],
    ),
]


@pytest.mark.parametrize(("predicate", "expected"), GOLDENS, ids=[p for p, _ in GOLDENS])
def test_typical_shapes(predicate: str, expected: list[str]) -> None:
    assert shown(check(bound(predicate))) == expected


def test_equal_meanings_have_one_form() -> None:
    """So that queries that write a condition differently share what indexes it."""
    forms = [
        "k BETWEEN 2 AND 4",
        "2 <= k AND NOT k > 4",
        "NOT (k < 2 OR 4 < k)",
        "4 >= k AND k >= 2",
    ]
    assert len({clauses_of(bound(f), fold) for f in forms}) == 1


# -- limits ------------------------------------------------------------


def test_a_long_disjunction_is_an_attribute() -> None:
    short = " OR ".join(f"k + {n} = 0" for n in range(MAX_CONDITIONS))
    ((*conditions_,),) = check(bound(short))
    assert len(conditions_) == MAX_CONDITIONS
    long = bound(f"{short} OR k - 1 = 0")
    ((condition,),) = check(long)
    assert condition.attribute == long
    assert shown(check(bound(f"NOT ({short} OR k - 1 = 0)")))  # an AND of opposites has no limit
    assert check(bound(f"({short} OR k - 1 = 0) IS NULL"))


def test_a_large_distribution_is_an_attribute() -> None:
    def pairs(n: int) -> str:
        return " OR ".join(f"(k + {i} = 1 AND v + {i} = 2)" for i in range(n))

    assert len(check(bound(pairs(3)))) == 8
    ((condition,), other) = check(bound(f"({pairs(4)}) AND (k = 0 OR v = 1)"))
    assert condition.attribute == bound(pairs(4))
    assert len(other) == 2


def test_an_alternative_that_never_holds_does_not_count() -> None:
    all_ = " AND ".join(f"k + {n} = 0" for n in range(2 * MAX_CLAUSES))
    assert len(check(bound(f"({all_}) OR k > NULL"))) == 2 * MAX_CLAUSES


def test_one_attribute_has_no_limit() -> None:
    either = bound(" OR ".join(f"k = {2 * n}" for n in range(150)))
    ((condition,),) = clauses_of(either, fold)
    assert len(condition.accepts.intervals) == 150
    neither = Call(pa.bool_(), "not", (either,))
    ((condition,),) = clauses_of(neither, fold)
    assert len(condition.accepts.intervals) == 151
    many = bound(f"k IN ({', '.join(map(str, range(2_000)))})")
    ((condition,),) = clauses_of(many, fold)
    assert len(condition.accepts.intervals) == 2_000


def test_instants_beyond_python_are_not_indexed() -> None:
    ((condition,),) = check(bound("t < timestamp_micros(9000000000000000000)"))
    assert condition.attribute.type == pa.bool_()
    ((condition,),) = check(bound("t < timestamp_micros(1000000)"))
    assert condition.attribute.type == TIMESTAMP
