"""The running graph: operators shared by all queries, one per distinct sub-plan."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass

from eddyline.runtime.batch import Batch
from eddyline.runtime.operators.base import Operator, Tick


@dataclass(slots=True)
class _Node:
    key: Hashable
    operator: Operator
    uses: int = 0


class Graph:
    """Operators in an order in which inputs come before their consumers.

    An operator is found again by its key (its logical plan), so equal sub-plans of different
    queries run once, and it goes when its last consumer goes.
    """

    def __init__(self) -> None:
        self._nodes: dict[Hashable, _Node] = {}
        self._by_operator: dict[Operator, _Node] = {}

    def __iter__(self) -> Iterator[Operator]:
        return (n.operator for n in self._nodes.values())

    def __contains__(self, key: Hashable) -> bool:
        return key in self._nodes

    def obtain(self, key: Hashable, make: Callable[[], Operator]) -> Operator:
        """The operator of this key; made, after its inputs, if there is none yet."""
        if key not in self._nodes:
            operator = make()
            node = _Node(key, operator)
            self._nodes[key] = node
            self._by_operator[operator] = node
            for source in operator.inputs:
                self._by_operator[source].uses += 1
        return self._nodes[key].operator

    def use(self, operator: Operator) -> None:
        """A query reads this operator's output."""
        self._by_operator[operator].uses += 1

    def give_up(self, operator: Operator) -> None:
        """A query no longer does; what nobody else reads is closed and forgotten."""
        node = self._by_operator[operator]
        node.uses -= 1
        if node.uses:
            return
        operator.close()
        del self._nodes[node.key], self._by_operator[operator]
        for source in operator.inputs:
            self.give_up(source)

    def run(self, tick: Tick) -> dict[Operator, Batch]:
        """One chunk through all operators: what each of them put out."""
        out: dict[Operator, Batch] = {}
        for operator in self:
            out[operator] = operator.run([out[i] for i in operator.inputs], tick)
        return out

    def settle(self, clock: int) -> None:
        """The chunk is over."""
        for operator in self:
            operator.settle(clock)

    def prime(self, known: set[Operator], clock: int) -> dict[Operator, Batch]:
        """Bring operators that are not ``known`` up to date with what their inputs still hold."""
        out: dict[Operator, Batch] = {}
        tick = Tick(clock)
        for operator in self:
            if operator in known:
                continue
            if not operator.inputs:
                out[operator] = operator.live(clock)
                continue
            inputs = [out[i] if i in out else i.live(clock) for i in operator.inputs]
            out[operator] = operator.run(inputs, tick)
        return out

    def sweep(self) -> None:
        """Forget operators that nobody uses: what is left of a query that could not be added."""
        for node in reversed(list(self._nodes.values())):
            if node.uses == 0 and node.key in self._nodes:
                node.uses = 1
                self.give_up(node.operator)


def in_order(outputs: Iterable[Operator]) -> list[Operator]:
    """The operators below these outputs, inputs first: the same for the same queries, always."""
    found: dict[Operator, None] = {}

    def visit(operator: Operator) -> None:
        if operator not in found:
            for source in operator.inputs:
                visit(source)
            found[operator] = None

    for output in outputs:
        visit(output)
    return list(found)
