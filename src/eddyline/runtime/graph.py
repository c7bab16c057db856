"""The running graph: operators shared by all queries, one per distinct sub-plan."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Container, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol, TypeVar, cast
from weakref import WeakKeyDictionary, WeakValueDictionary

from eddyline.runtime.batch import Batch
from eddyline.runtime.failures import Failure, collected
from eddyline.runtime.operators.base import Operator, Tick
from eddyline.runtime.operators.stateless import Scan

_Part = TypeVar("_Part")


class End(Protocol):
    """Receives the results of an operator, for queries."""

    @property
    def names(self) -> set[str]:
        """The names of the queries."""

    def begin(self, since: int) -> None:
        """Set the first instant of the group of streams."""

    def collect(self, batch: Batch, arrived: float) -> None:
        """Take one chunk's results; ``arrived``: as of ``Graph.run``."""


@dataclass(slots=True)
class _Node:
    key: Hashable
    operator: Operator
    number: int  # in the order of running
    uses: int = 0


@dataclass(frozen=True, slots=True)
class Chain:
    """The operators that the rows of some streams go through.

    Attributes:
        operators: inputs first. ends: of each. settling: those that do something in ``settle``.
    """

    operators: dict[Operator, None]
    ends: tuple[tuple[End, ...], ...]
    settling: tuple[Operator, ...]


@dataclass(slots=True)
class Ran:
    """The outcome of a chunk; results are in the ends.

    Attributes:
        failures: by operator, rows for which an expression has no value, in it or its ends.
        broken: by operator, the error raised by it or its ends.
    """

    failures: list[tuple[Operator, Failure]] = field(default_factory=list)
    broken: dict[Operator, Exception] = field(default_factory=dict)


