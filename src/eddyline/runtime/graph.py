"""The running graph: operators shared by all queries, one per distinct sub-plan."""

from __future__ import annotations

from collections.abc import Callable, Container, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from eddyline.runtime.batch import Batch
from eddyline.runtime.failures import Failure, collecting
from eddyline.runtime.operators.base import Operator, Tick
from eddyline.runtime.operators.scan import Scan


@dataclass(slots=True)
class _Node:
    key: Hashable
    operator: Operator
    number: int  # in the order of running
    uses: int = 0


@dataclass(slots=True)
class Ran:
    """What a chunk brought about.

    Attributes:
        out: by operator, what it put out.
        failures: rows that expressions of operators could not take.
        broken: by operator, the error that it raised.
    """

    out: dict[Operator, Batch]
    failures: list[tuple[Operator, Failure]]
    broken: dict[Operator, Exception]


class Graph:
    """Operators in an order in which inputs come before their consumers.

    An operator is found again by its key (its logical plan), so equal sub-plans of different
    queries run once, and it goes when its last consumer goes.
    """

    def __init__(self) -> None:
        self._nodes: dict[Hashable, _Node] = {}
        self._by_operator: dict[Operator, _Node] = {}
        self._before_closing: dict[Operator, Callable[[], None]] = {}
        self._with_more: set[Operator] = set()
        self._made = 0

    def __iter__(self) -> Iterator[Operator]:
        return (n.operator for n in self._nodes.values())

    def __contains__(self, key: Hashable) -> bool:
        return key in self._nodes

    def obtain(self, key: Hashable, make: Callable[[], Operator]) -> Operator:
        """The operator of this key; made, after its inputs, if there is none yet."""
        if key not in self._nodes:
            operator = make()
            self._made += 1
            node = _Node(key, operator, self._made)
            self._nodes[key] = node
            self._by_operator[operator] = node
            for source in operator.inputs:
                self._by_operator[source].uses += 1
        return self._nodes[key].operator

    def find(self, key: Hashable) -> Operator | None:
        """The operator of this key, if there is one."""
        return self._nodes[key].operator if key in self._nodes else None

    def use(self, operator: Operator) -> None:
        """A query reads this operator's output."""
        self._by_operator[operator].uses += 1

    def give_up(self, operator: Operator) -> None:
        """A query no longer does; what nobody else reads is closed and forgotten."""
        node = self._by_operator[operator]
        node.uses -= 1
        if node.uses:
            return
        self._before_closing.pop(operator, _nothing)()
        operator.close()
        del self._nodes[node.key], self._by_operator[operator]
        for source in operator.inputs:
            self.give_up(source)

    def before_closing(self, operator: Operator, call: Callable[[], None]) -> None:
        """Call this when nobody reads the operator any more."""
        self._before_closing[operator] = call

    def is_below(self, lower: Operator, upper: Operator) -> bool:
        """Whether one of two operators has to run before the other, or is the other."""
        return lower in in_order([upper])

    def add_inputs(self, operator: Operator, inputs: Sequence[Operator]) -> None:
        """Let an operator that is there already run after these, too; it is not below them."""
        node = self._by_operator[operator]
        operator.inputs += tuple(inputs)
        for source in inputs:
            self._by_operator[source].uses += 1
        if any(self._by_operator[source].number > node.number for source in inputs):
            self._nodes = {n.key: n for n in map(self._by_operator.__getitem__, in_order(self))}
            self._made = 0
            for each in self._nodes.values():
                self._made += 1
                each.number = self._made

    def remove_inputs(self, operator: Operator, inputs: Sequence[Operator]) -> None:
        """Undo ``add_inputs``."""
        left = list(operator.inputs)
        for source in inputs:
            left.remove(source)
            self.give_up(source)
        operator.inputs = tuple(left)

    def has_more(self, operator: Operator) -> None:
        """An operator that is there already has more to put out, for those primed next."""
        self._with_more.add(operator)

    def without(self, sources: Container[str]) -> dict[Operator, None]:
        """The operators that have nothing to do with these streams and tables, in order."""
        found: dict[Operator, None] = {}
        for operator in self:
            outside = isinstance(operator, Scan) and operator.stem.name in sources
            if not outside and all(i in found for i in operator.inputs):
                found[operator] = None
        return found

    def run(self, tick: Tick, operators: Iterable[Operator]) -> Ran:
        """One chunk through some operators and all below them. One that raises an error has no
        output, nor have those above it; the others run.
        """
        ran = Ran({}, [], {})
        with collecting() as found:
            for operator in operators:
                if not all(i in ran.out for i in operator.inputs):
                    continue
                before = len(found)
                try:
                    inputs = [ran.out[i] for i in operator.inputs]
                    ran.out[operator] = operator.run(inputs, tick)
                except MemoryError:
                    raise
                except Exception as error:
                    ran.broken[operator] = error
                if len(found) > before:
                    ran.failures += [(operator, failure) for failure in found[before:]]
        return ran

    def above(self, some: Iterable[Operator]) -> set[Operator]:
        """Some operators, and all that read what they put out."""
        above = set(some)
        for operator in self:
            if not above.isdisjoint(operator.inputs):
                above.add(operator)
        return above

    def settle(
        self, clock: int, operators: Iterable[Operator], broken: Container[Operator] = ()
    ) -> None:
        """The chunk is over, for some operators but those that are broken."""
        for operator in operators:
            if operator not in broken:
                operator.end_chunk(clock)

    def prime(self, known: set[Operator], clock: int) -> dict[Operator, Batch]:
        """Bring operators that are not ``known`` up to date with what their inputs still hold.

        Those known that have more to put out for them do so first: a chunk without rows goes
        through them, and whoever is below or above them.
        """
        out: dict[Operator, Batch] = {}
        more: dict[Operator, Batch] = {}
        tick, awake = Tick(clock), self._around(self._with_more)
        for operator in self:
            if operator in known:
                if operator in awake:
                    inputs = [more[i] if i in more else out[i] for i in operator.inputs]
                    more[operator] = operator.run(inputs, tick)
                continue
            if not operator.inputs:
                out[operator] = operator.live(clock)
                continue
            inputs = [out[i] if i in out else i.live(clock) for i in operator.inputs]
            out[operator] = operator.prime(inputs, tick)
        self._with_more.clear()
        return out

    def _around(self, some: set[Operator]) -> set[Operator]:
        """Some operators, those that get what they put out, and all that these read."""
        return set(in_order(self.above(some) if some else ()))

    def sweep(self) -> None:
        """Forget operators that nobody uses: what is left of a query that could not be added."""
        for node in reversed(list(self._nodes.values())):
            if node.uses == 0 and node.key in self._nodes:
                node.uses = 1
                self.give_up(node.operator)


def _nothing() -> None:
    """There is nothing to do."""


def in_order(outputs: Iterable[Operator], *, asked: bool = True) -> list[Operator]:
    """The operators below these outputs, inputs first.

    Args:
        asked: whether to tell of those that are only asked, too. Who asks whom depends on which
            queries there were before; all else is the same for the same queries, always.
    """
    found: dict[Operator, None] = {}

    def visit(operator: Operator) -> None:
        if operator not in found:
            for source in operator.inputs if asked else operator.sources:
                visit(source)
            found[operator] = None

    for output in outputs:
        visit(output)
    return list(found)
