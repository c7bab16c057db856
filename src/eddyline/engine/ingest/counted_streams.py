"""Counted streams: an engine with a part of a stream's rows knows where these stand among all rows.

``[ROWS n]`` holds the last n rows of the whole stream. An engine that has some of them only is told
the event times of the others (``ROLE`` of ``row_reader.py``). They are stored like its own rows, in
the order of the stream, so that windows count them. The hidden column ``OWN_ROW`` tells them apart:
every plan drops them right above the window, before another predicate is evaluated.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from eddyline.algebra.expressions import ColumnRef
from eddyline.algebra.plan import OWN_ROW, Filter, Plan, Project, StreamScan
from eddyline.optimizer.traversal import bottom_up
from eddyline.sql.stack import with_stack


def over_own_rows(plan: Plan, counted: Collection[str]) -> Plan:
    """The plan over the engine's own rows of counted streams, with the columns that it had."""
    if not counted:
        return plan

    def changed(node: Plan) -> Plan:
        if not isinstance(node, StreamScan) or node.stream not in counted:
            return node
        columns = tuple(ColumnRef(f.type, i, f.name) for i, f in enumerate(node.fields))
        names = tuple(f.name for f in node.fields)
        is_own = ColumnRef(OWN_ROW.type, len(columns), OWN_ROW.name)
        stored = replace(node, fields=(*node.fields, OWN_ROW))
        return Project(Filter(stored, is_own), columns, names)

    return with_stack(lambda: bottom_up(plan, changed))
