"""Forms of standard SQL and of Spark are the same query as a plain form."""

from __future__ import annotations

import pyarrow as pa
import pytest

from eddyline import Engine, SqlError

A, B = "a [RANGE 9 SECONDS]", "b [RANGE 9 SECONDS]"
#: Two SELECTs with the same plan.
SAME = [
    (f"SELECT k, v, x FROM {A} NATURAL JOIN {B}", f"SELECT k, v, x FROM {A} JOIN {B} USING (k)"),
    (f"SELECT * FROM {A} NATURAL LEFT JOIN {B}", f"SELECT * FROM {A} LEFT JOIN {B} USING (k)"),
    (f"SELECT v, y FROM {A} NATURAL JOIN c", f"SELECT v, y FROM {A} CROSS JOIN c"),
    ("SELECT v * 2 AS w, w + 1 AS z FROM a", "SELECT v * 2 AS w, v * 2 + 1 AS z FROM a"),
    (
        "SELECT v + 1 AS w, w * 2 AS x, x - w AS y FROM a",
        "SELECT v + 1 AS w, (v + 1) * 2 AS x, (v + 1) * 2 - (v + 1) AS y FROM a",
    ),
    ("SELECT v + 1 AS k, k AS z FROM a", "SELECT v + 1 AS k, a.k AS z FROM a"),
    (
        f"SELECT k, SUM(v) AS t, t / COUNT(*) AS m FROM {A} GROUP BY k HAVING m > 2",
        f"SELECT k, SUM(v) AS t, SUM(v) / COUNT(*) AS m FROM {A} GROUP BY k "
        "HAVING SUM(v) / COUNT(*) > 2",
    ),
    (
        f"SELECT v % 3 AS r, r + 1 AS q, COUNT(*) AS n FROM {A} GROUP BY q, r",
        f"SELECT v % 3 AS r, v % 3 + 1 AS q, COUNT(*) AS n FROM {A} GROUP BY v % 3 + 1, v % 3",
    ),
    ("SELECT substring(s FROM 2 FOR 3) AS p FROM a", "SELECT substring(s, 2, 3) AS p FROM a"),
    ("SELECT SUBSTRING(s FOR 3) AS p FROM a", "SELECT substring(s, 1, 3) AS p FROM a"),
    ("SELECT position('x' IN s) AS p FROM a", "SELECT instr(s, 'x') AS p FROM a"),
    ("SELECT TRIM(LEADING 'x' FROM s) AS p FROM a", "SELECT ltrim('x', s) AS p FROM a"),
    ("SELECT trim(BOTH FROM s) AS p FROM a", "SELECT trim(s) AS p FROM a"),
    (
        "SELECT overlay(s PLACING 'x' FROM 2 FOR 1) AS p FROM a",
        "SELECT overlay(s, 'x', 2, 1) AS p FROM a",
    ),
    ("SELECT EXTRACT(doy FROM ts) AS p FROM a", "SELECT dayofyear(ts) AS p FROM a"),
    ("SELECT date_part('MINS', ts) AS p FROM a", "SELECT minute(ts) AS p FROM a"),
    (
        "SELECT dateadd(WEEK, v, ts) AS p FROM a",
        "SELECT ts + v * INTERVAL '7' DAY AS p FROM a",
    ),
    (
        f"SELECT * FROM {A} LEFT SEMI JOIN {B} ON a.k = b.k AND b.x > 1 WHERE a.v > 2",
        f"SELECT * FROM {A} WHERE a.v > 2 AND EXISTS (SELECT 1 FROM {B} WHERE a.k = b.k "
        "AND b.x > 1)",
    ),
    (
        f"SELECT a.v FROM {A} LEFT ANTI JOIN {B} ON a.k = b.k JOIN c ON c.y = a.v",
        f"SELECT a.v FROM {A} JOIN c ON c.y = a.v WHERE NOT EXISTS (SELECT 1 FROM {B} "
        "WHERE a.k = b.k)",
    ),
    (
        "SELECT v, explode(split(s, ',')) AS part FROM a WHERE v > 1",
        "SELECT v, part FROM a LATERAL VIEW explode(split(s, ',')) t AS part WHERE v > 1",
    ),
    (
        "SELECT regexp_replace(s, '[0-9]', '#', 'g') AS p FROM a",
        "SELECT regexp_replace(s, '[0-9]', '#') AS p FROM a",
    ),
    ("SELECT * EXCEPT (s, ts) FROM a", "SELECT k, v FROM a"),
    (f"SELECT a.* EXCLUDE (ts, s), x FROM {A}, {B}", f"SELECT a.k, a.v, x FROM {A}, {B}"),
    ("SELECT * EXCEPT (ts) REPLACE (v + 1 AS v) FROM a", "SELECT k, v + 1 AS v, s FROM a"),
    (
        f"SELECT k + 1 AS l, SUM(v) + 1 AS t, s FROM {A} GROUP BY ALL",
        f"SELECT k + 1 AS l, SUM(v) + 1 AS t, s FROM {A} GROUP BY k + 1, s",
    ),
    (f"SELECT SUM(v) AS t FROM {A} GROUP BY ALL", f"SELECT SUM(v) AS t FROM {A}"),
    (
        f"SELECT v FROM {A} WHERE k = ANY (SELECT k FROM {B})",
        f"SELECT v FROM {A} WHERE k IN (SELECT k FROM {B})",
    ),
    (
        f"SELECT v > 1 AND (k, v) <> ALL (SELECT k, x FROM {B}) AS t FROM {A}",
        f"SELECT v > 1 AND (k, v) NOT IN (SELECT k, x FROM {B}) AS t FROM {A}",
    ),
    (
        "SELECT t.* FROM (SELECT named_struct('p', k, 'q', v) AS t FROM a)",
        "SELECT t.p, t.q FROM (SELECT named_struct('p', k, 'q', v) AS t FROM a)",
    ),
    (
        "SELECT v, posexplode(split(s, ',')) FROM a",
        "SELECT v, CAST(pos - 1 AS INT) AS pos, col AS col FROM a, "
        "UNNEST(split(s, ',')) WITH ORDINALITY AS __elements (col, pos)",
    ),
    ("SELECT v FROM a WHERE (k, v) = (1, 2)", "SELECT v FROM a WHERE k = 1 AND v = 2"),
    ("SELECT v FROM a WHERE (k, v) <> (1, 2)", "SELECT v FROM a WHERE NOT (k = 1 AND v = 2)"),
    (
        "SELECT v FROM a WHERE (k, v) IN ((1, 2), (3, 4))",
        "SELECT v FROM a WHERE k = 1 AND v = 2 OR k = 3 AND v = 4",
    ),
    (
        "SELECT 1 = ANY(array(k, v)) AS p FROM a",
        "SELECT array_contains(array(k, v), 1) AS p FROM a",
    ),
    ("SELECT FLOOR(ts TO HOUR) AS p FROM a", "SELECT date_trunc('hour', ts) AS p FROM a"),
    ("SELECT /*+ BROADCAST(c) */ v FROM a", "SELECT v FROM a"),
    ("SELECT s::jsonb ->> 'x' AS p FROM a", "SELECT s ->> 'x' AS p FROM a"),
    ("SELECT v & 1 = 0 AS p FROM a", "SELECT (v & 1) = 0 AS p FROM a"),
    ("SELECT v << 2 AS p FROM a", "SELECT shiftleft(v, 2) AS p FROM a"),
]
WRONG = [
    (f"SELECT v FROM {A} NATURAL JOIN {B}, {A.replace('a', 'd', 1)}", "'d'"),
    ("SELECT w + 1 AS z, v AS w FROM a", "there is no column 'w'"),
    ("SELECT w AS w FROM a", "there is no column 'w'"),
    (f"SELECT v AS w, SUM(w) AS s FROM {A} GROUP BY v", "there is no column 'w'"),
    ("SELECT overlay(s PLACING 'x') FROM a", "expected FROM and a position"),
    ("SELECT timestampadd(FORTNIGHT, 1, ts) FROM a", "there is no column 'FORTNIGHT'"),
    ("SELECT timestampadd(dd, 1, ts) FROM a", "timestampadd has no unit dd; valid: microsecond"),
    ("SELECT date_part('eon', ts) FROM a", "there is no part 'eon'"),
    ("SELECT date_part(s, ts) FROM a", "date_part needs a constant"),
    ("SELECT regexp_count(s, 'x*') FROM a", "matches the empty text"),
    ("SELECT substring() FROM a", "substring does not take"),
    ("SELECT trim(BOTH 'x' FROM s FROM s) FROM a", "expected"),
]


def engine() -> Engine:
    made = Engine()
    made.sql("CREATE STREAM a (ts TIMESTAMP, k BIGINT, v BIGINT, s STRING) TIMESTAMP BY ts")
    made.sql("CREATE STREAM b (at TIMESTAMP, k BIGINT, x BIGINT) TIMESTAMP BY at")
    made.sql("CREATE TABLE c (y BIGINT)")
    made.table("c", pa.table({"y": [1, 2]}))
    return made


@pytest.mark.parametrize(("select", "plain"), SAME)
def test_same_plan(select: str, plain: str) -> None:
    plans = [engine().query(text, name="q").plan for text in (select, plain)]
    assert plans[0] == plans[1]


@pytest.mark.parametrize(("select", "message"), WRONG)
def test_what_is_refused(select: str, message: str) -> None:
    with pytest.raises(SqlError, match=message):
        engine().query(select, name="q")
