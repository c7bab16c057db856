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
from eddyline.physical.compiled import aggregate_state
from eddyline.physical.expressions import compile_expr
from eddyline.runtime.operators.running_over import FrameForm, RunningForm

_PLACES: Final = {
    "first": kernels.FIRST_KNOWN,
    "last": kernels.LAST_KNOWN,
    "before": kernels.KNOWN_BEFORE,
}


def running_form(plan: RunningOver) -> RunningForm:
    """How the operator divides rows, and what it computes of them."""
    read = dict.fromkeys(v.argument for v in plan.values if v.argument is not None)
    numbers = {argument: number for number, argument in enumerate(read)}
    frames = dict.fromkeys(v.frame for v in plan.values if isinstance(v, FrameAggregate))
    placed = list(enumerate(plan.values))
    forms = []
    for frame in frames:
        own = [(i, v) for i, v in placed if isinstance(v, FrameAggregate) and v.frame == frame]
        forms.append(
            FrameForm(
                frame.unit,
                frame.preceding,
                tuple(
                    aggregate_state(v.aggregate, endless=frame.preceding is None) for _, v in own
                ),
                tuple(None if v.argument is None else numbers[v.argument] for _, v in own),
                tuple(i for i, _ in own),
            )
        )
    return RunningForm(
        schema=plan.input.schema,
        waits=plan.waits_us > 0,
        keys=tuple(map(compile_expr, plan.partition)),
        key_types=tuple(k.type for k in plan.partition),
        arguments=tuple(map(compile_expr, read)),
        types=tuple(a.type for a in read),
        frames=tuple(forms),
        earlier=tuple(
            (numbers[v.argument], v.rows, i) for i, v in placed if isinstance(v, EarlierValue)
        ),
        nth=tuple((numbers[v.argument], v.number, i) for i, v in placed if isinstance(v, NthValue)),
        known=_known(placed, numbers),
        names=tuple((f.name, i) for i, f in enumerate(plan.input.schema)),
    )


def _known(
    placed: Sequence[tuple[int, RunningValue]], numbers: Mapping[Expr, int]
) -> tuple[tuple[tuple[int, int, int], ...], ...]:
    """The values that ignore NULLs, by column."""
    own = [
        (numbers[v.argument], _PLACES[v.which], i) for i, v in placed if isinstance(v, KnownValue)
    ]
    return tuple(
        tuple(value for value in own if value[0] == column)
        for column in dict.fromkeys(c for c, *_ in own)
    )
