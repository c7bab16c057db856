"""The last rows of partitions."""

from __future__ import annotations

from random import Random

import numpy as np
import pyarrow as pa

from eddyline.runtime.stores.earlier_rows import EarlierRows


def test_earlier_rows_of_partitions() -> None:
    random = Random(2)
    shifted = [(0, 1), (1, 3), (0, 2)]
    types = [pa.int64(), pa.string()]
    earlier, seen = EarlierRows(shifted, types), dict[int, list[int]]()
    for step in range(60):
        partition = [random.randrange(3) for _ in range(random.randrange(6))]
        values = [random.randrange(100) for _ in partition]
        columns = [pa.array(values, pa.int64()), pa.array(map(str, values), pa.string())]
        found = earlier.columns(np.array(partition, np.int64), columns, 3)
        for row, (p, value) in enumerate(zip(partition, values, strict=True)):
            before = seen.setdefault(p, [])
            for (column, rows), out in zip(shifted, found, strict=True):
                expected = before[-rows] if len(before) >= rows else None
                shown = str(expected) if column and expected is not None else expected
                assert out[row].as_py() == shown
            before.append(value)
        assert len(earlier) <= 9
        if step % 10 == 0:
            saved, earlier = earlier.state(), EarlierRows(shifted, types)
            earlier.restore(saved)
