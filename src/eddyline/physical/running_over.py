"""OVER on rows that only come, in the form that its operator takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from eddyline.algebra.expressions import Expr
from eddyline.algebra.nodes.running_over import (
    EarlierValue,
    FrameAggregate,
    KnownValue,
    NthValue,
    RunningValue,
)
from eddyline.algebra.plan import RunningOver
from eddyline.kernels import frames as kernels
from eddyline.kernels import frames_apart
from eddyline.physical.compiled import aggregate_state
from eddyline.physical.expressions import compile_expr
from eddyline.runtime.operators.running_over import FrameForm, Kind, PlaceForm, RunningForm

_PLACES: Final = {
    "first": kernels.FIRST_KNOWN,
    "last": kernels.LAST_KNOWN,
    "before": kernels.KNOWN_BEFORE,
}
_EXCLUDED: Final = {
    "": 0,
    "CURRENT ROW": frames_apart.EXCLUDE_CURRENT,
    "GROUP": frames_apart.EXCLUDE_GROUP,
    "TIES": frames_apart.EXCLUDE_TIES,
}


def running_form(plan: RunningOver) -> RunningForm:
    """How the operator divides rows, and what it computes of them."""
    read = dict.fromkeys(v.argument for v in plan.values if v.argument is not None)
    numbers = {argument: number for number, argument in enumerate(read)}
    frames = dict.fromkeys(v.frame for v in plan.values if isinstance(v, FrameAggregate))
    placed = list(enumerate(plan.values))
    forms = []
    waits = plan.waits_us
    for frame in frames:
        own = [(i, v) for i, v in placed if isinstance(v, FrameAggregate) and v.frame == frame]
        endless = frame.preceding is None and not frame.exclude
        forms.append(
            FrameForm(
                frame.unit,
                frame.preceding,
                frame.until,
                _EXCLUDED[frame.exclude],
                waits if plan.behind_us and frame.unit == "range" else 0,
                tuple(aggregate_state(v.aggregate, endless=endless) for _, v in own),
                tuple(None if v.argument is None else numbers[v.argument] for _, v in own),
                tuple(i for i, _ in own),
            )
        )
    return RunningForm(
        schema=plan.input.schema,
        waits_us=waits,
        keys=tuple(map(compile_expr, plan.partition)),
        key_types=tuple(k.type for k in plan.partition),
        arguments=tuple(map(compile_expr, read)),
        types=tuple(a.type for a in read),
        frames=tuple(forms),
        by_place=_by_place(plan.values, numbers),
        names=tuple((f.name, i) for i, f in enumerate(plan.input.schema)),
    )


def _by_place(values: Sequence[RunningValue], numbers: Mapping[Expr, int]) -> tuple[PlaceForm, ...]:
    """Values of rows by their place; those that ignore NULLs by their column."""
    found: dict[tuple[Kind, bool, int], list[tuple[int, int, int]]] = {}
    for output, value in enumerate(values):
        if isinstance(value, FrameAggregate):
            continue
        kind, place, known = _place(value)
        column = numbers[value.argument]
        own = found.setdefault((kind, known, column if known else -1), [])
        own.append((column, place, output))
    return tuple(PlaceForm(kind, known, tuple(v)) for (kind, known, _), v in found.items())


def _place(value: EarlierValue | NthValue | KnownValue) -> tuple[Kind, int, bool]:
    """What keeps the rows of a value, their place, and whether only rows with a value count."""
    if isinstance(value, KnownValue):
        return "known", _PLACES[value.which], True
    if isinstance(value, NthValue):
        return "nth", value.number, value.known
    return "earlier", value.rows, value.known
