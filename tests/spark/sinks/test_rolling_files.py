"""Files of several batches: readers see each row once, whatever is interrupted or repeated."""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from eddyline import StateError
from eddyline.spark.delivery.roller import Roller
from eddyline.spark.exchange.packed_batches import pack
from eddyline.spark.formats.format_options import OptionError
from eddyline.spark.formats.text_encoders import json_encoder
from eddyline.spark.sinks.driver_files import DriverFiles
from eddyline.spark.sinks.rolling_files import RollingFiles, RollLimits, roll_limits
from eddyline.spark.sources.format_check import check_sink
from eddyline.spark.storage.directory import LocalDirectory

SCHEMA = pa.schema([("batch", pa.int64()), ("n", pa.int64())])
ENCODE = json_encoder({}, SCHEMA) or pack
LARGE = RollLimits(3600, 1 << 20)


class KilledError(BaseException):
    """The process has ended."""


class Disk:
    """Two directories; every access is an instant for a reader, and may fail.

    Attributes:
        left: accesses until one fails; None: none does. error: how.
    """

    def __init__(self, place: Path) -> None:
        self.place = place
        self.left: int | None = None
        self.error: type[BaseException] = KilledError
        self.seen: list[tuple[int, int]] = []

    def access(self) -> None:
        self.look()
        if self.left is not None:
            self.left -= 1
            if self.left < 0:
                self.left = None
                raise self.error("at this access")

    def look(self) -> None:
        """What was visible stays, nothing is there twice, and batches appear in order."""
        files = sorted(
            (self.place / "out").glob("*/[!._]*.json"),
            key=lambda f: int(f.parent.name.partition("=")[2]),
        )
        lines = [json.loads(line) for file in files for line in file.read_text().splitlines()]
        rows = [(line["batch"], line["n"]) for line in lines]
        assert rows[: len(self.seen)] == self.seen
        assert rows == sorted(set(rows)), "in order, and once"
        self.seen = rows


class Watched(LocalDirectory):
    """A directory of a disk."""

    def __init__(self, path: str, disk: Disk) -> None:
        super().__init__(path, private=False)
        self._disk = disk

    def below(self, name: str) -> Watched:
        return Watched(f"{self.path}/{name}", self._disk)

    def make(self, name: str = "") -> None:
        self._disk.access()
        super().make(name)

    def replace(self, name: str, content: bytes) -> None:
        self._disk.access()
        super().replace(name, content)
        self._disk.access()

    def delete(self, name: str) -> bool:
        self._disk.access()
        found = super().delete(name)
        self._disk.access()
        return found


def opened(
    disk: Disk, limits: RollLimits = LARGE, clock: Callable[[], float] = lambda: 0.0
) -> RollingFiles:
    files = DriverFiles(Watched(f"{disk.place}/out", disk), ENCODE, "json")
    return RollingFiles(files, Watched(f"{disk.place}/pending", disk), limits, clock)


def rows_of(batch: int, rows: int = 2) -> pa.Table:
    return pa.table({"batch": [batch] * rows, "n": list(range(rows))}, schema=SCHEMA)


def directories(disk: Disk) -> list[str]:
    return sorted(path.name for path in (disk.place / "out").iterdir())


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["add", "add", "add", "roll", "time", "start", "repeat"]),
        st.none() | st.integers(0, 14),
        st.sampled_from([KilledError, StateError]),
    ),
    max_size=14,
)


@given(STEPS, st.sampled_from([10, 40, 100]))
def test_readers_see_each_row_once(
    steps: list[tuple[str, int | None, type[BaseException]]], nbytes: int
) -> None:
    with tempfile.TemporaryDirectory() as place:
        disk, now = Disk(Path(place)), 0.0
        (disk.place / "out").mkdir()
        limits = RollLimits(5, nbytes)

        def start() -> RollingFiles:
            return opened(disk, limits, lambda: now)

        files, batch = start(), 0
        for step, fails_after, error in steps:
            disk.left, disk.error = fails_after, error
            added = batch - 1 if step == "repeat" and batch else batch
            try:
                match step:
                    case "add" | "repeat":
                        files.add(added, rows_of(added))
                    case "roll":
                        files.roll()
                    case "time":
                        now += 3
                        files.roll_if_due()
                    case "start":
                        files = start()
            except (KilledError, StateError) as e:
                disk.left = None
                event(f"{type(e).__name__} in {step}")
                if isinstance(e, KilledError) or step == "start":
                    files = start()
                if step in ("add", "repeat"):  # the batch is repeated, or tried again
                    files.add(added, rows_of(added))
            disk.left = None
            if step in ("add", "repeat"):
                batch = added + 1
        files.roll()
        disk.look()
        assert disk.seen == [(b, n) for b in range(batch) for n in range(2)]
        start().roll()  # deletes what an error has left
        disk.look()
        assert [p.name for p in (disk.place / "pending").iterdir() if p.suffix == ".arrow"] == []


