"""The plans of a query, and what follows from them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import pyarrow as pa

from eddyline.algebra.catalog import Emit
from eddyline.algebra.plan import Plan
from eddyline.algebra.reads import streams_read, tables_read
from eddyline.engine.placement.candidates import Candidates
from eddyline.engine.placement.placement import FlowPlacement
from eddyline.optimizer.compared import ComparedColumn, columns_compared
from eddyline.physical.patterns import replaced_by, unbounded_scan
from eddyline.runtime.output import change_schema
from eddyline.types import arrow_schema

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class PlanFacts:
    """What follows from a plan and what is emitted of it, whatever the constants in it are.

    Attributes:
        streams, tables: that it reads. schema: Arrow schema of the select list.
        change_schema: Arrow schema of the changes.
        replace_key, forgotten: see ``Query``.
        compared: the columns that it compares, in the same order in every process.
    """

    streams: frozenset[str]
    tables: frozenset[str]
    schema: pa.Schema
    change_schema: pa.Schema
    replace_key: tuple[str, ...] | None
    forgotten: str | None
    compared: tuple[ComparedColumn, ...]

    @classmethod
    def of(cls, plan: Plan, emit: Emit) -> PlanFacts:
        """The facts of a plan."""
        return cls(
            streams_read(plan),
            tables_read(plan),
            arrow_schema(plan.schema),
            change_schema(plan.schema),
            replaced_by(plan) if emit.adds_only else None,
            unbounded_scan(plan) if emit.adds_only else None,
            tuple(sorted(columns_compared(plan))),
        )


class Plans(ABC):
    """The plans of a query.

    Attributes:
        candidates: its placements, with slots that ``filled`` fills; None: they are not known yet.
    """

    candidates: Candidates | None = None

    @property
    @abstractmethod
    def plan(self) -> Plan:
        """The logical plan that runs."""

    @property
    @abstractmethod
    def bound(self) -> Plan:
        """The plan of the statement, before it was optimized."""

    @property
    @abstractmethod
    def facts(self) -> PlanFacts:
        """What follows from ``plan``."""

    @abstractmethod
    def filled(self, part: T) -> T:
        """A part of ``candidates`` with the constants of the query."""

    @abstractmethod
    def keyed(self, placement: FlowPlacement) -> FlowPlacement:
        """One of ``candidates`` with the constants that its key has; the rest may have slots."""


class OwnPlans(Plans):
    """Plans that were made for one query."""

    def __init__(self, plan: Plan, bound: Plan, emit: Emit) -> None:
        self._plan = plan
        self._bound = bound
        self._emit = emit

    @property
    def plan(self) -> Plan:
        return self._plan

    @property
    def bound(self) -> Plan:
        return self._bound

    @cached_property
    def facts(self) -> PlanFacts:
        return PlanFacts.of(self._plan, self._emit)

    def filled(self, part: T) -> T:
        return part

    def keyed(self, placement: FlowPlacement) -> FlowPlacement:
        return placement
