"""What every operator does."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, NamedTuple

from eddyline.runtime.batch import Batch
from eddyline.runtime.screens import Screen, united
from eddyline.runtime.state import State
from eddyline.types import BEGINNING


class Tick(NamedTuple):
    """The span of time that a chunk covers.

    Attributes:
        clock: the instant at its end: every expiry up to and including it happens now.
        first_row: the instant of its first base row; None where time passes without rows.
        following: number of rows that are there already, for later chunks.
    """

    clock: int
    first_row: int | None = None
    following: int = 0


class Operator(ABC):
    """Consumes one sequence of changes per input and chunk, produces one.

    A chunk runs ``process`` of all operators, inputs first, then ``settle`` of all of them; the
    graph that runs them keeps the counters. Results never depend on where chunks end.

    Attributes:
        clock: the local clock (Golab and Ozsu 2005, section 2.3.2): the operator has processed its
            inputs up to here, and expires nothing that is alive then.
        rows_in, rows_out: changes so far. seconds: of computing they took; settling_seconds: what
            forgetting them took; delivering_seconds: what the ends of the output took.
        since: the instant of the first row of the first chunk that was counted.
        readers: the operators that read the output; None: there are other readers, too.
    """

    def __init__(self, inputs: Sequence[Operator]) -> None:
        self.inputs = tuple(inputs)
        self.clock = BEGINNING
        self.rows_in = 0
        self.rows_out = 0
        self.seconds = 0.0
        self.settling_seconds = 0.0
        self.delivering_seconds = 0.0
        self.since: int | None = None
        self.readers: Sequence[Operator] | None = None
        self._asked_for: tuple[tuple[Screen | None, ...], Screen | None] = (None,), None

    @property
    def sources(self) -> tuple[Operator, ...]:
        """The inputs whose rows it gets; others have to run before it, and are only probed."""
        return self.inputs

    @abstractmethod
    def process(self, batches: Sequence[Batch], tick: Tick) -> Batch:
        """The changes of the output that the changes of the inputs and the clock bring about."""

    def begin(self, batches: Sequence[Batch], tick: Tick) -> Batch:
        """The same for what was alive in the inputs before the operator was made."""
        return self.process(batches, tick)

    def asks_for(self, source: Operator) -> Screen | None:
        """Which rows of an input it does something with; None: all. Others may be left out."""
        return None

    def asked(self) -> Screen | None:
        """What the readers ask for; the same object as long as each asks for the same."""
        if self.readers is None:
            return None
        screens = tuple(r.asks_for(self) for r in self.readers)
        if screens != self._asked_for[0]:
            self._asked_for = screens, united(screens)
        return self._asked_for[1]

    @abstractmethod
    def live(self, clock: int) -> Batch:
        """The rows of the output that are alive at ``clock``, as '+' in (ts, seq) order."""

    def settle(self, clock: int) -> None:
        """The chunk is over: forget what has expired."""

    def close(self) -> None:
        """Release what the operator holds in shared stores, when no query reads it any more."""

    def state(self) -> State:
        """What it keeps, as plain arrays."""
        return {}

    def restore(self, state: State) -> None:
        """Take over what ``state`` returned."""

    def stats(self) -> dict[str, Any]:
        """Name and counters since the operator was made."""
        return {
            "operator": type(self).__name__,
            "rows_in": self.rows_in,
            "rows_out": self.rows_out,
            "rows_kept": self.kept(),
            "seconds": self.cpu_seconds,
        }

    @property
    def suspensions(self) -> tuple[int, int]:
        """Rows that its gates have suspended so far, and how often one was released."""
        return 0, 0

    @property
    def cpu_seconds(self) -> float:
        """All that it has taken so far."""
        return self.seconds + self.settling_seconds

    @property
    def kept_in(self) -> str:
        """For EXPLAIN ANALYZE: where it keeps rows, and by which update pattern (Golab and Ozsu
        2005, section 5.3.2); empty if it keeps none, or all are in SteMs.
        """
        return ""

    def kept(self) -> int:
        """How many rows it keeps itself (rows in SteMs count there)."""
        return 0
