"""The expected load of plans: rates, live rows, memory, and utilisation.

Rates and active windows are those of Ayad and Naughton 2004, section 3.1 (equations 1 to 6), the
utilisation that of section 3.2; ``estimates`` and ``cost`` compute them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from eddyline.algebra.plan import Plan, StreamScan, TableScan
from eddyline.optimizer.cost import Cost, cost
from eddyline.optimizer.memory import bytes_of
from eddyline.optimizer.prices import TYPICAL, Prices
from eddyline.optimizer.statistics import Statistics
from eddyline.optimizer.stored import source_of, stored_scans


@dataclass(frozen=True)
class NodeLoad:
    """The expected output and load of one node.

    Attributes:
        rate: '+' rows per second. rows: live rows. nbytes: of its state. cores: its utilisation.
    """

    plan: Plan
    rate: float
    rows: float
    nbytes: float
    cores: float


@dataclass(frozen=True)
class Load:
    """The expected load of several plans.

    Attributes:
        nodes: of all plans, in the order of EXPLAIN, with equal sub-plans repeated.
        assumed: streams with guessed rates.
    """

    nodes: tuple[NodeLoad, ...]
    assumed: tuple[str, ...]

    @property
    def cores(self) -> float:
        """Utilisation in cores; equal sub-plans run once and count once."""
        return sum({n.plan: n.cores for n in self.nodes}.values())

    @property
    def nbytes(self) -> float:
        """Bytes of all state; a stream's rows are stored once, for its largest window."""
        scans: dict[str, float] = {}
        others: dict[Plan, float] = {}
        for node in self.nodes:
            if isinstance(node.plan, (StreamScan, TableScan)):
                name = source_of(node.plan)
                scans[name] = max(scans.get(name, 0.0), node.nbytes)
            else:
                others[node.plan] = node.nbytes
        return sum(scans.values()) + sum(others.values())


def load_of(plans: Iterable[Plan], statistics: Statistics, prices: Prices = TYPICAL) -> Load | None:
    """The load of plans that run as trees of operators; None if no rate of a stream is known."""
    plans = list(plans)
    nodes = [n for plan in plans for n in cost(plan, statistics, prices).nodes()]
    stored = stored_scans(plans)
    streams = dict.fromkeys(n.plan.stream for n in nodes if isinstance(n.plan, StreamScan))
    assumed = tuple(s for s in streams if s not in statistics.rates)
    if len(assumed) == len(streams):
        return None
    return Load(tuple(_node_load(n, stored) for n in nodes), assumed)


def _node_load(node: Cost, stored: set[StreamScan]) -> NodeLoad:
    nbytes = bytes_of(node.plan, node.estimate, [i.estimate for i in node.inputs])
    if isinstance(node.plan, StreamScan) and node.plan not in stored:
        nbytes = 0.0
    return NodeLoad(node.plan, node.estimate.rate, node.estimate.rows, nbytes, node.own)
