"""What is asked of each peer: a query, the rows, and how many of them a call brings."""

from __future__ import annotations

from dataclasses import dataclass, fields
from itertools import pairwise
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

Columns = dict[str, npt.NDArray[np.int64]]

#: Between two rows, of whichever streams: no two timestamps are equal.
SPACING_US: Final = 1_000
#: Not the epoch: watermarks of some systems begin there.
START_US: Final = 1_000_000
#: Kinds of case that join several streams by the columns ``k`` and ``j``.
LINKED: Final = ("chain", "star", "cycle")
#: Coordinates of points and rules are whole numbers below this.
PLANE: Final = 1_000_000
#: Streams that take part, in the order in which their rows alternate, by kind of case.
_STREAMS: Final = {
    **dict.fromkeys(("join", "queries", "absent"), "ab"),
    **dict.fromkeys(("groups", "over", "distinct", "rules"), "s"),
}
_FILE: Final = "case"


@dataclass(frozen=True)
class Case:
    """A query over generated rows.

    Attributes:
        name: as readers see it. kind: what the query does, see ``docs/benchmarks.md``.
        rows: of one stream. keys: how many different values a key has.
        window_rows: rows of one stream that a window holds.
        call_rows: rows of all streams that a peer gets at once, where it takes more than one.
        string_keys: the key ``k`` is a string of 14 characters.
        count: of streams in a chain, star or cycle, of rules or of queries.
    """

    name: str
    kind: str
    rows: int
    keys: int = 10_000
    window_rows: int = 10_000
    call_rows: int = 100_000
    string_keys: bool = False
    count: int = 1

    @property
    def streams(self) -> str:
        """The names of the streams, a letter each."""
        return "abcdefgh"[: self.count] if self.kind in LINKED else _STREAMS[self.kind]

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of each stream after ``ts``; ``v`` is the number of the row."""
        names = {
            **dict.fromkeys(LINKED, ("k", "j", "v")),
            "rules": ("x", "y", "v"),
            "queries": ("k", "x", "v"),
        }
        return names.get(self.kind, ("k", "v"))

    @property
    def window_us(self) -> int:
        """Length of the window. Joins end between rows exactly: a row at the end is outside.

        In other cases a row leaves half-way between two that arrive, so that each instant
        has one change.
        """
        half = 0 if self.kind in ("join", "queries", *LINKED) else SPACING_US // 2
        return self.window_rows * len(self.streams) * SPACING_US + half

    @property
    def all_rows(self) -> int:
        """Rows of all streams."""
        return self.rows * len(self.streams)

    def equal_keys(self) -> str:
        """The condition. Chain: the ``j`` of a row is the ``k`` of the next one; cycle: of the last
        row, too, it is that of the first. Star: all have the ``k`` of the first.
        """
        first = self.streams[0]
        if self.kind == "star":
            return " AND ".join(f"{first}.k = {s}.k" for s in self.streams[1:])
        following = pairwise(self.streams + (first if self.kind == "cycle" else ""))
        return " AND ".join(f"{s}.j = {t}.k" for s, t in following)

    def make(self, stream: str) -> Columns:
        """The columns of a stream: ``ts`` in microseconds, ascending, and those of the kind."""
        number, several = self.streams.index(stream), len(self.streams)
        random = np.random.default_rng(number + 1)
        made = {
            "ts": (np.arange(self.rows, dtype=np.int64) * several + number) * SPACING_US + START_US
        }
        for name in self.columns:
            limit = PLANE if name in "xy" else self.keys
            made[name] = (
                np.arange(self.rows, dtype=np.int64)
                if name == "v"
                else random.integers(0, limit, self.rows, dtype=np.int64)
            )
        return made

    def rules(self) -> Columns:
        """Of ``rules``: squares, of which a point is in about one; ends belong to a square.

        Of ``queries``: the window in microseconds, and the value below which ``a.x`` has to be.
        """
        random = np.random.default_rng(9)
        if self.kind == "queries":
            shortest = self.window_us // 4
            return {
                "window_us": random.integers(shortest, self.window_us, self.count, dtype=np.int64)
                // SPACING_US
                * SPACING_US,
                "x": random.integers(PLANE // 100, PLANE // 10, self.count, dtype=np.int64),
            }
        side = int(PLANE / np.sqrt(max(self.count, 4)))
        x, y = random.integers(0, PLANE - side, (2, self.count), dtype=np.int64)
        return {"x0": x, "x1": x + side, "y0": y, "y1": y + side}

    def write(self, folder: Path) -> None:
        """Write the case and its rows: int64, little-endian, column by column, a file a stream."""
        folder.mkdir(parents=True, exist_ok=True)
        lines = [f"{field.name}={getattr(self, field.name)}" for field in fields(self)]
        lines += [f"streams={self.streams}", f"columns={','.join(self.columns)}"]
        lines += [f"window_us={self.window_us}", ""]
        (folder / _FILE).write_text("\n".join(lines), encoding="utf-8")
        tables = {stream: self.make(stream) for stream in self.streams}
        if self.kind in ("rules", "queries"):
            tables["rules"] = self.rules()
        for name, columns in tables.items():
            np.concatenate(list(columns.values())).astype("<i8").tofile(folder / f"{name}.columns")


def read_case(folder: Path) -> Case:
    """The case that is in a folder."""
    lines = (folder / _FILE).read_text(encoding="utf-8").split("\n")
    given = dict(line.split("=", 1) for line in lines if line)
    return Case(
        given["name"],
        given["kind"],
        int(given["rows"]),
        int(given["keys"]),
        int(given["window_rows"]),
        int(given["call_rows"]),
        given["string_keys"] == "True",
        int(given["count"]),
    )


def read_columns(folder: Path, stream: str, names: tuple[str, ...]) -> Columns:
    """The columns of a stream, or of ``rules``, from its file."""
    values = np.fromfile(folder / f"{stream}.columns", "<i8").reshape(len(names), -1)
    return dict(zip(names, values, strict=True))


def key_texts(keys: npt.NDArray[np.int64]) -> npt.NDArray[np.str_]:
    """Keys as strings of 14 characters, as each peer forms them: ``customer000042``."""
    return np.char.add("customer", np.char.zfill(keys.astype(np.str_), 6))