class Graph:
    """Operators in an order in which inputs come before their consumers.

    An operator is found again by its key (its logical plan), so equal sub-plans of different
    queries run once; it is removed with its last consumer. Results leave the graph through ends.

    Attributes:
        version: grows when operators or ends change.
    """

    def __init__(self) -> None:
        self._nodes: dict[Hashable, _Node] = {}
        self._by_operator: dict[Operator, _Node] = {}
        self._before_closing: dict[Operator, Callable[[], None]] = {}
        self._with_more: set[Operator] = set()
        self._ends: dict[Operator, list[End]] = {}
        self.version = 0
        self._made = 0
        self._parts: WeakKeyDictionary[Operator, WeakValueDictionary[Hashable, object]]
        self._parts = WeakKeyDictionary()

    def __iter__(self) -> Iterator[Operator]:
        return (n.operator for n in self._nodes.values())

    def described(self) -> list[tuple[Hashable, Operator, Sequence[End]]]:
        """Key, operator and ends of all operators as of now, inputs first."""
        nodes = self._nodes.values()
        return [(n.key, n.operator, tuple(self._ends.get(n.operator, ()))) for n in nodes]

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
            self.version += 1
            for source in operator.inputs:
                self._by_operator[source].uses += 1
        return self._nodes[key].operator

    def part(self, source: Operator, key: Hashable, make: Callable[[], _Part]) -> _Part:
        """What several operators over a source have in common, while one of them has it."""
        of_source = self._parts.setdefault(source, WeakValueDictionary())
        found = of_source.get(key)
        if found is None:
            found = of_source[key] = make()
        return cast(_Part, found)

    def find(self, key: Hashable) -> Operator | None:
        """The operator of this key, if there is one."""
        return self._nodes[key].operator if key in self._nodes else None

    def add_end(self, operator: Operator, end: End) -> None:
        """Pass the output of an operator to an end, from the next chunk on."""
        self._ends.setdefault(operator, []).append(end)
        self.version += 1

    def remove_end(self, operator: Operator, end: End) -> None:
        """Undo ``add_end``."""
        self._ends[operator].remove(end)
        self.version += 1

    def use(self, operator: Operator) -> None:
        """Count one more query that reads this operator."""
        self._by_operator[operator].uses += 1

    def release(self, operator: Operator) -> None:
        """Undo ``use``. An operator without consumers is closed, also those below it."""
        node = self._by_operator[operator]
        node.uses -= 1
        if node.uses:
            return
        self._before_closing.pop(operator, _nothing)()
        operator.close()
        self.version += 1
        del self._nodes[node.key], self._by_operator[operator]
        self._ends.pop(operator, None)
        for source in operator.inputs:
            self.release(source)

    def before_closing(self, operator: Operator, call: Callable[[], None]) -> None:
        """Set what is called before the operator is closed."""
        self._before_closing[operator] = call

    def is_below(self, lower: Operator, upper: Operator) -> bool:
        """Whether one of two operators has to run before the other, or is the other."""
        return lower in in_order([upper])

    def add_inputs(self, operator: Operator, inputs: Sequence[Operator]) -> None:
        """Let an operator that is there already run after these, too; it is not below them."""
        node = self._by_operator[operator]
        operator.inputs += tuple(inputs)
        self.version += 1
        for source in inputs:
            self._by_operator[source].uses += 1
        if any(self._by_operator[source].number > node.number for source in inputs):
            self._nodes = {n.key: n for n in map(self._by_operator.__getitem__, in_order(self))}
            self._made = 0
            for each in self._nodes.values():
                self._made += 1
                each.number = self._made

    def remove_inputs(self, operator: Operator, inputs: Sequence[Operator]) -> None:
        """Undo ``add_inputs``. An operator may be an input that was there before, too."""
        left = list(reversed(operator.inputs))
        for source in inputs:
            left.remove(source)  # the last one: the first inputs keep their places
            self.release(source)
        operator.inputs = tuple(reversed(left))
        self.version += 1

    def has_more(self, operator: Operator) -> None:
        """Mark an operator that has more output for those primed next."""
        self._with_more.add(operator)

    def chain(self, sources: frozenset[str]) -> Chain:
        """The operators that have nothing to do with these streams and tables, as of now; from here
        on they know their readers.
        """
        found: dict[Operator, None] = {}
        for operator in self:
            outside = isinstance(operator, Scan) and operator.stem.name in sources
            if not outside and all(i in found for i in operator.inputs):
                found[operator] = None
        self._introduce(found)
        return Chain(
            found,
            tuple(tuple(self._ends.get(o, ())) for o in found),
            tuple(o for o in found if type(o).settle is not Operator.settle),
        )

    def _introduce(self, some: Iterable[Operator]) -> None:
        """Let operators know their readers."""
        readers: dict[Operator, list[Operator]] = {operator: [] for operator in some}
        for operator in self:
            for source in operator.inputs:
                if source in readers:
                    readers[source].append(operator)
        for operator, reading in readers.items():
            is_read_else = self._by_operator[operator].uses > len(reading) or not reading
            operator.readers = None if is_read_else or self._ends.get(operator) else reading

    def run(self, tick: Tick, chain: Chain, *, arrived: float) -> Ran:
        """Run one chunk through operators into their ends. If one raises an error, it and those
        above it have no output; the others run.

        Args:
            arrived: when the chunk's rows could be processed (``time.perf_counter``).
        """
        ran = Ran()
        out: dict[Operator, Batch] = {}
        found: list[Failure] = []
        token = collected.set(found)
        now = cpu_time()
        try:
            for operator, ends in zip(chain.operators, chain.ends, strict=True):
                if ran.broken and not all(i in out for i in operator.inputs):
                    continue
                try:
                    batches = list(map(out.__getitem__, operator.inputs))
                    batch = operator.process(batches, tick)
                    now = _counted(operator, batches, batch, tick, now)
                    if ends:
                        now = _deliver(operator, batch, ends, arrived, now)
                    out[operator] = batch
                except MemoryError:
                    raise
                except Exception as error:  # its queries are set aside, others go on
                    ran.broken[operator] = error
                    now = cpu_time()
                if found:
                    ran.failures += [(operator, failure) for failure in found]
                    found.clear()
        finally:
            collected.reset(token)
        return ran

    def readers(self, operators: Iterable[Operator]) -> set[str]:
        """The names of the queries that read the output of some operators."""
        ends = (end for operator in self.above(operators) for end in self._ends.get(operator, ()))
        return set().union(*(end.names for end in ends))

    def above(self, some: Iterable[Operator]) -> set[Operator]:
        """Some operators, and all above them."""
        above = set(some)
        for operator in self:
            if not above.isdisjoint(operator.inputs):
                above.add(operator)
        return above

    def settle(self, clock: int, chain: Chain, broken: Container[Operator] = ()) -> None:
        """End the chunk, for operators that are not broken."""
        for operator in chain.settling:
            if operator not in broken:
                settle(operator, clock)

    def prime(self, known: set[Operator], clock: int) -> dict[Operator, Batch]:
        """Bring operators that are not ``known`` up to date with what their inputs still hold.

        Known operators with more output for them run first, by a chunk without rows that goes
        through them and all operators below and above them.
        """
        self._introduce(self)
        out: dict[Operator, Batch] = {}
        more: dict[Operator, Batch] = {}
        tick, awake = Tick(clock), self._around(self._with_more)
        for operator in self:
            if operator in known:
                if operator in awake:
                    inputs = [more[i] if i in more else out[i] for i in operator.inputs]
                    more[operator] = run(operator, inputs, tick)
                continue
            if not operator.inputs:
                out[operator] = operator.live(clock)
                continue
            inputs = [out[i] if i in out else i.live(clock) for i in operator.inputs]
            out[operator] = run(operator, inputs, tick, begins=True)
        self._with_more.clear()
        return out

    def _around(self, some: set[Operator]) -> set[Operator]:
        """Some operators, those above them, and all below these."""
        return set(in_order(self.above(some) if some else ()))

    def sweep(self) -> None:
        """Remove operators without consumers: the rest of a query that could not be added."""
        for node in reversed(list(self._nodes.values())):
            if node.uses == 0 and node.key in self._nodes:
                node.uses = 1
                self.release(node.operator)


