"""Cases: their rows, files and sizes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from eddyline.bench.peers.cases import Case, key_texts, read_case, read_columns
from eddyline.bench.peers.sizes import FULL, QUICK


@pytest.mark.parametrize("case", [*FULL[:3], *QUICK], ids=lambda case: str(case.name))
def test_a_case_and_its_rows_come_back(case: Case, tmp_path: Path) -> None:
    case = Case(case.name, case.kind, 100, 10, 20, 30, case.string_keys, case.count)
    case.write(tmp_path)
    assert read_case(tmp_path) == case
    for stream in case.streams:
        read = read_columns(tmp_path, stream, ("ts", *case.columns))
        made = case.make(stream)
        assert list(read) == list(made)
        for name, values in made.items():
            np.testing.assert_array_equal(read[name], values)


def test_no_two_rows_have_the_same_timestamp() -> None:
    case = Case("c", "chain", 50, count=4)
    times = np.concatenate([case.make(stream)["ts"] for stream in case.streams])
    assert np.unique(times).size == 200
    assert np.ptp(times) == 199 * 1_000


def test_windows_of_joins_end_at_rows_and_others_between_them() -> None:
    assert Case("j", "join", 10, window_rows=5).window_us == 10_000
    assert Case("g", "groups", 10, window_rows=5).window_us == 5_500


def test_names_of_cases_are_unique() -> None:
    for cases in (FULL, QUICK):
        assert len({case.name for case in cases}) == len(cases)


def test_keys_as_strings() -> None:
    assert key_texts(np.array([0, 42])).tolist() == ["customer000000", "customer000042"]
