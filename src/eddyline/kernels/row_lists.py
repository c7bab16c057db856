"""Lists of rows, each read by windows of different lengths.

An entry of a list is a row number and the number of the row's group in this list (its *spot*),
int32[2]. Entries are in blocks of ``BLOCK``, which are linked; a list has at least one block. A
window has a *head*, the block and the place in it of the oldest entry that it holds; it holds all
entries from there on. A list is in the order of time.

The groups of a window are *cells*: those of window w of a list are ``region + place[w] * capacity``
and the following ones, one per spot.
"""

from __future__ import annotations

import numpy as np

from eddyline.kernels.hashing import mix
from eddyline.kernels.options import bare, kernel
from eddyline.types import FOREVER

BLOCK = 64
#: The end of the blocks of a list, and of the free spots of one.
NONE = -1
#: A row of a list's table: its first and last block, the number of entries in the last one, its
#: cells' region and capacity, the end of its spots, the first free one below that, and the number
#: of those that are not free.
FIRST, LAST, FILL, REGION, CAPACITY, END, FREE, USED = range(8)
LIST_COLUMNS = 8
#: A row of a window's table: its list, length in microseconds, place in the list's region, head,
#: and when the oldest row that it holds expires.
LIST, LENGTH, PLACE, HEAD, OFFSET, DUE = range(6)
WINDOW_COLUMNS = 6
#: What a window has passed since a call: the block and place where it began, and how many entries.
SPAN_COLUMNS = 3


@kernel
def received(rows: np.ndarray, starts: np.ndarray, list_of: np.ndarray, n: int) -> np.ndarray:
    """bool[n]: the rows that enter a list; arguments as of ``pair_hashes``."""
    out = np.zeros(n, np.bool_)
    for q in range(starts.size - 1):
        if list_of[q] != NONE:
            for i in range(starts[q], starts[q + 1]):
                out[rows[i]] = True
    return out


@kernel
def pair_hashes(
    rows: np.ndarray, starts: np.ndarray, list_of: np.ndarray, group: np.ndarray
) -> np.ndarray:
    """int64[p]: of list and group, equal only if both are.

    Args:
        rows, starts: the rows of each query, as of ``Recipients``. list_of: int64 by query, the
            list that they enter, or NONE. group: int64[n] by row.
    """
    out = np.empty(rows.size, np.int64)
    p = 0
    for q in range(starts.size - 1):
        if list_of[q] != NONE:
            for i in range(starts[q], starts[q + 1]):
                out[p] = mix((list_of[q] << 32) | group[rows[i]])
                p += 1
    return out[:p]


@kernel
def claims_by_list(
    claims: np.ndarray, starts: np.ndarray, list_of: np.ndarray, lists: int
) -> tuple[np.ndarray, np.ndarray]:
    """int64[k], the list of the pairs with these numbers (ascending); int64[lists], how many."""
    owner = np.empty(claims.size, np.int64)
    count = np.zeros(lists, np.int64)
    at, p = 0, 0
    for q in range(starts.size - 1):
        if list_of[q] == NONE:
            continue
        p += starts[q + 1] - starts[q]
        while at < claims.size and claims[at] < p:
            owner[at] = list_of[q]
            count[list_of[q]] += 1
            at += 1
    return owner, count


@kernel
def pair_rows(
    rows: np.ndarray, starts: np.ndarray, list_of: np.ndarray, pairs: np.ndarray
) -> np.ndarray:
    """int64[k], the rows of the pairs with these numbers (ascending)."""
    out = np.empty(pairs.size, np.int64)
    at, p = 0, 0
    for q in range(starts.size - 1):
        if list_of[q] != NONE:
            while at < pairs.size and pairs[at] < p + starts[q + 1] - starts[q]:
                out[at] = rows[starts[q] + pairs[at] - p]
                at += 1
            p += starts[q + 1] - starts[q]
    return out


