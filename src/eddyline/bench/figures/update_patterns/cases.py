"""Queries 1 to 5 of the update-patterns paper, and the strategies that compete in each.

The plans are those of the paper's Figures 6 and 8; they run as written (``optimize=False``), so
that what differs between contenders is the strategy alone.

Query 5 is written with NOT EXISTS in both plans: the paper pulls a negation up above a join, which
for bags changes the answer (a row of W1 that joins twice would be cancelled once or twice,
depending on the plan); an anti join commutes with the join.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from eddyline.bench.figures.points import Contender, PointCase

NT: Final = "NT"
DIRECT: Final = "DIRECT"
UPA_10: Final = "UPA(10)"
UPA_50: Final = "UPA(50)"
UPA_50_KEYED: Final = "UPA(50), '-' above"
NT_JOIN_UP: Final = "NT (join up)"
UPA_50_JOIN_UP: Final = "UPA(50) (join up)"
#: The plan of section 5.4.3: the join below the negation without '-', the answer above it by '-'.
HYBRID: Final = "UPA(50) hybrid"

_OPTIONS: Final[Mapping[str, Mapping[str, Any]]] = {
    NT: {"state": "negative-tuple"},
    DIRECT: {"state": "direct"},
    UPA_10: {"state": "upa", "partitions": 10},
    UPA_50: {"state": "upa", "partitions": 50},
}
#: The other of the two STR strategies: negative tuples above the negation.
_KEYED: Final[Mapping[str, Any]] = {**_OPTIONS[UPA_50], "negative_tuples_from": 0.0}

_QUERY_1: Final = """
    SELECT a.src, a.bytes, b.bytes
    FROM (SELECT src, bytes FROM link1 {{w}} WHERE protocol = '{{{protocol}}}') AS a,
         (SELECT src, bytes FROM link2 {{w}} WHERE protocol = '{{{protocol}}}') AS b
    WHERE a.src = b.src"""
_QUERY_2: Final = "SELECT DISTINCT src FROM link1 {w}"
_QUERY_2_PAIRS: Final = "SELECT DISTINCT src, dst FROM link1 {w}"
_QUERY_3: Final = "SELECT src, bytes FROM link1 {w} EXCEPT ALL ON (src) SELECT src FROM link2 {w}"
_QUERY_4: Final = """
    SELECT a.src
    FROM (SELECT DISTINCT src FROM link1 {w}) AS a, (SELECT DISTINCT src FROM link2 {w}) AS b
    WHERE a.src = b.src"""
_QUERY_5_JOIN_BELOW: Final = """
    SELECT j.src, j.bytes, j.ftp_bytes
    FROM (SELECT a.src AS src, a.bytes AS bytes, c.bytes AS ftp_bytes
          FROM link1 {w} AS a, (SELECT src, bytes FROM link3 {w} WHERE protocol = '{few}') AS c
          WHERE a.src = c.src) AS j
    WHERE NOT EXISTS (SELECT * FROM link2 {w} AS b WHERE b.src = j.src)"""
_QUERY_5_JOIN_ABOVE: Final = """
    SELECT n.src, n.bytes, c.bytes AS ftp_bytes
    FROM (SELECT a.src AS src, a.bytes AS bytes FROM link1 {w} AS a
          WHERE NOT EXISTS (SELECT * FROM link2 {w} AS b WHERE b.src = a.src)) AS n,
         (SELECT src, bytes FROM link3 {w} WHERE protocol = '{few}') AS c
    WHERE n.src = c.src"""


def _case(name: str, title: str, links: int, select: str, labels: tuple[str, ...]) -> PointCase:
    options = {**_OPTIONS, UPA_50_KEYED: _KEYED}
    contenders = tuple(Contender(label, select, options[label]) for label in labels)
    return PointCase(name, title, links, contenders)


_ALL: Final = tuple(_OPTIONS)
#: The direct approach cannot find the results that a negation takes back.
_WITHOUT_DIRECT: Final = (NT, UPA_10, UPA_50, UPA_50_KEYED)

CASES: Final = {
    case.name: case
    for case in (
        _case("query1-ftp", "Query 1, {few}", 2, _QUERY_1.format(protocol="few"), _ALL),
        _case("query1-telnet", "Query 1, {many}", 2, _QUERY_1.format(protocol="many"), _ALL),
        _case("query2-src", "Query 2, sources", 1, _QUERY_2, _ALL),
        _case("query2-pairs", "Query 2, pairs", 1, _QUERY_2_PAIRS, _ALL),
        _case("query3", "Query 3", 2, _QUERY_3, _WITHOUT_DIRECT),
        _case("query4", "Query 4", 2, _QUERY_4, _ALL),
        PointCase(
            "query5",
            "Query 5",
            3,
            (
                Contender(NT, _QUERY_5_JOIN_BELOW, _OPTIONS[NT]),
                Contender(NT_JOIN_UP, _QUERY_5_JOIN_ABOVE, _OPTIONS[NT]),
                Contender(UPA_50, _QUERY_5_JOIN_BELOW, _OPTIONS[UPA_50]),
                Contender(HYBRID, _QUERY_5_JOIN_BELOW, _KEYED),
                Contender(UPA_50_JOIN_UP, _QUERY_5_JOIN_ABOVE, _OPTIONS[UPA_50]),
            ),
        ),
    )
}
