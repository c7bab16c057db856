"""Which rows have another frame, when rows of their partition have come and gone."""

from __future__ import annotations

import numpy as np

from eddyline.kernels.framed_rows import OWN, RANGE, ROWS, Bounds, first_from, last_to
from eddyline.kernels.heaps import NO_NODE, Values
from eddyline.kernels.options import bare, kernel
from eddyline.kernels.ordered_rows import State
from eddyline.kernels.treaps import TOTAL, following, preceding, rank_of


@bare
def touch(touched: np.ndarray, touches: int, slot: int, row: int, value: int, comes: bool) -> int:
    """Note where a row has come, or in front of which one it has left (NO_NODE: at the end); how
    many notes there are then. ``value``: the number of that of its ORDER BY.
    """
    touched[touches, 0] = slot
    touched[touches, 1] = row
    touched[touches, 2] = value
    touched[touches, 3] = 1 if comes else 0
    return touches + 1


@kernel
def changed_places(
    touched: np.ndarray, f: int, bounds: Bounds, state: State, values: Values
) -> np.ndarray:
    """int64[k, 3]: partitions, and the first and the last place of rows whose frame may have
    changed; no place is in two of them. All that is noted has happened.
    """
    found = np.empty((2 * touched.shape[0], 3), np.int64)
    k = 0
    for t in range(touched.shape[0]):
        s, row, value, comes = touched[t, 0], touched[t, 1], touched[t, 2], touched[t, 3] == 1
        root = state.root[s]
        if root == NO_NODE:
            continue
        there = row != NO_NODE and state.rows[row].slot == s
        if not there and (comes or (row != NO_NODE and bounds.unit[f] == ROWS)):
            continue  # noted again when that row left
        total = state.links[root, TOTAL]
        place = rank_of(row, state.occurrences, state.links) if there else total
        if bounds.unit[f] == ROWS:
            low, high = _near(place, comes, f, bounds)
        elif bounds.unit[f] == RANGE:
            low, high = _of_value(root, value, f, bounds, state, values)
        else:
            low, high = _of_group(root, value, f, bounds, state, values)
        if comes and not low <= place <= high:
            found[k, 0], found[k, 1], found[k, 2] = s, place, place
            k += 1
        low, high = max(low, 0), min(high, total - 1)
        if low <= high:
            found[k, 0], found[k, 1], found[k, 2] = s, low, high
            k += 1
    return found[:k] if k < 2 else _apart(found[:k])


@kernel
def _apart(places: np.ndarray) -> np.ndarray:
    """The same places, each once."""
    order = np.argsort(places[:, 1], kind="mergesort")
    order = order[np.argsort(places[order, 0], kind="mergesort")]
    out = np.empty_like(places)
    k = -1
    for i in order:
        s, low, high = places[i, 0], places[i, 1], places[i, 2]
        if k >= 0 and out[k, 0] == s and low <= out[k, 2] + 1:
            out[k, 2] = max(out[k, 2], high)
            continue
        k += 1
        out[k, 0], out[k, 1], out[k, 2] = s, low, high
    return out[: k + 1]


@bare
def _near(place: int, comes: bool, f: int, bounds: Bounds) -> tuple[int, int]:
    """Of ROWS: around the place of a row that has come, or in front of which one has left."""
    low, high = 0, np.iinfo(np.int64).max
    if bounds.ends[f]:
        low = place - max(bounds.end[f], 0)
    if bounds.begins[f]:
        high = place + max(-bounds.start[f], 0)
        if not comes:
            high -= 1
    return low, high


@bare
def _of_value(
    root: int, value: int, f: int, bounds: Bounds, state: State, values: Values
) -> tuple[int, int]:
    """Of RANGE: the rows in whose frame a value is."""
    low, high = 0, np.iinfo(np.int64).max
    rows, arguments, links = state.rows, state.arguments, state.links
    if bounds.ends[f]:
        first = first_from(root, value, bounds.high[f], rows, arguments, links, values)
        low = links[root, TOTAL] if first == NO_NODE else rank_of(first, state.occurrences, links)
    if bounds.begins[f]:
        last = last_to(root, value, bounds.low[f], rows, arguments, links, values)
        high = -1 if last == NO_NODE else rank_of(last, state.occurrences, links)
    return low, high


@bare
def _of_group(
    root: int, value: int, f: int, bounds: Bounds, state: State, values: Values
) -> tuple[int, int]:
    """Of GROUPS: the groups near that of a value, or near the place where it was."""
    low, high = 0, np.iinfo(np.int64).max
    rows, arguments, links = state.rows, state.arguments, state.links
    first = first_from(root, value, OWN, rows, arguments, links, values)
    there = first != NO_NODE and rows[first].peer == value
    if bounds.ends[f]:
        behind = max(bounds.end[f], 0)
        r = first
        if r == NO_NODE and behind:
            r, behind = last_to(root, value, OWN, rows, arguments, links, values), behind - 1
        r = NO_NODE if r == NO_NODE else first_of_groups(r, -behind, state, values)
        low = links[root, TOTAL] if r == NO_NODE else rank_of(r, state.occurrences, links)
    if bounds.begins[f]:
        before = max(-bounds.start[f], 0)
        r = first
        if not there:
            r = last_to(root, value, OWN, rows, arguments, links, values)
            if r == NO_NODE and first != NO_NODE and before:
                r, before = first, before - 1
        r = NO_NODE if r == NO_NODE else last_of_groups_to(r, before, state, values)
        high = -1 if r == NO_NODE else rank_of(r, state.occurrences, links)
    return low, high


@bare
def first_of_groups(r: int, groups: int, state: State, values: Values) -> int:
    """The first row of the group that many behind the group of a row, or before it, which is the
    first group if there are fewer; NO_NODE behind all.
    """
    root, links = state.root[state.rows[r].slot], state.links
    rows, arguments = state.rows, state.arguments
    if groups > 0:
        last = last_of_groups(r, groups - 1, state, values)
        return NO_NODE if last == NO_NODE else following(last, links)
    first = first_from(root, rows[r].peer, OWN, rows, arguments, links, values)
    for _ in range(-groups):
        before = preceding(first, links)
        if before == NO_NODE:
            break
        first = first_from(root, rows[before].peer, OWN, rows, arguments, links, values)
    return first


@bare
def last_of_groups_to(r: int, groups: int, state: State, values: Values) -> int:
    """The last row of the group that many behind the group of a row, which is the last group if
    there are fewer.
    """
    root, links = state.root[state.rows[r].slot], state.links
    rows, arguments = state.rows, state.arguments
    last = last_to(root, rows[r].peer, OWN, rows, arguments, links, values)
    for _ in range(groups):
        behind = following(last, links)
        if behind == NO_NODE:
            break
        last = last_to(root, rows[behind].peer, OWN, rows, arguments, links, values)
    return last


@bare
def last_of_groups(r: int, groups: int, state: State, values: Values) -> int:
    """The last row of the group that many behind the group of a row, which is the last group if
    there are fewer, or before it; NO_NODE before all.
    """
    if groups >= 0:
        return last_of_groups_to(r, groups, state, values)
    root, links = state.root[state.rows[r].slot], state.links
    rows, arguments = state.rows, state.arguments
    first = first_from(root, rows[r].peer, OWN, rows, arguments, links, values)
    for i in range(-groups):
        before = preceding(first, links)
        if before == NO_NODE or i == -groups - 1:
            return before
        first = first_from(root, rows[before].peer, OWN, rows, arguments, links, values)
    return first
