"""Which keys of a running job are split, decided by the driver between two batches.

Ingest counts the frequent keys of each batch, the shards pass the counts on with their reports. The
driver decides from them which keys are split, and in which step of
:mod:`~eddyline.spark.partitioning.split_keys` each of them is. The tasks of the next batch get the
result as keep rates do: by a local property of the thread that runs the batches.

A restarted job repeats the batch that was not committed, and whether the last decision was made
after it or before it is not known. So each decision is written to the checkpoint before a batch
uses it, and the first batch of a start copies all keys in the file and spreads none. That is right
for both batches: rows of the spread input may be at their key's own coordinate in any step, and
what is copied too early does no harm. For that, the file has the keys of the next batch and those
of the batch that may be repeated. What was decided later depends on timestamps only, which a
repeated batch does not change.
"""

from __future__ import annotations

import json
import math
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final, Literal

from pyspark import SparkContext, TaskContext

from eddyline.errors import CatalogError, StateError
from eddyline.spark.layouts.layout_shards import LayoutShards
from eddyline.spark.partitioning.frequent_keys import (
    DEFAULT_LIMITS,
    KeyCounts,
    SplitLimits,
    keys_to_split,
)
from eddyline.spark.partitioning.planned_query import PlannedQuery
from eddyline.spark.partitioning.split_keys import (
    SplitKey,
    keyed_inputs,
    longest_window_us,
    splittable,
    why_not_split,
)
from eddyline.spark.storage.directory import Directory

#: In the checkpoint; the file with the largest number counts.
DIRECTORY: Final = "split_keys"
_PROPERTY: Final = "eddyline.split_keys"
#: Keys are forgotten if their share of the rows of each input is less than this part of what a
#: coordinate has on average.
_FORGOTTEN: Final = 1 / 64

#: As in ``split_keys``. ``waits``: dealt as other keys, until no copies are left.
Step = Literal["copies", "spreads", "ends", "waits"]


@dataclass(frozen=True)
class SplitState:
    """A split key of a running job.

    Attributes:
        axis: its number. hash, text: of the key. spread: the input whose rows are spread.
        step: what is done now. after_us: the largest timestamp before that.
    """

    axis: int
    hash: int
    text: str
    spread: str
    step: Step
    after_us: int


class KeySplits:
    """Decides which keys are split.

    Args:
        directory: of the checkpoint. layouts: those whose keys can be split, with their queries.

    Raises:
        StateError: the file of an earlier session cannot be read.
    """

    def __init__(
        self,
        directory: Directory,
        layouts: Iterable[tuple[LayoutShards, Iterable[PlannedQuery]]],
        limits: SplitLimits = DEFAULT_LIMITS,
    ) -> None:
        self._directory = directory.below(DIRECTORY)
        self._layouts = {of.ids[0]: _LayoutSplits(of, list(qs), limits) for of, qs in layouts}
        self._saved: dict[int, list[SplitState]] = {}
        self._number = 0
        self._lock = threading.Lock()
        self.begin()

    def begin(self) -> None:
        """Continue from the checkpoint: the next batch may be the repetition of one."""
        with self._lock:
            self._number, self._saved = read_saved(self._directory)
            if unknown := self._saved.keys() - self._layouts.keys():
                raise StateError(
                    f"{self._directory.path} has split keys of shard {min(unknown)}, which is not "
                    "the first of a layout of this job"
                )
            for first, layout in self._layouts.items():
                layout.begin(self._saved.get(first, ()))

    def counted(self, layout: LayoutShards) -> frozenset[int]:
        """The axes of a layout along which frequent keys are counted."""
        found = self._layouts.get(layout.ids[0])
        return frozenset() if found is None else frozenset(found.inputs)

    def require_fit(self, layout: LayoutShards, query: PlannedQuery, name: str) -> None:
        """Take account of a query that is added to a layout. If it needs the rows of each key
        together, no key is split from now on.

        Raises:
            CatalogError: it does, and keys are split now.
        """
        with self._lock:
            found = self._layouts.get(layout.ids[0])
            saved = self._saved.get(layout.ids[0], [])
            why = None if found is None else found.add(query, saved)
        if why is not None:
            raise CatalogError(f"query '{name}' cannot be added while {why}")

    def step(self, reports: Sequence[Mapping[str, Any]]) -> None:
        """Decide for the next batch, and write the decision to the checkpoint.

        Args:
            reports: of the shards with rows in the last batch.

        Raises:
            StateError: it cannot be written.
        """
        with self._lock:
            before = {first: layout.split for first, layout in self._layouts.items()}
            for layout in self._layouts.values():
                layout.step([r for r in reports if r["shard"] in layout.shards])
            after = {
                first: list({**before[first], **layout.split}.values())
                for first, layout in self._layouts.items()
            }
            self._save({first: states for first, states in after.items() if states})

    def next_batch(self) -> dict[int, list[SplitKey]]:
        """By the first shard of a layout, how its split keys are dealt in the next batch."""
        with self._lock:
            found = {first: layout.next_batch() for first, layout in self._layouts.items()}
        return {first: keys for first, keys in found.items() if keys}

    def publish(self, context: SparkContext) -> None:
        """Pass :meth:`next_batch` to the tasks of the jobs that this thread starts."""
        found = self.next_batch()
        text = json.dumps({first: [asdict(k) for k in keys] for first, keys in found.items()})
        context.setLocalProperty(_PROPERTY, text)

    def shown(self) -> list[dict[str, Any]]:
        """The split keys: ``layout``, ``axis``, ``key``, the ``spread`` input, its ``share`` of
        rows with the key, and ``step``.
        """
        with self._lock:
            return [entry for layout in self._layouts.values() for entry in layout.shown()]

    def _save(self, states: dict[int, list[SplitState]]) -> None:
        if states == self._saved:
            return
        self._directory.make()
        text = json.dumps({first: [asdict(s) for s in of] for first, of in states.items()})
        self._directory.write(f"{self._number + 1:012}.json", text.encode())
        for name in self._directory.names()[:-2]:
            self._directory.delete(name)
        self._number, self._saved = self._number + 1, states


