"""Engine.stream: whose results come first is the schedule's business, what they are is not."""

import random
from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa
import pytest

from eddyline import Engine
from eddyline.testing import batch, engine_with
from thinned import thinned
from window_joins import STREAMS, WINDOWS, join, last_second, random_input, random_query

SCHEDULES = ("lwo", "swf", "greedy")


def _engine(schedule: str, **options: Any) -> Engine:
    engine = engine_with(executor="eddy", schedule=schedule, **options)
    engine.sql(STREAMS)
    return engine


@pytest.mark.parametrize(("kind", "schedule", "seed"), thinned(3, WINDOWS, SCHEDULES, range(12)))
def test_every_query_gets_what_it_would_get_alone(schedule: str, seed: int, kind: str) -> None:
    some = random.Random(seed)
    options = {"chunk_rows": some.choice((1, 3, 100)), "selections": some.choice(("push", "pull"))}
    paced, plain = _engine(schedule, **options), _engine("lwo", **options)
    got: dict[str, list[pa.Table]] = {}
    expected: dict[str, list[pa.Table]] = {}

    def hear(name: str, table: pa.Table) -> None:
        got.setdefault(name, []).append(table)

    def feed() -> Iterator[Mapping[str, pa.Table] | None]:
        """Inputs, between which queries come and go while rows wait."""
        clock, standing = 0, []
        for number in range(some.randrange(3, 9)):
            for _ in range(some.choice((0, 1, 4)) if number else 4):
                name, sql = f"q{len(expected)}", random_query(some, kind)
                if not expected:
                    sql = join(3600, kind=kind)  # what is held does not depend on who waits
                expected[name] = []
                standing.append(name)
                for engine in (paced, plain):
                    engine.query(sql, name=name)
            if some.random() < 0.3 and len(standing) > 1:
                gone = standing.pop(some.randrange(1, len(standing)))
                for engine in (paced, plain):
                    engine.drop(gone)
            if some.random() < 0.3:
                yield None
            rows = random_input(some, some.randrange(15), clock)
            clock = last_second(rows, clock)
            changes = plain.process(rows)
            for name in standing:
                expected[name].append(changes[name])
            yield rows
            if some.random() < 0.3:
                name = some.choice(standing)
                assert paced.queries[name].snapshot().sort_by("v").num_rows == (
                    plain.queries[name].snapshot().num_rows
                )

    for name, table in paced.stream(feed()):
        hear(name, table)
    for name, parts in expected.items():
        heard = pa.concat_tables(got[name]) if name in got else None
        told = pa.concat_tables(parts) if parts else None
        if name not in paced.queries:  # what waited when it was dropped is discarded
            assert heard is None or (
                told is not None and heard.equals(told.slice(0, heard.num_rows))
            )
        elif heard is None:
            assert told is None or not told.num_rows
        else:
            assert heard.equals(told), name


def _bursts(schedule: str) -> list[str]:
    engine = _engine(schedule, chunk_rows=4)
    engine.query(join(1), name="small")
    engine.query(join(60), name="large")
    engine.process({"b": batch("ts | k | v\n" + "\n".join(f"{i}s | 1 | {i}" for i in range(20)))})
    rows = {"a": batch("ts | k | v\n" + "\n".join(f"19s | 1 | {i}" for i in range(8)))}
    return [name for name, _ in engine.stream(rows)]


def test_small_windows_do_not_wait_for_large_ones() -> None:
    assert _bursts("lwo") == ["small", "large"] * 2
    assert _bursts("swf") == ["small", "small", "large", "large"]


def test_greedy_serves_the_smallest_slice_first() -> None:
    engine = _engine("greedy", chunk_rows=4)
    engine.query(join(10), name="small")
    engine.query(join(12), name="large")  # but 2 s more than the small one
    rows = {"a": batch("ts | k | v\n" + "\n".join(f"9s | 1 | {i}" for i in range(8)))}
    engine.process({"b": batch("ts | k | v\n" + "\n".join(f"{i}s | 1 | {i}" for i in range(10)))})
    assert [name for name, _ in engine.stream(rows)] == ["small", "large"] * 2


def test_many_windows_beside_one_that_never_ends() -> None:
    engine = _engine("swf")
    for seconds in range(1, 50):
        sql = f"SELECT a.v, b.v AS w FROM a [RANGE {seconds} SECONDS], b [UNBOUNDED]"
        engine.query(f"{sql} WHERE a.k = b.k", name=f"q{seconds}")
    engine.process({"a": batch("ts | k | v\n1s | 1 | 1")})
    heard = [name for name, _ in engine.stream({"b": batch("ts | k | v\n9s | 1 | 1")})]
    assert sorted(heard) == sorted(f"q{seconds}" for seconds in range(9, 50))