def run(operator: Operator, batches: Sequence[Batch], tick: Tick, *, begins: bool = False) -> Batch:
    """``process`` of an operator, or ``begin``, counted."""
    work = operator.begin if begins else operator.process
    started = cpu_time()
    out = work(batches, tick)
    _counted(operator, batches, out, tick, started)
    return out


def _counted(
    operator: Operator, batches: Sequence[Batch], out: Batch, tick: Tick, started: float
) -> float:
    """Count a call of an operator that began at ``started``; returns the CPU time now."""
    now = cpu_time()
    operator.seconds += now - started
    operator.clock = tick.clock
    if operator.since is None:
        operator.since = tick.first_row
    for batch in batches:
        operator.rows_in += batch.ts.size
    operator.rows_out += out.ts.size
    return now


def _deliver(
    operator: Operator, batch: Batch, ends: Iterable[End], arrived: float, started: float
) -> float:
    """Pass the output of an operator to its ends, as ``_counted``."""
    for end in ends:
        end.collect(batch, arrived)
    now = cpu_time()
    operator.delivering_seconds += now - started
    return now


def settle(operator: Operator, clock: int) -> None:
    """``settle`` of an operator, counted."""
    started = cpu_time()
    operator.settle(clock)
    operator.settling_seconds += cpu_time() - started


def _nothing() -> None:
    """No call."""


def in_order(outputs: Iterable[Operator], *, probed: bool = True) -> list[Operator]:
    """The operators below these outputs, inputs first.

    Args:
        probed: whether to include inputs that an operator only probes for feedback. These depend on
            the order in which queries were added; the others are the same for the same queries.
    """
    found: dict[Operator, None] = {}

    def visit(operator: Operator) -> None:
        if operator not in found:
            for source in operator.inputs if probed else operator.sources:
                visit(source)
            found[operator] = None

    for output in outputs:
        visit(output)
    return list(found)


# -- the CPU time of a thread, read often --------------------------------
# The system takes 0.2 to 0.7 us to answer, and a call of an engine with one row asks ten times.

#: Seconds for which the time passes as the wall clock does.
_UNASKED_S: Final = 0.0005


class _Last(threading.local):
    cpu = 0.0
    wall = float("-inf")


_last: Final = _Last()


def cpu_time() -> float:
    """CPU seconds of this thread, right within half a millisecond after :func:`work_begins`."""
    passed = time.perf_counter() - _last.wall
    if passed < _UNASKED_S:
        return _last.cpu + passed
    _last.cpu = now = time.thread_time()
    _last.wall = time.perf_counter()
    return now


def work_begins() -> float:
    """The same, asked of the system: before, the thread may have waited."""
    _last.wall = float("-inf")
    return cpu_time()
