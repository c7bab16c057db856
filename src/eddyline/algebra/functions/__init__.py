"""The scalar functions, operators and aggregates of Eddyline's SQL: names, typing rules, help.

Typing follows Spark SQL in ANSI mode, but implicit conversions between text and numbers are refused
(they need a CAST). A row for which an operation has no value (an overflow, a division by zero, text
that is not a number) fails; the ``try_`` form of the operation gives NULL instead.

The binder calls :func:`resolve` and :func:`resolve_aggregate`; their results have every implicit
conversion as a ``cast``, so evaluation needs no typing rules.
"""

from eddyline.algebra.functions import (  # importing a family registers its functions
    abbreviations,
    arithmetic,
    calendar,
    composed_aggregates,
    conditionals,
    datetimes,
    digests,
    encodings,
    json_values,
    lambdas,
    list_functions,
    map_functions,
    moments_of_parts,
    nested,
    numbers,
    ordered_aggregates,
    predicates,
    scaled_aggregates,
    short_forms,
    strings,
    synonyms,
    text_patterns,
    texts,
    time_buckets,
    time_zones,
    tolerant,
)
from eddyline.algebra.functions.aggregate_requests import (
    COMPOSED,
    Request,
    is_aggregate_name,
    resolve_aggregate,
)
from eddyline.algebra.functions.aggregates import AGGREGATES, base_aggregate
from eddyline.algebra.functions.coercion import (
    cast,
    common_type,
    converted_constant,
    literal,
    try_cast,
    unify,
)
from eddyline.algebra.functions.registry import FUNCTIONS, Function, find, is_reserved, resolve
from eddyline.algebra.functions.sql_functions import SqlFunction
from eddyline.algebra.functions.user_aggregates import CodeFunction, UserAggregate
from eddyline.algebra.functions.user_defined import FUNCTION_KINDS, FunctionKind, UserFunction
from eddyline.algebra.orderings import Ordering

__all__ = [
    "AGGREGATES",
    "COMPOSED",
    "FUNCTIONS",
    "FUNCTION_KINDS",
    "CodeFunction",
    "Function",
    "FunctionKind",
    "Ordering",
    "Request",
    "SqlFunction",
    "UserAggregate",
    "UserFunction",
    "abbreviations",
    "arithmetic",
    "base_aggregate",
    "calendar",
    "cast",
    "common_type",
    "composed_aggregates",
    "conditionals",
    "converted_constant",
    "datetimes",
    "digests",
    "encodings",
    "find",
    "is_aggregate_name",
    "is_reserved",
    "json_values",
    "lambdas",
    "list_functions",
    "literal",
    "map_functions",
    "moments_of_parts",
    "nested",
    "numbers",
    "ordered_aggregates",
    "predicates",
    "resolve",
    "resolve_aggregate",
    "scaled_aggregates",
    "short_forms",
    "strings",
    "synonyms",
    "text_patterns",
    "texts",
    "time_buckets",
    "time_zones",
    "tolerant",
    "try_cast",
    "unify",
]
