"""Evaluation of user-defined functions: converts their arguments and checks their results.

A function sees the rows of a chunk and must compute each row from its own arguments only: the
division into chunks depends on the arrival of the data.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import cache, reduce
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from eddyline.algebra.functions.user_defined import FunctionKind, UserCall, UserFunction
from eddyline.errors import DataError
from eddyline.physical.expressions.data import Datum, as_arrays
from eddyline.physical.expressions.evaluation import Evaluation, RowIndexes, shown_values, spread
from eddyline.physical.expressions.kernel import Kernel
from eddyline.types import sql_type

#: Maximum number of failing parts of a batch that are isolated; further parts fail as a whole.
_MOST_WRONG: Final = 300
_RESULT_TYPES: Final[dict[FunctionKind, str]] = {
    "arrow": "a pyarrow.Array",
    "pandas": "a pandas.Series",
}


def make_user_kernel(call: UserCall) -> Kernel:
    """The kernel of a call, which takes an Evaluation before its data.

    Rows that have already failed are not passed to the function. Rows fail for which it raises an
    error or returns a value of another type than declared.
    """
    function = call.definition
    evaluate = _EVALUATORS[function.kind]

    def kernel(evaluation: Evaluation, *data: Datum) -> pa.Array:
        arrays = as_arrays(*data)
        if not evaluation.has_failed:
            return evaluate(function, arrays, evaluation) if len(evaluation) else _none(function, 0)
        good = np.flatnonzero(~evaluation.failed())
        if not good.size:
            return _none(function, len(evaluation))
        part = evaluation.of(good)
        values = evaluate(function, [a.take(pa.array(good)) for a in arrays], part)
        evaluation.adopt(part, good)
        return spread(values, good, len(evaluation))

    return kernel


def _none(function: UserFunction, count: int) -> pa.Array:
    return pa.nulls(count, function.result)


def _on_batches(function: UserFunction, arrays: list[pa.Array], evaluation: Evaluation) -> pa.Array:
    """Bisects a batch for which the function raises, down to single rows."""
    wrong: list[tuple[RowIndexes, str]] = []

    def values_of(rows: RowIndexes) -> pa.Array:
        part = [a.slice(rows[0], rows.size) for a in arrays]
        try:
            result = function.evaluate(*_FORMS[function.kind](part))
        except MemoryError:
            raise
        except Exception as error:  # of any code: the rows are bad ones
            if rows.size > 1 and len(wrong) < _MOST_WRONG:
                return pa.concat_arrays([values_of(h) for h in np.array_split(rows, 2)])
            wrong.append((rows, _raised(function, error)))
            return _none(function, rows.size)
        return _checked(function, result, rows.size)

    try:
        values = values_of(np.arange(len(evaluation)))
    except DataError as error:  # the result is not a column of the declared type
        evaluation.fail_all(str(error))
        return _none(function, len(evaluation))
    for rows, reason in wrong:
        evaluation.fail(rows, _with_arguments(reason, arrays, rows))
    return values


def _on_rows(function: UserFunction, arrays: list[pa.Array], evaluation: Evaluation) -> pa.Array:
    """Calls the function per row; rows with a NULL argument give NULL without a call."""
    known = np.flatnonzero(reduce(pc.and_, [a.is_valid() for a in arrays]))
    arguments = [a.take(pa.array(known)) for a in arrays]
    wrong: dict[int, str] = {}

    def results() -> Iterator[Any]:
        for row, values in enumerate(zip(*(a.to_pylist() for a in arguments), strict=True)):
            try:
                yield function.evaluate(*values)
            except MemoryError:
                raise
            except Exception as error:  # of any code: the row is a bad one
                wrong[row] = _raised(function, error)
                yield None

    values = _as_declared(function, list(results()), wrong)
    rows = np.array(sorted(wrong), np.int64)
    for row in rows:
        one = np.array([row])
        evaluation.fail(known[one], _with_arguments(wrong[row], arguments, one))
    return spread(values, known, len(evaluation))


def _as_declared(function: UserFunction, values: list[Any], wrong: dict[int, str]) -> pa.Array:
    """Python values as a column; values of another type become NULL and are added to ``wrong``."""
    try:
        return pa.array(values, function.result)
    except (pa.ArrowException, OverflowError, ValueError, TypeError):
        for row, value in enumerate(values):
            try:
                pa.scalar(value, function.result)
            except (pa.ArrowException, OverflowError, ValueError, TypeError) as error:
                kind = sql_type(function.result)
                wrong[row] = f"function {function.name} returned a value that is no {kind}: {error}"
                values[row] = None
        return pa.array(values, function.result)


_EVALUATORS: Final[
    dict[FunctionKind, Callable[[UserFunction, list[pa.Array], Evaluation], pa.Array]]
] = {"arrow": _on_batches, "pandas": _on_batches, "python": _on_rows}


def _as_series(arrays: list[pa.Array]) -> list[Any]:
    return [a.to_pandas(types_mapper=_pandas_types().get) for a in arrays]


@cache
def _pandas_types() -> dict[pa.DataType, Any]:
    """Nullable pandas types, which separate NULL from NaN; a column has the same type with and
    without NULLs in the chunk.
    """
    import pandas as pd  # optional: engine/functions.py checks that it is installed

    return {
        pa.bool_(): pd.BooleanDtype(),
        pa.int8(): pd.Int8Dtype(),
        pa.int16(): pd.Int16Dtype(),
        pa.int32(): pd.Int32Dtype(),
        pa.int64(): pd.Int64Dtype(),
        pa.float32(): pd.Float32Dtype(),
        pa.float64(): pd.Float64Dtype(),
        pa.string(): pd.StringDtype("python"),
    }


#: Converts arguments to the form of a kind of function.
_FORMS: Final[dict[FunctionKind, Callable[[list[pa.Array]], list[Any]]]] = {
    "arrow": lambda arrays: arrays,
    "pandas": _as_series,
}


def _raised(function: UserFunction, error: Exception) -> str:
    return f"function {function.name} failed: {type(error).__name__}: {error}"


def _with_arguments(reason: str, arrays: list[pa.Array], rows: RowIndexes) -> pa.Array:
    """The reason followed by each row's arguments."""
    shown = [shown_values(a, rows) for a in arrays]
    if len(shown) > 1:
        shown = [pc.binary_join_element_wise(*shown, ", ")]
    return pc.binary_join_element_wise(f"{reason} (arguments: ", *shown, ")", "")


def _checked(function: UserFunction, result: Any, rows: int) -> pa.Array:
    """The result as an array of the declared type.

    Raises:
        DataError: the length or type is wrong.
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
            f"function {function.name} returned a value that does not fit "
            f"{sql_type(function.result)}: "
            f"{error}"
        ) from None


def _as_array(function: UserFunction, result: Any) -> pa.Array:
    if isinstance(result, pa.ChunkedArray):
        return result.combine_chunks()
    if isinstance(result, pa.Array):
        return result
    pandas = sys.modules.get("pandas")  # a Series exists only if it is imported
    is_series = pandas is not None and isinstance(result, pandas.Series)
    if not is_series and not isinstance(result, np.ndarray):
        raise DataError(
            f"function {function.name} returned a {type(result).__name__}, "
            f"not {_RESULT_TYPES[function.kind]}"
        )
    try:
        return pa.array(result)
    except (pa.ArrowException, OverflowError) as error:
        raise DataError(
            f"function {function.name} returned values of several types: {error}"
        ) from None


def _goes_into(source: pa.DataType, target: pa.DataType) -> bool:
    """Whether values of a type can be converted to the declared one."""
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
