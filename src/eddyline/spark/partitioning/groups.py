"""Groups: the streams and changing tables that queries have in common.

Each group has a separate watermark and separate engines, so streams of different groups do not
hold back each other's watermark.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping


def connected(queries: Mapping[str, frozenset[str]]) -> list[tuple[frozenset[str], list[str]]]:
    """The groups: (streams and tables, names of the queries over them), ordered by first query.

    Args:
        queries: by name of a query, the streams and changing tables that it reads; at least one.

    >>> connected({"q": frozenset("ab"), "r": frozenset("c"), "s": frozenset("bd")})[0][1]
    ['q', 's']
    """
    groups: list[tuple[set[str], list[str]]] = []
    for name, streams in queries.items():
        touched = [g for g in groups if g[0] & streams]
        if touched:
            first = touched[0]
            for other in touched[1:]:
                first[0].update(other[0])
                first[1].extend(other[1])
                groups.remove(other)
        else:
            first = (set(), [])
            groups.append(first)
        first[0].update(streams)
        first[1].append(name)
    return [(frozenset(s), names) for s, names in groups]


def cores_by_group(
    count: int, partitions: int, cores: int, capacity: float | None = None
) -> list[float]:
    """CPU cores of the engine of each of ``count`` groups.

    An engine runs in one thread; engines of one partition run one after the other.

    Args:
        cores: available for tasks. capacity: cores for all engines together, divided evenly; by
            default as many as they can use.

    >>> cores_by_group(1, 8, 8), cores_by_group(3, 2, 8), cores_by_group(2, 2, 1)
    ([1.0], [0.5, 1.0, 0.5], [0.5, 0.5])
    """
    groups = Counter(group % partitions for group in range(count))  # by partition
    of_partition = min(1.0, cores / max(len(groups), 1))
    usable = [of_partition / groups[group % partitions] for group in range(count)]
    return usable if capacity is None else [min(u, capacity / count) for u in usable]