def split_keys() -> dict[int, list[SplitKey]]:
    """In a task: what was published; by the first shard of a layout, its split keys."""
    context = TaskContext.get()
    text = None if context is None else context.getLocalProperty(_PROPERTY)
    found = json.loads(text) if text else {}
    return {int(first): [SplitKey(**fields) for fields in of] for first, of in found.items()}


def read_saved(directory: Directory) -> tuple[int, dict[int, list[SplitState]]]:
    """The number of the last file, and its keys by the first shard of their layout; 0 without one.

    Args:
        directory: DIRECTORY of a checkpoint.

    Raises:
        StateError: it cannot be read.
    """
    names = directory.names(ending=".json")
    if not names:
        return 0, {}
    try:
        found = json.loads(directory.read(names[-1]) or b"")
        states = {int(first): [SplitState(**s) for s in of] for first, of in found.items()}
        return int(names[-1].removesuffix(".json")), states
    except (ValueError, TypeError, AttributeError) as e:
        raise StateError(
            f"{directory.path}/{names[-1]} cannot be read ({e}): restore it from a copy of the "
            "checkpoint, or use another checkpoint"
        ) from None


class _LayoutSplits:
    """The split keys of a layout.

    Attributes:
        shards: of the layout.
        inputs: by axis, the inputs that may be spread.
        split: by axis and hash.
    """

    def __init__(self, of: LayoutShards, queries: list[PlannedQuery], limits: SplitLimits) -> None:
        self.shards = frozenset(of.ids)
        self.inputs = splittable(of.layout, queries)
        self.split: dict[tuple[int, int], SplitState] = {}
        self._of = of
        self._queries = queries
        self._limits = limits
        self._resumed = False
        #: By axis and hash, by input: rows, those of earlier batches weighted less.
        self._counts: dict[tuple[int, int], dict[str, float]] = {}
        self._texts: dict[tuple[int, int], str] = {}
        #: By axis and input.
        self._rows: dict[tuple[int, str], float] = {}

    def begin(self, saved: Iterable[SplitState]) -> None:
        """Continue with saved keys."""
        self.split = {(s.axis, s.hash): s for s in saved}
        self._resumed = False

    def add(self, query: PlannedQuery, saved: Iterable[SplitState]) -> str | None:
        """Take account of an added query; or why that is not possible. ``saved``: the keys that are
        split if the last batch is repeated.
        """
        split = [*self.split.values(), *saved]
        left = {}
        for axis, inputs in self.inputs.items():
            why = {n: why_not_split(self._of.layout, axis, n, query) for n in inputs}
            for state in split:
                if state.axis == axis and why.get(state.spread) is not None:
                    label = self._of.layout.axes[axis].label
                    return f"rows with {label} = {state.text} are split: {why[state.spread]}"
            left[axis] = tuple(name for name in inputs if why[name] is None)
        self.inputs = {axis: inputs for axis, inputs in left.items() if inputs}
        self._queries.append(query)
        return None

    def step(self, reports: Sequence[Mapping[str, Any]]) -> None:
        """The next step of each key, and new keys, after a batch."""
        if not reports:
            return
        was_resumed, self._resumed = self._resumed, True
        self._count(KeyCounts.read(fields) for r in reports for fields in r["keys"])
        clocks = [report["clock_us"] for report in reports]
        last = max((r["last_us"] for r in reports if r["last_us"] is not None), default=None)
        if last is not None and not was_resumed:  # in the last batch they were copied
            self.split = {
                key: replace(s, after_us=last) if s.step == "waits" else s
                for key, s in self.split.items()
            }
        if len(reports) < len(self.shards) or None in clocks or last is None:
            return
        before = self.split
        moved = (self._moved(state, min(clocks), last) for state in before.values())
        self.split = {(s.axis, s.hash): s for s in moved if s is not None}
        for axis in self.inputs:
            for key, spread in self._to_split(axis):
                if key not in before:  # its last copies may be live in a batch that is repeated
                    self.split[key] = SplitState(*key, self._texts[key], spread, "copies", last)

    def next_batch(self) -> list[SplitKey]:
        """How the keys are dealt in the next batch."""
        return [
            SplitKey(s.axis, s.hash, s.spread, self._resumed and s.step == "spreads")
            for s in self.split.values()
            if s.step != "waits" or not self._resumed
        ]

    def shown(self) -> Iterator[dict[str, Any]]:
        """The split keys, for statistics."""
        for state in self.split.values():
            yield {
                "layout": self._of.described,
                "axis": self._of.layout.axes[state.axis].label,
                "key": state.text,
                "spread": state.spread,
                "share": self._share(state),
                "step": state.step,
            }

    def _count(self, counted: Iterable[KeyCounts]) -> None:
        found = list(counted)
        if not found:
            return
        kept = self._limits.kept
        self._rows = {key: rows * kept for key, rows in self._rows.items()}
        for by_input in self._counts.values():
            by_input.update({name: n * kept for name, n in by_input.items()})
        for of in found:
            place = (of.axis, of.input)
            self._rows[place] = self._rows.get(place, 0.0) + of.rows
            for hash_, (n, text) in of.counts.items():
                key = (of.axis, hash_)
                by_input = self._counts.setdefault(key, {})
                by_input[of.input] = by_input.get(of.input, 0.0) + n
                self._texts[key] = text or self._texts.get(key, "")
        self._forget()

    def _forget(self) -> None:
        """Forget keys with so few rows that they cannot be frequent for some batches."""

        def matters(key: tuple[int, int]) -> bool:
            least = _FORGOTTEN / self._of.layout.axes[key[0]].size
            return any(
                n > least * self._rows[key[0], name] for name, n in self._counts[key].items()
            )

        kept = [key for key in self._counts if key in self.split or matters(key)]
        self._counts = {key: self._counts[key] for key in kept}
        self._texts = {key: self._texts[key] for key in kept}

    def _share(self, state: SplitState) -> float:
        rows = self._rows.get((state.axis, state.spread), 0.0)
        own = self._counts.get((state.axis, state.hash), {}).get(state.spread, 0.0)
        return own / rows if rows else 0.0

    def _moved(self, state: SplitState, clock: int, last: int) -> SplitState | None:
        """A key after its next step; None: it is no longer split."""
        copied = set(keyed_inputs(self._of.layout, state.axis)) - {state.spread}
        size = self._of.layout.axes[state.axis].size
        of = self._counts.get((state.axis, state.hash), {})
        most = max((n for name, n in of.items() if name in copied), default=0.0)
        share = self._share(state) * size
        is_known = self._rows.get((state.axis, state.spread), 0.0) >= self._limits.least_rows
        stays = not is_known or (
            share >= self._limits.last and 2 * of.get(state.spread, 0.0) >= most
        )
        copied_us = state.after_us + longest_window_us(self._queries, copied)
        spread_us = longest_window_us(self._queries, {state.spread})
        match state.step:
            case "copies" if clock >= copied_us:
                return replace(state, step="spreads")
            case "spreads" if not stays and spread_us < math.inf:
                return replace(state, step="ends", after_us=last)
            case "ends" if stays and share > self._limits.first:
                return replace(state, step="spreads")
            case "ends" if clock >= state.after_us + spread_us:
                return replace(state, step="waits", after_us=last)
            case "waits" if clock >= copied_us:
                return None
        return state

    def _to_split(self, axis: int) -> Iterator[tuple[tuple[int, int], str]]:
        """The keys along an axis that are to be split from the next batch on, with the input to
        spread.
        """
        rows = {name: n for (of, name), n in self._rows.items() if of == axis}
        counts = {hash_: n for (of, hash_), n in self._counts.items() if of == axis}
        split = {s.hash: s.spread for s in self.split.values() if s.axis == axis}
        size = self._of.layout.axes[axis].size
        found = keys_to_split(rows, counts, size, self._limits, split)
        for hash_, spread in found.items():
            if spread in self.inputs[axis] and len(self.split) < self._limits.most:
                yield (axis, hash_), spread
