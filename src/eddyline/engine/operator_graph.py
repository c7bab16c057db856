"""The operators of an engine as the graph that the console draws."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, Final

from eddyline.algebra.nodes.scans import StreamScan
from eddyline.algebra.plan import Plan
from eddyline.console.plan_graph import Edge, Node, added, node_id, summarised
from eddyline.engine.locking import EngineLock
from eddyline.engine.query import Query
from eddyline.engine.wiring import Parts
from eddyline.runtime.footprint import nbytes_of
from eddyline.runtime.graph import End
from eddyline.runtime.operators.base import Operator
from eddyline.runtime.operators.stateless import Scan
from eddyline.sharing.signature import Signature

#: Operators whose counters are read while the engine is locked once.
_AT_A_TIME: Final = 100
#: Queries that are drawn as a node each, at most; others are one node per operator.
_MOST_QUERIES: Final = 40
#: Operators that pass rows of their first input on: joins that withhold some call them by its name.
_OF_FIRST: Final = ("Filter", "InputBuffer", "GatedRows")
#: Operators that pass rows on and are left out.
_PLAIN: Final = ("Project", "Spool")
_KINDS: Final = {
    "Filter": "filter",
    "Flow": "flow",
    "Distinct": "group",
    "Lookup": "join",
    "AsOfJoin": "join",
}


def operator_graph(
    parts: Parts, lock: EngineLock, *, sizes: bool = False
) -> tuple[list[Node], dict[str, set[str]]]:
    """The nodes as of now, summarised if there are many; and by id of the nodes with results, the
    names of the queries. The engine is not locked for long.

    Args:
        sizes: whether to measure the state of operators, which takes longer.
    """
    with lock:
        described = parts.queries.execution.graph.described()
        shedding = parts.shedding_report()
        streams, _ = parts.inputs.stats()
        known = parts.queries.all.now()
    found = _Found(shedding, streams, known)
    waiting = iter(described)
    while some := list(islice(waiting, _AT_A_TIME)):
        with lock:
            for key, operator, ends in some:
                found.add(key, operator, ends, sizes=sizes)
    nodes, drawn = summarised(added([found.nodes]))
    members: dict[str, set[str]] = {}
    for made, names in found.members.items():
        members.setdefault(drawn[made], set()).update(names)
    return nodes, members


class _Found:
    """Nodes of operators, which come inputs first.

    Attributes:
        nodes: so far. members: by id of those with results, the names of the queries.
    """

    def __init__(
        self,
        shedding: Mapping[str, Mapping[str, Any]],
        streams: Mapping[str, Mapping[str, int]],
        queries: Mapping[str, Query],
    ) -> None:
        self.nodes: list[Node] = []
        self.members: dict[str, set[str]] = {}
        self._shedding = shedding
        self._streams = streams
        self._queries = queries
        self._outputs: dict[Operator, list[Edge]] = {}  # the edges into those that read it
        self._stems: dict[str, str] = {}
        self._rows_of: dict[str, str] = {}  # by id: the stream or table whose rows a node passes on

    def add(self, key: Hashable, operator: Operator, ends: Sequence[End], *, sizes: bool) -> None:
        """Add an operator, and the queries that read its results."""
        stats = operator.stats()
        if isinstance(operator, Scan):
            self._outputs[operator] = [self._scanned(key, operator, sizes=sizes)]
        else:
            self._add_operator(key, operator, stats, sizes=sizes)
        if names := set().union(*(end.names for end in ends)):
            self._add_queries(operator, names)

    def _add_operator(
        self, key: Hashable, operator: Operator, stats: Mapping[str, Any], *, sizes: bool
    ) -> None:
        inputs = [e for i in operator.inputs for e in self._outputs[i]]
        name = str(stats["operator"])
        if name in _PLAIN and len(operator.inputs) == 1:
            rows = operator.rows_out
            self._outputs[operator] = [Edge(e.source, rows, e.label, e.waiting) for e in inputs]
            return
        waits: dict[str, int] = {}
        for gate in stats.get("feedback", ()):
            waits[gate["rows_of"]] = waits.get(gate["rows_of"], 0) + int(gate["waiting"])
        inputs = [
            replace(e, waiting=e.waiting + waits.pop(self._rows_of.get(e.source, ""), 0))
            for e in inputs
        ]
        label = _label(key)
        made = node_id(name, label, *(f"{e.source} {e.label}" for e in inputs))
        if name in _OF_FIRST and inputs[0].source in self._rows_of:
            self._rows_of[made] = self._rows_of[inputs[0].source]
        own = [*operator.inputs, *(operator.readers or ())]
        self.nodes.append(
            Node(
                made,
                _kind(name),
                _title(name, key),
                label,
                tuple(inputs),
                seconds=float(operator.cpu_seconds),
                kept=int(operator.kept()),
                state=nbytes_of(operator, own, used=True) if sizes else None,
            )
        )
        self._outputs[operator] = [Edge(made, operator.rows_out)]

    def _scanned(self, key: Hashable, scan: Scan, *, sizes: bool) -> Edge:
        """The edge from the SteM of a scan."""
        stem = scan.stem
        if stem.name not in self._stems:
            made = self._stems[stem.name] = node_id("stem", stem.name)
            self._rows_of[made] = stem.name
            counters = self._streams.get(stem.name)
            inputs: tuple[Edge, ...] = ()
            if counters is not None:
                inputs = (self._stream(stem.name, counters),)
            size = nbytes_of(stem, used=True) if sizes else None
            detail, kept = "SteM" if inputs else "table", len(stem)
            self.nodes.append(Node(made, "stem", stem.name, detail, inputs, kept=kept, state=size))
        return Edge(self._stems[stem.name], scan.rows_out, _window(key))

    def _stream(self, name: str, counters: Mapping[str, int]) -> Edge:
        made, shed = node_id("stream", name), self._shedding.get(name, {})
        self.nodes.append(
            Node(
                made,
                "stream",
                name,
                "stream",
                keep=float(shed.get("keep", 1.0)),
                dropped=int(counters["dropped"]),
                why=str(shed.get("why", "")),
            )
        )
        passed = counters["rows_in"] - counters["late"] - counters["bad"] - counters["dropped"]
        return Edge(made, int(passed))

    def _add_queries(self, operator: Operator, names: set[str]) -> None:
        inputs = tuple(self._outputs[operator])
        if len(self._queries) > _MOST_QUERIES and len(names) > 1:
            why = self._why(next(iter(names)))
            name, made = f"{len(names):,} queries", node_id("queries", *(e.source for e in inputs))
            several = Node(made, "query", name, "", inputs, queries=len(names), why=why)
            self.nodes.append(several)
            self.members[made] = names
            return
        for name in sorted(names):
            sink = self._queries[name].options.get("sink", "") if name in self._queries else ""
            made = node_id("query", name)
            detail = f"sink {sink}" if sink else ""
            why = self._why(name)
            self.members[made] = {name}
            self.nodes.append(Node(made, "query", name, detail, inputs, queries=1, why=why))

    def _why(self, name: str) -> str:
        return self._queries[name].why if name in self._queries else ""


def _plan_of(key: Hashable) -> Plan | Signature | None:
    """What an operator was made for."""
    waiting: list[Any] = [key]
    while waiting:
        thing = waiting.pop(0)
        if isinstance(thing, Plan | Signature):
            return thing
        if isinstance(thing, tuple):
            waiting = [*thing, *waiting]
    return None


def _label(key: Hashable) -> str:
    plan = _plan_of(key)
    if isinstance(plan, Signature):
        return ", ".join(_names(plan.sources))
    return "" if plan is None else plan.label


def _names(sources: Iterable[Plan]) -> list[str]:
    return [s.stream if isinstance(s, StreamScan) else type(s).__name__ for s in sources]


def _window(key: Hashable) -> str:
    plan = _plan_of(key)
    return str(plan.window) if isinstance(plan, StreamScan) else ""


def _title(name: str, key: Hashable) -> str:
    plan = _plan_of(key)
    if name == "Flow" and isinstance(plan, Signature):
        return "flow of joins" if len(plan.sources) > 1 else "flow of filters"
    return name


def _kind(name: str) -> str:
    if name in _KINDS:
        return _KINDS[name]
    if "Join" in name or name in ("Eddy",):
        return "join"
    return "group" if "Group" in name or name == "PerQuery" else "other"