def test_a_file_is_due_by_its_size_or_by_time(tmp_path: Path) -> None:
    disk, now = Disk(tmp_path), 0.0
    (tmp_path / "out").mkdir()
    size = rows_of(0).nbytes
    files = opened(disk, RollLimits(10, 3 * size), lambda: now)
    for batch in (3, 5):
        files.add(batch, rows_of(batch))
    assert directories(disk) == []
    files.add(8, rows_of(8))
    assert directories(disk) == ["eddyline_batch=8"], "it is full"
    files.add(9, rows_of(9))
    files.add(11, rows_of(11, 200))
    assert directories(disk) == ["eddyline_batch=11", "eddyline_batch=8", "eddyline_batch=9"], (
        "rows that do not fit have a file of their own, behind the others"
    )
    now = 100.0
    files.add(12, rows_of(12))
    now = 109.0
    files.add(13, rows_of(13))
    files.roll_if_due()
    assert len(directories(disk)) == 3
    now = 110.0
    files.roll_if_due()
    assert "eddyline_batch=13" in directories(disk)
    disk.look()
    assert len(disk.seen) == 212


def test_a_file_of_spark_of_an_earlier_attempt_is_replaced(tmp_path: Path) -> None:
    disk = Disk(tmp_path)
    (tmp_path / "out/eddyline_batch=4").mkdir(parents=True)
    (tmp_path / "out/eddyline_batch=4/part-00000-1.json").write_bytes(ENCODE(rows_of(4)))
    out = DriverFiles(LocalDirectory(tmp_path / "out", private=False), ENCODE, "json")
    files = RollingFiles(out, LocalDirectory(tmp_path / "pending"), LARGE)
    files.add(4, rows_of(4))
    assert [p.name for p in (tmp_path / "out/eddyline_batch=4").iterdir()] == ["part-00000.json"]
    files.add(5, rows_of(5))
    files.add(4, rows_of(4))
    files.roll()
    disk.look()
    assert directories(disk) == ["eddyline_batch=4", "eddyline_batch=5"] and len(disk.seen) == 4


def test_batches_that_spark_writes_come_behind_those_that_wait(tmp_path: Path) -> None:
    disk = Disk(tmp_path)
    files = opened(disk)
    for batch in (3, 4, 5):
        files.add(batch, rows_of(batch))
    assert files.make_way(5), "an earlier attempt was small"
    assert directories(disk) == ["eddyline_batch=4"]
    assert not files.make_way(4), "it is in the file"
    assert files.make_way(6)
    files.roll()
    disk.look()
    assert directories(disk) == ["eddyline_batch=4"] and len(disk.seen) == 4


def test_what_waits_is_checked(tmp_path: Path) -> None:
    disk = Disk(tmp_path)
    files = opened(disk)
    files.add(4, rows_of(4))
    (file,) = (tmp_path / "pending").glob("*.arrow")
    content = file.read_bytes()
    file.write_bytes(content[:100])
    with pytest.raises(StateError, match=r"000000000004.arrow, .* is missing or damaged"):
        opened(disk)
    file.write_bytes(content)
    (tmp_path / "pending/rolled.json").write_text('{"batches": 4}')
    with pytest.raises(StateError, match=r"rolled.json cannot be read"):
        opened(disk)


def test_the_roller_writes_what_is_due_and_at_the_end_the_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("eddyline.spark.delivery.roller._POLL_S", 0.01)
    disks = [Disk(tmp_path / name) for name in "abc"]
    for disk in disks:
        (disk.place / "out").mkdir(parents=True)
    soon, later, kept = (opened(d, RollLimits(s, 1000), clock) for d, s, clock in (
        (disks[0], 0.05, time_s), (disks[1], 3600, time_s), (disks[2], 3600, time_s)
    ))  # fmt: skip
    roller = Roller()
    roller.open()
    for files in (soon, later):
        roller.add(files)
        files.add(1, rows_of(1))
    eventually(lambda: directories(disks[0]) == ["eddyline_batch=1"])
    assert directories(disks[1]) == []
    roller.close(roll=True)
    assert directories(disks[1]) == ["eddyline_batch=1"]
    other = Roller()
    other.open()
    other.add(kept)
    kept.add(1, rows_of(1))
    other.close(roll=False)
    assert directories(disks[2]) == [], "another job has the checkpoint"


def eventually(condition: Callable[[], bool]) -> None:
    end = time_s() + 20
    while not condition():
        assert time_s() < end


def time_s() -> float:
    return time.monotonic()


def test_options() -> None:
    assert roll_limits("q", {"path": "x"}) is None
    assert roll_limits("q", {"ROLL_INTERVAL": "10 minutes"}) == RollLimits(600, 128 << 20)
    assert roll_limits("q", {"roll_bytes": "1000"}) == RollLimits(60, 1000)
    for options, message in (
        ({"roll_interval": "often"}, "roll_interval = 'often': 'often' is not a duration such as"),
        ({"roll_interval": "0 seconds"}, "it has to be longer than 0"),
        ({"roll_bytes": "0"}, "roll_bytes = '0' is not a number of bytes from 1 to 1073741824"),
        ({"roll_bytes": "1 GB"}, "roll_bytes = '1 GB' is not a number of bytes"),
        ({"sink": "orc", "roll_bytes": "9"}, "has no option 'roll_bytes'"),
        ({"roll_intervall": "9"}, "did you mean 'roll_interval'"),
    ):
        with pytest.raises(OptionError, match=message):
            check_sink("q", {"sink": "parquet", "path": "x", **options}, of_query=True)
