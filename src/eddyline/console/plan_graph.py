"""The running plan as a graph: streams, SteMs, operators and queries, with their counters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from hashlib import blake2s
from typing import Any, Final

#: Nodes of a drawn graph, at most; beyond that equal parts of the plan become one node.
MOST_NODES: Final = 80


@dataclass(frozen=True)
class Edge:
    """Rows that go from a node to another one.

    Attributes:
        source: id of the node that they come from. rows: so far.
        label: the window that they pass, or empty.
        waiting: rows that are suspended before the other node until they have matches.
    """

    source: str
    rows: int
    label: str = ""
    waiting: int = 0


@dataclass(frozen=True)
class Node:
    """A part of the running plan.

    Attributes:
        id: the same as long as the part runs, and in all shards.
        kind: ``stream``, ``stem``, ``filter``, ``join``, ``group``, ``flow``, ``query``, or
            ``other``. name: what it is called. detail: its conditions, for instance.
        inputs: where its rows come from.
        seconds: CPU time so far. kept: rows that it keeps. state: bytes, None: not known.
        queries: number of queries that read it. count: number of parts that this node stands for.
        keep: the share of the rows to come that a drop box keeps; 1: all. dropped: rows so far.
        why: why it runs as it does, or empty.
    """

    id: str
    kind: str
    name: str
    detail: str = ""
    inputs: tuple[Edge, ...] = ()
    seconds: float = 0.0
    kept: int = 0
    state: int | None = None
    queries: int = 0
    count: int = 1
    keep: float = 1.0
    dropped: int = 0
    why: str = ""

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)

    @classmethod
    def of(cls, fields: Mapping[str, Any]) -> Node:
        """The node of ``as_dict``."""
        return cls(**{**fields, "inputs": tuple(Edge(**e) for e in fields["inputs"])})


def node_id(*parts: object) -> str:
    """A short id that depends on all parts."""
    return blake2s("\n".join(map(str, parts)).encode(), digest_size=6).hexdigest()


def added(graphs: Iterable[Iterable[Node]]) -> list[Node]:
    """The nodes of all shards, or of equal parts: counters of one id are added."""
    found: dict[str, Node] = {}
    for node in (node for graph in graphs for node in graph):
        known = found.get(node.id)
        found[node.id] = node if known is None else _sum(known, node)
    return list(found.values())


def _sum(a: Node, b: Node) -> Node:
    sizes = [n.state for n in (a, b) if n.state is not None]
    return replace(
        a,
        inputs=_joined([*a.inputs, *b.inputs]),
        seconds=a.seconds + b.seconds,
        kept=a.kept + b.kept,
        state=sum(sizes) if sizes else None,
        queries=max(a.queries, b.queries),
        keep=min(a.keep, b.keep),
        dropped=a.dropped + b.dropped,
    )


def _joined(edges: Iterable[Edge]) -> tuple[Edge, ...]:
    """Edges from one node with one label are one."""
    found: dict[tuple[str, str], Edge] = {}
    for edge in edges:
        key = edge.source, edge.label
        known = found.get(key)
        if known is not None:
            rows, waiting = known.rows + edge.rows, known.waiting + edge.waiting
            edge = replace(edge, rows=rows, waiting=waiting)
        found[key] = edge
    return tuple(found.values())


def summarised(
    nodes: Sequence[Node], most: int = MOST_NODES
) -> tuple[list[Node], Mapping[str, str]]:
    """A graph of at most about ``most`` nodes: nodes of one kind over equal inputs become one, and
    so on upwards. Flows and streams stay.

    Returns:
        The nodes, and by id of each former node, that of the node that stands for it.
    """
    if len(nodes) <= most:
        return _with_readers(nodes), {node.id: node.id for node in nodes}
    groups: dict[str, str] = {}  # id -> id of the node that stands for it
    found: dict[str, list[Node]] = {}
    for node in in_order(nodes):
        edges = _joined(replace(e, source=groups[e.source], label="") for e in node.inputs)
        own = node.id if node.kind in ("stream", "stem", "flow") else ""
        group = own or node_id(node.kind, *sorted(e.source for e in edges))
        groups[node.id] = group
        found.setdefault(group, []).append(replace(node, id=group, inputs=edges))
    return _with_readers([_together(each) for each in found.values()]), groups


def _with_readers(nodes: Sequence[Node]) -> list[Node]:
    """The nodes with the number of queries that read them."""
    readers: dict[str, int] = {}
    for node in nodes:
        if node.kind == "query":
            for name in below(nodes, [node.id]) - {node.id}:
                readers[name] = readers.get(name, 0) + node.queries
    return [n if n.kind == "query" else replace(n, queries=readers.get(n.id, 0)) for n in nodes]


def _together(nodes: Sequence[Node]) -> Node:
    """One node for several of a kind."""
    if len(nodes) == 1:
        return nodes[0]
    (whole,) = added([nodes])
    first, count = nodes[0], sum(n.count for n in nodes)
    what = "queries" if first.kind == "query" else f"x {first.name}"
    queries = sum(n.queries for n in nodes)
    return replace(whole, name=f"{count:,} {what}", detail="", count=count, queries=queries)


def in_order(nodes: Iterable[Node]) -> Iterator[Node]:
    """The nodes, inputs first."""
    by_id = {node.id: node for node in nodes}
    done: set[str] = set()
    waiting = list(reversed(list(by_id)))
    while waiting:
        name = waiting[-1]
        missing = [
            e.source for e in by_id[name].inputs if e.source not in done and e.source in by_id
        ]
        if missing and name not in done:
            waiting += missing
            continue
        waiting.pop()
        if name not in done:
            done.add(name)
            yield by_id[name]


def below(nodes: Iterable[Node], some: Iterable[str]) -> set[str]:
    """The ids of some nodes and of all that their rows come from."""
    inputs = {node.id: [e.source for e in node.inputs] for node in nodes}
    found: set[str] = set()
    waiting = [name for name in some if name in inputs]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += inputs.get(name, [])
    return found


@dataclass
class Placed:
    """A node, and where it is drawn: its column from the left, its row from the top."""

    node: Node
    column: int
    row: float = field(default=0.0)


def placed(nodes: Sequence[Node]) -> list[Placed]:
    """Columns by the longest way from a stream; rows so that edges are short."""
    found: dict[str, Placed] = {}
    for node in in_order(nodes):
        left = [found[e.source].column for e in node.inputs if e.source in found]
        found[node.id] = Placed(node, max(left, default=int(node.kind == "stem") - 1) + 1)
    last = max((p.column for p in found.values()), default=0)
    for place in found.values():
        if place.node.kind == "query":  # results stand below each other
            place.column = last
    readers: dict[str, list[str]] = {}
    for node in nodes:
        for edge in node.inputs:
            readers.setdefault(edge.source, []).append(node.id)
    columns = [[p for p in found.values() if p.column == c] for c in range(last + 1)]
    _number(columns)
    for _ in range(4):
        for column in columns[1:]:
            _sort(column, {p.node.id: [e.source for e in p.node.inputs] for p in column}, found)
        for column in reversed(columns[:-1]):
            _sort(column, {p.node.id: readers.get(p.node.id, []) for p in column}, found)
    return list(found.values())


def _number(columns: Sequence[Sequence[Placed]]) -> None:
    tallest = max(map(len, columns), default=0)
    for column in columns:
        first = (tallest - len(column)) / 2
        for row, place in enumerate(column):
            place.row = first + row


def _sort(
    column: list[Placed], near: Mapping[str, Sequence[str]], found: Mapping[str, Placed]
) -> None:
    """Order a column by the mean row of the nodes beside it."""

    def wanted(place: Placed) -> float:
        rows = [found[name].row for name in near[place.node.id] if name in found]
        return sum(rows) / len(rows) if rows else place.row

    rows = sorted(place.row for place in column)
    column.sort(key=wanted)
    for place, row in zip(column, rows, strict=True):
        place.row = row
