"""The first reasons of bad rows, for the end of a run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

from eddyline.errors import CatalogError

if TYPE_CHECKING:
    from eddyline.spark.run import Run
    from eddyline.spark.session import Session

_REASONS: Final = 3
_SHOWN: Final = 300


class BadRows(NamedTuple):
    """The bad rows of a stream or query.

    Attributes:
        label: as of :meth:`Session.results`. rows: their number in this run.
        reasons: the most frequent ones, of all runs from the checkpoint, with their numbers; none
            if the sink cannot be read back.
        place: where the rows are; None: in a directory that is deleted with the session.
    """

    label: str
    rows: int
    reasons: list[tuple[str, int]]
    place: str | None


def bad_rows_of(session: Session, run: Run) -> Iterator[BadRows]:
    """The bad rows of each stream and query of a job on Spark that has some."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException
    from pyspark.sql import functions as F

    progress = run.progress()
    for name, n in progress.bad.items():
        if not n:
            continue
        label = f"bad:{name}"
        try:
            found = session.results(label)
            most = found.groupBy("_reason").count().orderBy(F.desc("count"), "_reason")
            reasons = [(row[0][:_SHOWN], row[1]) for row in most.limit(_REASONS).collect()]
        except (CatalogError, PySparkException, Py4JError):  # another sink, or one that was cleared
            yield BadRows(label, n, [], "its sink")
            continue
        first = next(iter(sorted(found.inputFiles())), "")
        place = first.partition("/eddyline_batch=")[0] if session.checkpoint else None
        yield BadRows(label, n, reasons, place)


def lines_of(bad: BadRows) -> Iterator[str]:
    """What a run prints of them."""
    where = bad.place or "in the temporary checkpoint: --checkpoint DIR keeps them"
    yield f"{bad.label}: {bad.rows:,} bad row{'' if bad.rows == 1 else 's'} ({where})"
    for reason, n in bad.reasons:
        yield f"  {n:,} x {reason}"