def test_results_after_a_closed_stream_are_in_the_next_call() -> None:
    engine = _engine("swf")
    engine.query(join(1), name="small")
    engine.query(join(60), name="large")
    engine.process({"b": batch("ts | k | v\n1s | 1 | 1\n9s | 1 | 9")})
    stream = engine.stream({"a": batch("ts | k | v\n9s | 1 | 1")})
    assert next(stream)[0] == "small"
    stream.close()
    assert engine.process({})["large"].num_rows == 2


def test_what_several_queries_say_at_once_is_not_lost_either() -> None:
    engine = Engine()
    engine.sql(STREAMS)
    for name in ("one", "other"):
        engine.query("SELECT v FROM a [RANGE 1 SECOND]", name=name)
    rows = batch("ts | k | v\n1s | 1 | 1\n9s | 1 | 9\n. | 1 | 1")
    stream = engine.stream({"a": rows, "b": batch("ts | k | v\n. | 1 | 1")})
    assert [next(stream)[0] for _ in range(2)] == ["bad:a", "bad:b"]
    assert next(stream)[0] == "one"
    stream.close()
    assert engine.process({})["other"]["v"].to_pylist() == [1, 9]
    stream = engine.stream({"a": rows.slice(2), "b": batch("ts | k | v\n. | 1 | 1")})
    assert next(stream)[0] == "bad:a"
    stream.close()
    assert list(engine.process({}).bad) == ["b"]


def test_rows_that_wait_keep_their_partners() -> None:
    """Newer rows push partners out of the largest window while somebody waits for them."""
    engine = _engine("swf")
    engine.query(join(1), name="small")
    engine.query(join(5), name="large")

    def feed() -> Iterator[Mapping[str, pa.Table]]:
        yield {"b": batch("ts | k | v\n0s | 1 | 1\n3s | 1 | 3")}
        yield {"a": batch("ts | k | v\n4s | 1 | 4")}  # waits for its large window
        yield {"b": batch("ts | k | v\n100s | 1 | 100")}

    heard = [(name, table["w"].to_pylist()) for name, table in engine.stream(feed())]
    assert heard == [("large", [3, 1])]


def test_rows_that_wait_keep_what_they_push_out() -> None:
    engine = _engine("swf")
    engine.query(join(1, kind="rows"), name="small")
    engine.query(join(3, kind="rows"), name="large")
    rows = "ts | k | v\n"

    def feed() -> Iterator[Mapping[str, pa.Table]]:
        first = "0s | 1 | 1\n1s | 1 | 2\n2s | 1 | 3"
        yield {"b": batch(rows + first), "a": batch(rows + "3s | 1 | 1")}
        yield {"b": batch(rows + "4s | 1 | 4")}  # pushes 3 out of the small window, 1 of the large
        yield {"b": batch(rows + "5s | 2 | 5\n6s | 2 | 6\n7s | 2 | 7")}

    heard: dict[str, list[tuple[str, int]]] = {"small": [], "large": []}
    order = []
    for name, table in engine.stream(feed()):
        order.append(name)
        heard[name] += zip(table["_op"].to_pylist(), table["w"].to_pylist(), strict=True)
    assert heard["small"] == [("+", 3), ("-", 3), ("+", 4), ("-", 4)]
    large = ["+3", "+2", "+1", "-1", "+4", "-2", "-3", "-4"]
    assert heard["large"] == [(change[0], int(change[1])) for change in large]
    assert order == ["small"] * 3 + ["large"]


def test_saving_while_rows_wait_loses_nothing(tmp_path: Any) -> None:
    engine = _engine("swf")
    engine.query(join(1), name="small")
    engine.query(join(60), name="large")
    engine.process({"b": batch("ts | k | v\n1s | 1 | 1\n9s | 1 | 9")})
    stream = engine.stream({"a": batch("ts | k | v\n9s | 1 | 1")})
    assert next(stream)[0] == "small"
    engine.save(str(tmp_path / "saved"))
    assert Engine.load(str(tmp_path / "saved")).process({})["large"].num_rows == 2


def test_latencies() -> None:
    engine = _engine("swf")
    engine.query(join(1), name="small")
    engine.query(join(60), name="large")
    engine.query(join(60, " AND a.v > 1000"), name="idle")
    engine.process({"b": batch("ts | k | v\n1s | 1 | 1\n9s | 1 | 9")})
    list(engine.stream({"a": batch("ts | k | v\n9s | 1 | 1")}))
    latency = {name: s["latency"] for name, s in engine.stats()["queries"].items()}
    assert latency["idle"] == {}
    for name in ("small", "large"):
        average, p50, p99, most = latency[name].values()
        assert 0 < p50 <= p99 <= most
        assert 0 < average <= most
    assert latency["small"]["max_seconds"] <= latency["large"]["max_seconds"]


def test_a_watermark_belongs_to_one_input() -> None:
    with pytest.raises(ValueError, match="one input"):
        list(_engine("lwo").stream(iter([{}]), watermark=1))


def test_schedules_have_names() -> None:
    with pytest.raises(ValueError, match="greedy"):
        engine_with(schedule="gredy")
