import pytest

from eddyline.testing.keys import group_key
from eddyline.testing.reading import WindowText, range_windows, read_query, read_views


@pytest.mark.parametrize(
    ("text", "window"),
    [
        ("[RANGE 10 SECONDS]", WindowText(range_us=10_000_000)),
        ("[range interval 1 minute]", WindowText(range_us=60_000_000)),
        ("[RANGE INTERVAL '5' MINUTES]", WindowText(range_us=300_000_000)),
        ("[RANGE 250 MILLISECONDS]", WindowText(range_us=250_000)),
        ("[NOW]", WindowText(range_us=1)),
        ("[ROWS 3]", WindowText(rows=3)),
        ("[PARTITION BY k, `odd name` ROWS 2]", WindowText(rows=2, partition=("k", "odd name"))),
        ("[UNBOUNDED]", WindowText()),
        ("[RANGE UNBOUNDED]", WindowText()),
    ],
)
@pytest.mark.parametrize("form", ["FROM a {} AS x", "FROM a {} x", "FROM a AS x {}", "FROM a x {}"])
def test_windows_in_front_of_the_alias_and_behind(text: str, window: WindowText, form: str) -> None:
    reading = read_query(
        f"SELECT x.k FROM b, {form.removeprefix('FROM ').format(text)} WHERE x.k[0] = 1"
    )
    assert reading.windows == (window,)
    assert "`a__window0` AS x" in reading.select.sql(dialect="spark")


def test_several_windows_a_trailing_one_and_emit() -> None:
    reading = read_query(
        "SELECT 'EMIT [RANGE 1 DAY]' FROM a [ROWS 1], b, c [NOW] WINDOW 2 SECONDS"
        " EMIT SNAPSHOT EVERY 5 SECONDS WITH (sink = 'x');"
    )
    assert reading.windows == (WindowText(rows=1), WindowText(range_us=1))
    assert reading.trailing == WindowText(range_us=2_000_000)
    assert (reading.mode, reading.every_us) == ("snapshot", 5_000_000)


@pytest.mark.parametrize("mode", ["inserts", "changes"])
def test_emit(mode: str) -> None:
    assert read_query(f"SELECT k FROM a [NOW] EMIT {mode.upper()}").mode == mode
    assert read_query("SELECT k FROM a [NOW]").mode == "inserts"


def test_the_keys_of_a_negation() -> None:
    reading = read_query("SELECT k, s FROM a [NOW] EXCEPT ALL ON (k, s) (SELECT k, s FROM b [NOW])")
    assert [c.name for c in reading.select.args["on"]] == ["k", "s"]
    assert len(reading.windows) == 2


def test_windows_of_every_sub_query_count() -> None:
    sql = (
        "SELECT x.k FROM a [RANGE 1 SECOND] x LEFT JOIN c [RANGE 2 SECONDS] y ON x.k = y.k"
        " WHERE NOT EXISTS (SELECT 1 FROM b [RANGE 3 SECONDS] WHERE k IN"
        " (SELECT k FROM b [RANGE 4 SECONDS])) EXCEPT ALL ON (k) SELECT k FROM v"
    )
    views = {"v": "SELECT k FROM a [RANGE 5 SECONDS]"}
    assert range_windows(sql, views) == {n * 1_000_000 for n in range(1, 6)}


def test_views_and_their_windows() -> None:
    views = read_views(
        "CREATE STREAM a (ts TIMESTAMP) TIMESTAMP BY ts; CREATE VIEW v AS SELECT ts FROM a [NOW];"
        "CREATE QUERY w AS SELECT ts FROM a [RANGE 2 SECONDS]"
    )
    assert views == {
        "v": "SELECT ts FROM a [NOW]",
        "w": "SELECT ts FROM a [RANGE 2 SECONDS]",
    }
    assert range_windows("SELECT * FROM v, w, a [ROWS 2]", views) == {1, 2_000_000}


@pytest.mark.parametrize(
    ("sql", "key"),
    [
        ("SELECT k, COUNT(*) FROM a [NOW] GROUP BY k", (0,)),
        ("SELECT COUNT(*), a.k AS z FROM a [NOW] GROUP BY k", (1,)),
        ("SELECT COUNT(*), k AS z FROM a [NOW] GROUP BY z", (1,)),
        ("SELECT COUNT(*), k AS z FROM a [NOW] GROUP BY 2", (1,)),
        ("SELECT k % 2, s, MAX(k) FROM a [NOW] GROUP BY s, k % 2", (1, 0)),
        ("SELECT COUNT(*) FROM a [NOW]", ()),
        ("SELECT COUNT(*) FROM a [NOW] GROUP BY k", None),
        ("SELECT DISTINCT k, COUNT(*) FROM a [NOW] GROUP BY k", None),
        ("SELECT k FROM a [NOW]", None),
        ("SELECT k FROM a [NOW] UNION ALL SELECT k FROM a [NOW]", None),
        ("SELECT q.n, q.k FROM (SELECT k, COUNT(*) AS n FROM a [NOW] GROUP BY k) q", (1,)),
        ("SELECT q.n FROM (SELECT k, COUNT(*) AS n FROM a [NOW] GROUP BY k) q", None),
        ("SELECT * FROM v WHERE n > 1", (0,)),
        ("SELECT v.k, v.n FROM v, a [NOW]", None),
        ("SELECT * FROM v WHERE EXISTS (SELECT 1 FROM a [NOW])", None),
        ("SELECT v.k, v.n FROM v WHERE v.k IN (SELECT k FROM a [NOW])", None),
        ("SELECT * FROM v EXCEPT ALL SELECT k, v FROM a [NOW]", None),
        ("SELECT v.k, v.n FROM v LEFT JOIN a [NOW] ON v.k = a.k", None),
        (
            "SELECT k, COUNT(*) FROM a [NOW] WHERE EXISTS (SELECT 1 FROM b [NOW]) GROUP BY k",
            (0,),
        ),
    ],
)
def test_which_rows_replace_which(sql: str, key: tuple[int, ...] | None) -> None:
    assert group_key(sql, {"v": "SELECT k, COUNT(*) AS n FROM a [NOW] GROUP BY k"}) == key