@kernel
def claim_spots(
    owner: np.ndarray,
    node: np.ndarray,
    group: np.ndarray,
    lists: np.ndarray,
    spot_of: np.ndarray,
    spot_node: np.ndarray,
    spot_group: np.ndarray,
) -> None:
    """Give new (list, group) pairs a spot; their lists have room.

    Args:
        owner, node, group: int64[k], the list, the number of the pair, the group.
        spot_of: by pair. spot_node, spot_group: by region + spot; the node of a free spot is the
            next free one.
    """
    for i in range(owner.size):
        mine = lists[owner[i]]
        spot = mine[FREE]
        if spot == NONE:
            spot = mine[END]
            mine[END] += 1
        else:
            mine[FREE] = spot_node[mine[REGION] + spot]
        mine[USED] += 1
        spot_of[node[i]] = spot
        spot_node[mine[REGION] + spot] = node[i]
        spot_group[mine[REGION] + spot] = group[i]


@kernel
def append(
    rows: np.ndarray,
    starts: np.ndarray,
    list_of: np.ndarray,
    numbers: np.ndarray,
    nodes: np.ndarray,
    spot_of: np.ndarray,
    lists: np.ndarray,
    entries: np.ndarray,
    next_block: np.ndarray,
    blocks: np.ndarray,
    uses: np.ndarray,
    spot_rows: np.ndarray,
) -> tuple[int, np.ndarray]:
    """Append rows to lists.

    Args:
        rows, starts, list_of: as of ``pair_hashes``. numbers: int64[n], the row numbers.
        nodes: int64[p], the number of each (list, group) pair. blocks: free ones, enough of them.
        uses: int64 by row number, in how many lists it is. spot_rows: by region + spot, the number
            of rows.

    Returns:
        How many blocks were taken; and by list int64[lists, 3]: where the new entries begin, and
        how many they are.
    """
    spans = np.zeros((lists.shape[0], SPAN_COLUMNS), np.int64)
    taken, p = 0, 0
    for q in range(starts.size - 1):
        number = list_of[q]
        if number == NONE or starts[q] == starts[q + 1]:
            continue
        last, fill = lists[number, LAST], lists[number, FILL]
        spans[number, 0], spans[number, 1] = last, fill
        spans[number, 2] = starts[q + 1] - starts[q]
        region = lists[number, REGION]
        for i in range(starts[q], starts[q + 1]):
            if fill == BLOCK:
                next_block[last] = blocks[taken]
                last, fill = blocks[taken], 0
                next_block[last] = NONE
                taken += 1
            row = numbers[rows[i]]
            uses[row] += 1
            entries[last * BLOCK + fill, 0] = row
            spot = spot_of[nodes[p]]
            entries[last * BLOCK + fill, 1] = spot
            spot_rows[region + spot] += 1
            fill += 1
            p += 1
        lists[number, LAST], lists[number, FILL] = last, fill
    return taken, spans


@bare
def distance(block: int, at: int, last_block: int, last_at: int, next_block: np.ndarray) -> int:
    """Number of entries from one place of a list to a later one."""
    count = 0
    while block != last_block:
        count += BLOCK - at
        block, at = next_block[block], 0
    return count + last_at - at


@kernel
def advance(
    clock: int,
    chosen: np.ndarray,
    windows: np.ndarray,
    lists: np.ndarray,
    grown: np.ndarray,
    entries: np.ndarray,
    next_block: np.ndarray,
    row_ts: np.ndarray,
    spans: np.ndarray,
) -> int:
    """Move the heads of windows behind what expires by ``clock``.

    Args:
        chosen: int64[k], windows. grown: int64 by list, whether it has new entries.
        spans: int64[windows, 3], gets what each has passed.

    Returns:
        The number of entries passed by all.
    """
    total = 0
    for w in chosen:
        mine = windows[w]
        number = mine[LIST]
        spans[w, 0], spans[w, 1], spans[w, 2] = mine[HEAD], mine[OFFSET], 0
        if mine[DUE] > clock and not (mine[DUE] == FOREVER and grown[number]):
            continue
        last = lists[number, LAST]
        limit = clock - mine[LENGTH]
        block, at, passed = mine[HEAD], mine[OFFSET], 0
        while True:
            end = lists[number, FILL] if block == last else BLOCK
            first = block * BLOCK
            if at < end and row_ts[entries[first + end - 1, 0]] <= limit:
                passed += end - at
                at = end
            while at < end and row_ts[entries[first + at, 0]] <= limit:
                at += 1
                passed += 1
            if at < end:
                mine[DUE] = row_ts[entries[first + at, 0]] + mine[LENGTH]
                break
            if block == last:
                mine[DUE] = FOREVER
                break
            block, at = next_block[block], 0
        mine[HEAD], mine[OFFSET] = block, at
        spans[w, 2] = passed
        total += passed
    return total


