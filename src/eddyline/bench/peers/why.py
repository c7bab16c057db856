"""Why a peer is faster: a sentence for each kind of case and peer in which that has been seen."""

from __future__ import annotations

from typing import Final

_OFFLINE: Final = (
    "it has all rows before it begins: it sorts and hashes whole columns, keeps no state between "
    "calls and tells no instants"
)

#: By kind of case and name of the peer.
WHY: Final[dict[tuple[str, str], str]] = {
    **{
        (kind, "duckdb"): _OFFLINE
        for kind in (
            "join",
            "chain",
            "star",
            "cycle",
            "groups",
            "over",
            "distinct",
            "absent",
            "rules",
            "queries",
        )
    },
    ("groups", "differential"): (
        "a change is an addition to a sorted run of (key, count, sum): it keeps no rows, since the "
        "program itself gives each row again when it leaves, and has no snapshot of the window"
    ),
    ("distinct", "differential"): (
        "it keeps a count per value; the program itself gives each row again when it leaves"
    ),
    ("absent", "differential"): "all of it is compiled, and a call has no fixed cost",
    ("rules", "differential"): (
        "the rules are a compiled loop, over those of a cell of a grid laid for just these rules; "
        "none can be added, and a result has no expiry"
    ),
    ("queries", "differential"): (
        "the program is written for these queries: one join, then a compiled loop over their "
        "windows and limits, to which none can be added"
    ),
    ("join", "differential"): (
        "with few rows a call it has no fixed cost of a call in Python and Arrow: all of it is "
        "compiled"
    ),
    ("chain", "differential"): (
        "each composite is kept sorted by its next key, and a call has no fixed cost"
    ),
    ("cycle", "differential"): (
        "a call has no fixed cost, and pairs that no third row closes are tuples of numbers"
    ),
    ("star", "differential"): "a call has no fixed cost, and the program is written for this join",
    ("star", "esper"): "an event is a method call, while a call of the engine has a fixed cost",
    ("join", "esper"): (
        "it is made for single events: an event is a method call, while a call of the engine has a "
        "fixed cost of many events"
    ),
    ("over", "differential"): (
        "it keeps counts and sums and no rows, since the program itself gives each row again when "
        "it leaves; the engine keeps the rows of each frame"
    ),
    ("over", "esper"): "an event is a method call, while a call of the engine has a fixed cost",
    ("join", "bytewax"): (
        "a row is a call of a Python function, while a call of the engine has a fixed cost of many"
    ),
    ("join", "flink"): "a row is a method call, while a call of the engine has a fixed cost",
    ("rules", "flink"): (
        "a filter has no window and no expiry, and the rules are a compiled function over a grid "
        "laid for just these"
    ),
    ("rules", "esper"): "a filter has no window and no expiry, and an event is a method call",
    ("groups", "esper"): "an event is a method call, while a call of the engine has a fixed cost",
    ("distinct", "esper"): "an event is a method call, while a call of the engine has a fixed cost",
    ("queries", "esper"): "an event is a method call, while a call of the engine has a fixed cost",
    ("chain", "esper"): "an event is a method call, while a call of the engine has a fixed cost",
}
UNKNOWN: Final = "no reason is known yet"


def why(kind: str, peer: str) -> str:
    """The sentence."""
    return WHY.get((kind, peer), UNKNOWN)
