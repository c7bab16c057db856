"""Prefetching cache lines.

With windows of millions of rows every step along a chain is a cache miss. The steps of different
probes do not depend on each other, so they can wait for memory together: measured with a window of
1 M rows, a probe takes a quarter of the time.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

#: Number of steps to prefetch ahead.
AHEAD = 16

_READ, _KEEP, _DATA = 0, 3, 1


def _prefetch(typing_context: Any, array: Any, row: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = signature.args[0]
        held = context.make_array(kind)(context, builder, args[0])
        first = context.get_constant(types.intp, 0)
        place = [args[1]] + [first] * (kind.ndim - 1)
        pointer = cgutils.get_item_pointer(context, builder, kind, held, place, wraparound=False)
        pointer = builder.bitcast(pointer, cgutils.voidptr_t)
        number = ir.IntType(32)
        shape = ir.FunctionType(ir.VoidType(), [pointer.type, number, number, number])
        fetch = cgutils.get_or_insert_function(builder.module, shape, "llvm.prefetch.p0")
        builder.call(fetch, [pointer, number(_READ), number(_KEEP), number(_DATA)])
        return context.get_dummy_value()

    return types.void(array, types.intp), generate


#: ``prefetch(array, row)`` fetches the line of ``array[row]`` or ``array[row, 0]``. Any row is
#: allowed: nothing is read.
prefetch: Any = intrinsic(_prefetch)
