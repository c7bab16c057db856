"""Slots: constants of a plan whose values may be replaced, as long as nothing has looked at them.

Texts that differ in constants usually have plans that differ in these only. To find out, one text
is bound and optimized with *slots* in place of its constants. A slot is a Literal that notes
whether its value is read. Where none was, the plan of another text is this plan with other values;
conversions (of 1 to 1.0, or '2026-01-31' to a date) and signs are carried out again for them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, Final, NamedTuple, TypeVar

from eddyline.algebra.expressions import Call, ColumnRef, Expr, Literal

T = TypeVar("T")


class DiffersError(Exception):
    """A constant has another type than the one in whose place it is, or cannot be converted."""


@dataclass(eq=False)
class Origin:
    """A constant of a text.

    Attributes:
        number: among the constants of the text.
        is_read: whether something depends on its value.
    """

    number: int
    is_read: bool = False


class Slot(Literal):
    """A Literal that notes whether its value is read; equal to the plain one.

    Attributes:
        literal: the constant.
        origin: which constant of the text it is, or is made of.

    Args:
        before, step: how it was made of another slot of the same origin, if it was.
    """

    literal: Literal
    origin: Origin
    _before: Slot | None
    _step: Callable[[Literal], Expr | None] | None

    def __init__(
        self,
        literal: Literal,
        origin: Origin,
        before: Slot | None = None,
        step: Callable[[Literal], Expr | None] | None = None,
    ) -> None:
        own = {"type": literal.type, "literal": literal, "origin": origin}
        for name, value in (*own.items(), ("_before", before), ("_step", step)):
            object.__setattr__(self, name, value)  # as of a frozen dataclass

    @property
    def value(self) -> Any:
        self.origin.is_read = True
        return self.literal.value

    @property
    def is_null(self) -> bool:
        return self.literal.is_null

    def _identity(self) -> tuple[Any, ...]:
        return self.literal._identity()

    def derived(self, step: Callable[[Literal], Expr | None]) -> Expr | None:
        """The slot of what ``step`` makes of the constant. If that is no constant, it depends on
        the value what becomes of the expression.
        """
        made = step(self.literal)
        if isinstance(made, Literal):
            return Slot(made, self.origin, self, step)
        self.origin.is_read = True
        return made

    def of(self, constants: Sequence[Literal | None]) -> Literal:
        """The constant of another text in this place.

        Args:
            constants: of that text, by number.

        Raises:
            DiffersError: it does not fit.
        """
        made: Expr | None
        if self._before is None:
            made = constants[self.origin.number]
        else:
            assert self._step is not None, "it was made of another"
            made = self._step(self._before.of(constants))
        if not isinstance(made, Literal) or made.type != self.type or made.is_null != self.is_null:
            raise DiffersError
        return made


class _Fields(NamedTuple):
    """The fields of a node that ``__init__`` takes, by name: those with slots below, and others."""

    own: dict[str, Any]
    rest: dict[str, Any]


class Form:
    """Plans, expressions, or tuples and other dataclasses of them, with slots.

    Attributes:
        slots: all of them.
    """

    def __init__(self, *nodes: Any) -> None:
        self._nodes = nodes  # they stay, and so do their ids
        self._open: dict[int, bool] = {}  # by id, whether there is a slot below
        self._fields: dict[int, _Fields] = {}  # by id
        found: dict[int, Slot] = {}
        for node in nodes:
            self._look(node, found)
        self.slots = tuple(found.values())

    def _look(self, node: Any, found: dict[int, Slot]) -> bool:
        """Whether a node is a slot or contains one; ``found`` gets them by id."""
        if isinstance(node, _LEAVES):
            return False
        known = self._open.get(id(node))
        if known is not None:
            return known
        if isinstance(node, Slot):
            found[id(node)] = node
            below = [True]
        elif isinstance(node, (list, set, frozenset, dict)):  # ``filled`` leaves these as they are
            inner: dict[int, Slot] = {}
            for part in (*node, *(node.values() if isinstance(node, dict) else ())):
                self._look(part, inner)
            for slot in inner.values():
                slot.origin.is_read = True
            below = []
        else:
            below = [self._look(part, found) for part in _parts(node)]
        self._open[id(node)] = is_open = any(below)
        if is_open and not isinstance(node, (tuple, Slot)):
            parts = {f.name: getattr(node, f.name) for f in fields(node) if f.init}
            own = {name: part for name, part in parts.items() if self._open.get(id(part))}
            rest = {name: part for name, part in parts.items() if name not in own}
            self._fields[id(node)] = _Fields(own, rest)
        return is_open

    def is_open(self, node: Any) -> bool:
        """Whether one of the nodes has slots."""
        return self._open.get(id(node), False)

    def filled(self, node: T, constants: Mapping[int, Literal]) -> T:
        """One of the nodes with constants in place of its slots.

        Args:
            constants: by id of the slot.
        """
        made: T = self._filled(node, constants, {})
        return made

    def _filled(self, node: Any, constants: Mapping[int, Literal], made: dict[int, Any]) -> Any:
        at = id(node)
        if not self._open.get(at):
            return node
        if at in constants:
            return constants[at]
        known = made.get(at)  # there may be several ways to a node
        if known is not None:
            return known
        if isinstance(node, tuple):
            items = (self._filled(i, constants, made) for i in node)
            filled: Any = tuple(items) if type(node) is tuple else type(node)(*items)
        elif type(node) is Call:
            arguments = tuple([self._filled(a, constants, made) for a in node.arguments])
            filled = Call(node.type, node.function, arguments)
        else:
            own, rest = self._fields[at]
            parts = {n: self._filled(part, constants, made) for n, part in own.items()}
            filled = type(node)(**rest, **parts)
        made[at] = filled
        return filled


#: What has no slots below it.
_LEAVES: Final = (str, int, float, bool, bytes, type(None), ColumnRef)


def _parts(node: Any) -> Iterable[Any]:
    """What is below a node."""
    if isinstance(node, tuple):
        return node
    if isinstance(node, Literal) or not is_dataclass(node) or isinstance(node, type):
        return ()
    return (getattr(node, f.name) for f in fields(node))
