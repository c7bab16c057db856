"""Evaluation of users' functions: their arguments in the form they want, their results checked.

A function sees the rows of a chunk and must compute each from its own arguments alone: which rows
come together depends on how the data arrived.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any, Final

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from eddyline.algebra.functions.user_defined import FunctionKind, UserCall, UserFunction
from eddyline.errors import DataError
from eddyline.physical.expressions.kernel import Datum, Kernel, as_arrays
from eddyline.types import sql_type

#: Pandas types that hold every value and tell NULL from NaN; what a column's type is must not
#: depend on whether there happens to be a NULL in the chunk.
_PANDAS_TYPES: Final = {
    pa.bool_(): pd.BooleanDtype(),
    pa.int8(): pd.Int8Dtype(),
    pa.int16(): pd.Int16Dtype(),
    pa.int32(): pd.Int32Dtype(),
    pa.int64(): pd.Int64Dtype(),
    pa.float32(): pd.Float32Dtype(),
    pa.float64(): pd.Float64Dtype(),
    pa.string(): pd.StringDtype("python"),
}
_WANTED: Final[dict[FunctionKind, str]] = {
    "arrow": "a pyarrow.Array",
    "pandas": "a pandas.Series",
}


def make_user_kernel(call: UserCall) -> Kernel:
    """The kernel of a call.

    Raises:
        DataError: (the kernel) the function failed, or returned something of another length or
            type than was declared; the message names it.
    """
    function = call.definition
    evaluate = _EVALUATORS[function.kind]

    def kernel(*data: Datum) -> pa.Array:
        arrays = as_arrays(*data)
        if not len(arrays[0]):
            return pa.array([], function.result)
        return evaluate(function, arrays)

    return kernel


def _on_arrays(function: UserFunction, arrays: list[pa.Array]) -> pa.Array:
    return _checked(function, _run(function, function.evaluate, *arrays), len(arrays[0]))


def _on_series(function: UserFunction, arrays: list[pa.Array]) -> pa.Array:
    series = [a.to_pandas(types_mapper=_PANDAS_TYPES.get) for a in arrays]
    return _checked(function, _run(function, function.evaluate, *series), len(arrays[0]))


def _on_rows(function: UserFunction, arrays: list[pa.Array]) -> pa.Array:
    """Rows with a NULL argument give NULL, and the function does not see them."""
    known = reduce(pc.and_, [a.is_valid() for a in arrays])
    if known.true_count < len(known):
        arrays = [a.filter(known) for a in arrays]
    values = _run(function, lambda: list(map(function.evaluate, *(a.to_pylist() for a in arrays))))
    try:
        results = pa.array(values, function.result)
    except (pa.ArrowException, OverflowError) as error:
        raise DataError(
            f"function {function.name} returned what is no {sql_type(function.result)}: {error}"
        ) from None
    if len(results) == len(known):
        return results
    mask = np.asarray(known)
    return results.take(pa.array(np.cumsum(mask) - 1, mask=~mask))


_EVALUATORS: Final[dict[FunctionKind, Callable[[UserFunction, list[pa.Array]], pa.Array]]] = {
    "arrow": _on_arrays,
    "pandas": _on_series,
    "python": _on_rows,
}


def _run(function: UserFunction, evaluate: Callable[..., Any], *args: Any) -> Any:
    try:
        return evaluate(*args)
    except Exception as error:
        raise DataError(
            f"function {function.name} failed: {type(error).__name__}: {error}"
        ) from error


def _checked(function: UserFunction, result: Any, rows: int) -> pa.Array:
    """The result as an array of the declared type.

    Raises:
        DataError: it is none.
    """
    values = _as_array(function, result)
    if len(values) != rows:
        raise DataError(
            f"function {function.name} returned {len(values)} values for {rows} rows: "
            "it must return one for each"
        )
    if values.type == function.result:
        return values
    if not _goes_into(values.type, function.result):
        raise DataError(
            f"function {function.name} returned {sql_type(values.type)}, "
            f"but is declared to return {sql_type(function.result)}"
        )
    try:
        return values.cast(function.result, safe=not pt.is_floating(function.result))
    except pa.ArrowInvalid as error:
        raise DataError(
            f"function {function.name} returned what does not fit {sql_type(function.result)}: "
            f"{error}"
        ) from None


def _as_array(function: UserFunction, result: Any) -> pa.Array:
    if isinstance(result, pa.ChunkedArray):
        return result.combine_chunks()
    if isinstance(result, pa.Array):
        return result
    if not isinstance(result, (np.ndarray, pd.Series)):
        raise DataError(
            f"function {function.name} returned a {type(result).__name__}, "
            f"not {_WANTED[function.kind]}"
        )
    try:
        return pa.array(result)
    except (pa.ArrowException, OverflowError) as error:
        raise DataError(
            f"function {function.name} returned values of no one type: {error}"
        ) from None


def _goes_into(source: pa.DataType, target: pa.DataType) -> bool:
    """Whether values of a type are values of the declared one, if they fit."""
    if pt.is_null(source):
        return True
    if pt.is_dictionary(source):
        return _goes_into(source.value_type, target)
    if pt.is_integer(source):
        return bool(pt.is_integer(target) or pt.is_floating(target))
    return any(test(source) and test(target) for test in _FAMILIES)


_FAMILIES: Final = (
    pt.is_boolean,
    pt.is_floating,
    pt.is_decimal,
    pt.is_date,
    pt.is_timestamp,
    lambda t: pt.is_string(t) or pt.is_large_string(t) or pt.is_string_view(t),
    lambda t: pt.is_binary(t) or pt.is_large_binary(t) or pt.is_binary_view(t),
)
