"""Prepared plans: statements that differ in constants are bound and planned once.

The first instance of a template (``sql/templates.py``) is bound, optimized and given its candidates
of placements with slots in place of its open constants (``algebra/slots.py``). The candidates of
other instances are the same with other constants, unless something had to know a value: then the
constant belongs to what instances must have in common. As far as equal constants have the same
effect as one, instances must also agree in which of their constants are equal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Final, TypeVar
from weakref import WeakValueDictionary

from eddyline.algebra.catalog import Emit
from eddyline.algebra.expressions import Literal
from eddyline.algebra.plan import Plan
from eddyline.algebra.slots import DiffersError, Form, Origin
from eddyline.engine.definitions import names_called, names_read
from eddyline.engine.placement.candidates import Candidates
from eddyline.engine.placement.placement import FlowPlacement
from eddyline.engine.placement.placements import Placements
from eddyline.engine.planning import Planning
from eddyline.engine.query_plans import PlanFacts, Plans
from eddyline.errors import EddylineError, SqlError
from eddyline.sql.binder import bind
from eddyline.sql.binder.literals import ORIGIN, constant_of
from eddyline.sql.catalog import Catalog
from eddyline.sql.stack import with_stack
from eddyline.sql.statements import Select
from eddyline.sql.templates import Instance

#: Plans that are made of a template, whatever they serve; one more for every two queries served.
_TRIED: Final = 32
#: Templates of which it is remembered that they cannot be prepared.
_REMEMBERED: Final = 128

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Prepared:
    """The plans of the instances of a template.

    Attributes:
        bound, plan, candidates: with slots; form: of them.
        emit: what is emitted. facts: of the plan.
        reads, calls: names, as of :class:`Definition`.
        alike: which slots have equal constants, as of ``_first_equal``.
        known: what is known of the template.
    """

    bound: Plan
    plan: Plan
    candidates: Candidates
    form: Form
    emit: Emit
    facts: PlanFacts
    reads: frozenset[str]
    calls: frozenset[str]
    alike: tuple[int, ...]
    known: _Known

    def instance(self, constants: Sequence[Literal | None]) -> FilledPlans | None:
        """The plans with these constants; None if they would have other plans."""
        try:
            made = [slot.of(constants) for slot in self.form.slots]
        except (DiffersError, EddylineError):
            return None
        return FilledPlans(self, made) if _first_equal(made) == self.alike else None


class FilledPlans(Plans):
    """Plans with other constants.

    Args:
        constants: of the slots.
    """

    def __init__(self, prepared: Prepared, constants: Sequence[Literal]) -> None:
        self.prepared = prepared
        self.candidates = prepared.candidates
        self._constants = dict(zip(map(id, prepared.form.slots), constants, strict=True))

    @cached_property
    def plan(self) -> Plan:
        return self.filled(self.prepared.plan)

    @cached_property
    def bound(self) -> Plan:
        return self.filled(self.prepared.bound)

    @property
    def facts(self) -> PlanFacts:
        return self.prepared.facts

    def filled(self, part: T) -> T:
        return with_stack(lambda: self.prepared.form.filled(part, self._constants))

    def keyed(self, placement: FlowPlacement) -> FlowPlacement:
        is_open = self.prepared.form.is_open
        own = is_open(placement.flow) or is_open(placement.table)
        return self.filled(placement) if own else placement


@dataclass(eq=False)
class _Known:
    """What is known of a template.

    Attributes:
        open: the values on which no plan depends so far.
        plans: by the other values, and which values are equal; while there are queries with them.
        made, used: number of plans, and of queries that used them.
    """

    open: tuple[int, ...]
    plans: WeakValueDictionary[object, Prepared] = field(default_factory=WeakValueDictionary)
    made: int = 0
    used: int = 0

    @property
    def may_grow(self) -> bool:
        """Whether to make more plans: not where nearly each query would need plans of its own."""
        return self.made < _TRIED + self.used // 2


class PreparedPlans:
    """The prepared plans of an engine. They are kept while queries use them."""

    def __init__(self, catalog: Catalog, planning: Planning, placements: Placements) -> None:
        self._catalog = catalog
        self._planning = planning
        self._placements = placements
        self._known: WeakValueDictionary[object, _Known] = WeakValueDictionary()
        self._useless: dict[object, None] = {}  # the templates that cannot be prepared
        self._valid_for: object = None

    def clear(self) -> None:
        """Options have changed."""
        self._known.clear()
        self._useless.clear()

    def find(self, select: Select, emit: Emit) -> FilledPlans | None:
        """The plans of a statement; None if they have to be made for it alone."""
        instance = select.syntax
        if not isinstance(instance, Instance) or not self._placements.shares:
            return None
        valid_for = (self._catalog.version, self._planning.counted())
        if valid_for != self._valid_for:
            self.clear()
            self._valid_for = valid_for
        key = instance.template.select_key
        if key in self._useless:
            return None
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = _Known(instance.template.open)
        prepared = known.plans.get(_key(instance, known.open))
        if prepared is None and known.may_grow:
            prepared = self._prepare(known, instance, select, emit)
        if not known.open:
            self._useless[key] = None
            if len(self._useless) > _REMEMBERED:
                del self._useless[next(iter(self._useless))]  # the oldest
        if prepared is None:
            return None
        try:
            constants = _constants(instance, known.open)
        except SqlError:
            return None
        known.used += 1
        return prepared.instance(constants)

    def _prepare(
        self, known: _Known, instance: Instance, select: Select, emit: Emit
    ) -> Prepared | None:
        """Make plans for a statement and others like it."""
        while known.open:
            origins = {i: Origin(i) for i in known.open}
            marked = instance.marked({i: {ORIGIN: origin} for i, origin in origins.items()})
            try:
                prepared = self._planned(replace(select, syntax=marked), emit, known)
            except EddylineError:
                return None  # raised again, at its place
            if prepared is None:
                known.open = ()
                return None
            read = {i for i, origin in origins.items() if origin.is_read}
            if not read:
                known.made += 1
                known.plans[_key(instance, known.open)] = prepared
                return prepared
            known.open = tuple(i for i in known.open if i not in read)
            known.plans.clear()
        return None

    def _planned(self, select: Select, emit: Emit, known: _Known) -> Prepared | None:
        """The plans with slots; None if it reads views or queries, which may be others later."""
        reads = names_read(select)
        catalog = self._catalog
        if not all(name in catalog.streams or name in catalog.tables for name in reads):
            return None
        bound = bind(select, emit, catalog)
        plan = self._planning.optimized(bound.plan)
        facts = PlanFacts.of(plan, bound.emit)
        replaces = facts.replace_key is not None
        candidates = self._placements.candidates_of("", plan, bound.emit, replaces=replaces)
        form = Form(bound.plan, plan, candidates)
        alike = _first_equal([slot.literal for slot in form.slots])
        calls = names_called(select.ast)
        return Prepared(
            *(bound.plan, plan, candidates, form, bound.emit, facts, reads, calls, alike), known
        )


def _constants(instance: Instance, numbers: Sequence[int]) -> list[Literal | None]:
    """Some constants of a text, by number.

    Raises:
        SqlError: one is too large.
    """
    words = instance.constants
    found: list[Literal | None] = [None] * len(words)
    for i in numbers:
        word = words[i]
        found[i] = constant_of(word.strip("'"), is_text=word[0] == "'")
    return found


def _key(instance: Instance, numbers: Sequence[int]) -> object:
    """Equal for texts that differ in some constants only, with the same ones equal."""
    texts = instance.constants
    rest = tuple(v for i, v in enumerate(texts) if i not in numbers)
    numbers_ = [v if v[0] == "'" else float(v) for v in texts]
    alike = (_first_equal(texts), _first_equal(numbers_))
    return rest, alike


def _first_equal(values: Sequence[Any]) -> tuple[int, ...]:
    """By value, the number of the first one that equals it; empty if all are different."""
    if len(set(values)) == len(values):
        return ()
    first: dict[Any, int] = {}
    return tuple(first.setdefault(v, i) for i, v in enumerate(values))