@bare
def _free_blocks(
    of: np.ndarray, head: int, next_block: np.ndarray, free: np.ndarray, count: int
) -> int:
    """Take the blocks of a list before ``head`` out; returns how many are free now."""
    block = of[FIRST]
    while block != head:
        free[count] = block
        count += 1
        block = next_block[block]
    of[FIRST] = block
    return count


@kernel
def leave(
    chosen: np.ndarray,
    spans: np.ndarray,
    windows: np.ndarray,
    lists: np.ndarray,
    entries: np.ndarray,
    next_block: np.ndarray,
    uses: np.ndarray,
    spot_rows: np.ndarray,
    spot_node: np.ndarray,
    spot_group: np.ndarray,
    keeps: bool,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Remove from lists what their longest windows have passed.

    A spot without rows is free, unless spots are kept: rows with the same groups follow.
    ``spot_group`` of a free spot is NONE.

    Args:
        chosen: int64[k], the longest windows. spans: as of ``advance``.
        keeps: whether spots are kept.

    Returns:
        int64 each: rows that no list has any more, (list, group) pairs without rows, free blocks.
    """
    total, blocks = 0, 0
    for w in chosen:
        total += spans[w, 2]
        blocks += spans[w, 2] // BLOCK + 1
    rows = np.empty(total, np.int64)
    nodes = np.empty(total, np.int64)
    free = np.empty(blocks, np.int64)
    row_count, node_count, block_count = 0, 0, 0
    for w in chosen:
        mine = windows[w]
        number = mine[LIST]
        region = lists[number, REGION]
        block, at, left = spans[w, 0], spans[w, 1], spans[w, 2]
        while left:
            count = min(left, BLOCK - at)
            for e in range(block * BLOCK + at, block * BLOCK + at + count):
                row, spot = entries[e, 0], entries[e, 1]
                uses[row] -= 1
                if uses[row] == 0:
                    rows[row_count] = row
                    row_count += 1
                spot_rows[region + spot] -= 1
                if spot_rows[region + spot] == 0 and not keeps:
                    nodes[node_count] = spot_node[region + spot]
                    node_count += 1
                    spot_group[region + spot] = NONE
                    spot_node[region + spot] = lists[number, FREE]
                    lists[number, FREE] = spot
                    lists[number, USED] -= 1
            left -= count
            at += count
            if left:
                block, at = next_block[block], 0
        block_count = _free_blocks(lists[number], mine[HEAD], next_block, free, block_count)
    return rows[:row_count].copy(), nodes[:node_count].copy(), free[:block_count].copy()


@kernel
def named(
    cells: np.ndarray,
    window_of: np.ndarray,
    windows: np.ndarray,
    lists: np.ndarray,
    spot_group: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """int64[n] windows and groups of cells.

    Args:
        window_of: by cell. spot_group: by region + spot.
    """
    window = np.empty(cells.size, np.int64)
    group = np.empty(cells.size, np.int64)
    for i in range(cells.size):
        w = window_of[cells[i]]
        window[i] = w
        group[i] = spot_group[cells[i] - windows[w, PLACE] * lists[windows[w, LIST], CAPACITY]]
    return window, group


@kernel
def moved(block: int, at: int, count: int, next_block: np.ndarray) -> tuple[int, int]:
    """The block and the place ``count`` entries later."""
    at += count
    while at > BLOCK:
        block, at = next_block[block], at - BLOCK
    return block, at


@kernel
def held(
    cells: int,
    block: int,
    at: int,
    count: int,
    entries: np.ndarray,
    next_block: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """int64[count] each: the cells, of which the first is ``cells``, and the row numbers of entries
    from a block and a place on.
    """
    cell = np.empty(count, np.int64)
    row = np.empty(count, np.int64)
    for m in range(count):
        if at == BLOCK:
            block, at = next_block[block], 0
        cell[m] = cells + entries[block * BLOCK + at, 1]
        row[m] = entries[block * BLOCK + at, 0]
        at += 1
    return cell, row
