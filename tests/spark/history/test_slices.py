"""Every row is in exactly one piece, in slices of the order of time."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from eddyline.spark.history.slices import (
    RowGroup,
    cut_times,
    reads_per_row,
    slices,
    within,
)
from eddyline.spark.history.tickets import Columns, Ticket, rows_of_pieces


def files(place: Path, seed: int, count: int, *, ordered: bool) -> tuple[list[RowGroup], list[int]]:
    """Row groups of 50 rows with random times, and all times."""
    rng = np.random.default_rng(seed)
    groups, times = [], []
    for n in range(count):
        ts = rng.integers(n * 100, n * 100 + (150 if ordered else 1000), 100)
        table = pa.table({"ts": pa.array(ts).cast(pa.timestamp("us", "UTC")), "x": ts})
        path = place / f"{seed}-{n}.parquet"
        pq.write_table(table, path, row_group_size=50)
        times += ts.tolist()
        for g in range(2):
            part = ts[50 * g : 50 * g + 50]
            groups.append(RowGroup(str(path), g, 50, int(part.min()), int(part.max())))
    return groups, times


@pytest.mark.parametrize(("cells", "batch_rows"), [(1, 40), (3, 170), (4, 10_000)])
def test_each_row_is_read_once_and_in_its_slice(
    tmp_path: Path, cells: int, batch_rows: int
) -> None:
    a, a_times = files(tmp_path, 1, 5, ordered=True)
    b, b_times = files(tmp_path, 2, 4, ordered=False)
    bounds = {"a": (120, 500), "b": (-(10**6), 10**6)}
    read = {"a": within(a, *bounds["a"]), "b": within(b, *bounds["b"])}
    cuts = cut_times([*read["a"], *read["b"]], batch_rows)
    wanted = {"a": [t for t in a_times if 120 <= t < 500], "b": b_times}
    assert cuts[0] <= min(min(ts) for ts in wanted.values())
    assert cuts[-1] > max(max(ts) for ts in wanted.values())
    found: dict[str, list[int]] = {"a": [], "b": []}
    columns = Columns({"x": "x"}, "ts")
    for n, of in enumerate(slices({"a": a, "b": b}, cuts, bounds, cells)):
        assert len(of) == cells
        for cell, pieces in enumerate(of):
            assert Ticket.read(Ticket(cell, pieces, {}).line()).pieces == pieces
            for name in found:
                own = [p for p in pieces if p.stream == name]
                times = [x for rows in rows_of_pieces(columns, own) for x in rows["x"].to_pylist()]
                assert all(cuts[n] <= t < cuts[n + 1] for t in times)
                found[name] += times
    assert {name: sorted(ts) for name, ts in found.items()} == {
        name: sorted(ts) for name, ts in wanted.items()
    }


def test_slices_have_about_equal_numbers_of_rows() -> None:
    groups = [RowGroup("f", n, 1_000, n * 100, n * 100 + 250) for n in range(40)]
    cuts = cut_times(groups, 5_000)
    assert len(cuts) == 9, "40,000 rows in slices of 5,000"
    assert reads_per_row(groups, cuts) < 1.6
    assert reads_per_row([RowGroup("f", 0, 40_000, 0, 4_000)], cuts) > 7, "one huge row group"
    assert cut_times([], 10) == []
