"""Base classes of plan nodes, by their number of inputs."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import TypeAlias
from weakref import ref

from eddyline.algebra.expressions import Expr, columns_of
from eddyline.algebra.patterns import Pattern
from eddyline.types import Schema

#: Pairs of expressions of equal types: the first over the left schema, the second over the right.
Keys: TypeAlias = tuple[tuple[Expr, Expr], ...]


@dataclass(frozen=True)
class Plan:
    """A node of a logical plan. Computed properties are kept: large plans share sub-plans."""

    def __init_subclass__(cls) -> None:
        cls.__hash__ = Plan._hash_once  # type: ignore[assignment]  # dataclasses leave it so
        cls.__eq__ = Plan._equals  # type: ignore[assignment]  # likewise

    def _hash_once(self) -> int:
        return self._hash

    def _equals(self, other: object) -> bool:
        """Compares each pair of nodes once, however many ways lead to it."""
        if self is other:
            return True
        if type(self) is not type(other) or self._hash != hash(other):
            return False
        same = vars(self).get("_same")
        if same is not None and same() is other:
            return True
        names = [f.name for f in fields(self) if f.compare]
        if any(getattr(self, n) != getattr(other, n) for n in names):
            return False
        vars(self)["_same"] = ref(other)
        return True

    @cached_property
    def _hash(self) -> int:
        return hash((type(self), *(getattr(self, f.name) for f in fields(self) if f.compare)))

    def __getstate__(self) -> dict[str, object]:
        """The fields alone: hashes differ from process to process."""
        return {f.name: getattr(self, f.name) for f in fields(self)}

    @property
    def inputs(self) -> tuple[Plan, ...]:
        return ()

    def with_inputs(self, *inputs: Plan) -> Plan:
        """The same node over other inputs; the node itself if they are equal."""
        assert inputs == self.inputs, f"the inputs of {type(self).__name__} are fixed"
        return self

    @cached_property
    def schema(self) -> Schema:
        raise NotImplementedError

    @cached_property
    def pattern(self) -> Pattern:
        """The update pattern of the node's output edge."""
        raise NotImplementedError

    @cached_property
    def takes_back(self) -> bool:
        """Whether its operator emits '-' rows (a grouped row takes back the older one)."""
        return any(p.takes_back for p in self.inputs)

    @cached_property
    def lifespan_us(self) -> int | None:
        """The longest that an output row can live; None if that has no bound."""
        spans = [p.lifespan_us for p in self.inputs]
        return None if None in spans else max(s for s in spans if s is not None)

    @cached_property
    def expiry(self) -> object:
        """How the expiry of a row follows from its time: WKS plans that agree on it expire in the
        order in which their rows come, also together.
        """
        return self.inputs[0].expiry if self.inputs else self.lifespan_us

    @property
    def label(self) -> str:
        """What EXPLAIN prints behind the node's name."""
        return ""


@dataclass(frozen=True)
class Unary(Plan):
    """A node of one input, with the schema and update pattern of the input."""

    input: Plan

    @property
    def inputs(self) -> tuple[Plan, ...]:
        return (self.input,)

    def with_inputs(self, *inputs: Plan) -> Plan:
        return self if inputs == self.inputs else replace(self, input=inputs[0])

    @cached_property
    def schema(self) -> Schema:
        return self.input.schema

    @cached_property
    def pattern(self) -> Pattern:
        return self.input.pattern


@dataclass(frozen=True)
class Emitting(Unary):
    """A node of one input whose rows come once and stay as they are."""

    @cached_property
    def pattern(self) -> Pattern:
        return Pattern.MONOTONIC

    @cached_property
    def takes_back(self) -> bool:
        return False

    @cached_property
    def lifespan_us(self) -> int | None:
        return None


@dataclass(frozen=True)
class Nary(Plan):
    """A node of any number of inputs."""

    parts: tuple[Plan, ...]

    @property
    def inputs(self) -> tuple[Plan, ...]:
        return self.parts

    def with_inputs(self, *inputs: Plan) -> Plan:
        return self if inputs == self.inputs else replace(self, parts=inputs)


@dataclass(frozen=True)
class Keyed(Plan):
    """A node of two inputs whose rows match by equal keys."""

    left: Plan
    right: Plan
    keys: Keys

    def __post_init__(self) -> None:
        for left, right in self.keys:
            assert left.type == right.type, f"key types differ: {left.type}, {right.type}"
            check_columns(left, self.left.schema)
            check_columns(right, self.right.schema)

    @property
    def inputs(self) -> tuple[Plan, ...]:
        return (self.left, self.right)

    def with_inputs(self, *inputs: Plan) -> Plan:
        return self if inputs == self.inputs else replace(self, left=inputs[0], right=inputs[1])


def check_columns(expr: Expr, schema: Schema) -> None:
    """Assert that an expression reads columns of a schema only."""
    width = len(schema)
    bad = [i for i in columns_of(expr) if not 0 <= i < width]
    assert not bad, f"{expr}: no column {bad} in a schema of {width} columns"
