"""Estimates of what aggregates would be if no row had been dropped, and how far off they may be.

A drop box keeps a row with the probability ``p`` (``_kept``). With y = x / p, which is

- ``scaled_sum``: the sum of y over the kept rows (Horvitz and Thompson, JASA 47, 1952), unbiased;
- ``scaled_count``: the same of x = 1; ``scaled_avg``: their ratio.

Rows that are equal in the columns that a box looks at are kept or dropped together, so what is
drawn are clusters of rows; for independent clusters with sums Y the variance of the estimate is
estimated without bias by the sum of (1 - p) Y^2 / p^2 over the kept ones. To sum Y^2 all clusters
would have to be told apart. Instead other bits of the hash deal the clusters to 16 parts at random:
with T the sums of ``sqrt(1 - p) x / p`` over the rows of a part, 16/15 of the sum of the squares of
T minus their mean has the same expectation (a random-groups estimator: Wolter, Introduction to
Variance Estimation, 2007, chapter 2). Of the ratio, T is of the residuals x - average. The error is
half the width of the interval that has the true value with 95 %, by the t-distribution with 15
degrees of freedom.
"""

from __future__ import annotations

from functools import reduce
from typing import Final

import pyarrow as pa

from eddyline.algebra.expressions import Call, Expr
from eddyline.algebra.functions.aggregate_requests import Request, compose
from eddyline.algebra.functions.coercion import cast, literal
from eddyline.algebra.functions.registry import resolve
from eddyline.errors import SqlError

#: Number of parts that rows are dealt to.
PARTS: Final = 16
#: The 97.5 % quantile of the t-distribution with 15 degrees of freedom.
_QUANTILE: Final = 2.131449545559323


def _number(value: float) -> Expr:
    return literal(value, pa.float64())


def _share(request: Request) -> Expr:
    if request.drawn is None:
        raise SqlError(f"{request.name} is of groups of rows of FROM: it has no meaning here")
    return request.drawn.share()


def _value(request: Request, arguments: tuple[Expr, ...]) -> tuple[Request, Expr]:
    """What is summed of a row, and the rows that have it."""
    if not arguments:
        return request, _number(1.0)
    known = Call(pa.bool_(), "is_not_null", arguments)
    return request.accepting(known), cast(arguments[0], pa.float64())


def _ones(request: Request, arguments: tuple[Expr, ...]) -> tuple[Request, Expr]:
    return _value(request, arguments)[0], _number(1.0)


def _or_zero(expr: Expr) -> Expr:
    return resolve("coalesce", (expr, _number(0.0)))


def _total(request: Request, value: Expr) -> Expr:
    return request.base("sum", resolve("/", (value, _share(request))))


def _parts(request: Request, value: Expr) -> list[Expr]:
    """The sums T of the parts."""
    share = _share(request)
    assert request.drawn is not None, "the share is known"
    part = request.drawn.part()
    rest = resolve("sqrt", (resolve("-", (_number(1.0), share)),))
    weighted = resolve("/", (resolve("*", (rest, value)), share))
    found = []
    for number in range(PARTS):
        mine = resolve("=", (part, literal(number, pa.int64())))
        found.append(_or_zero(request.accepting(mine).base("sum", weighted)))
    return found


def _error(squares: Expr, total: Expr) -> Expr:
    """Half the width of the interval, by the sum of the squares of the parts' sums, and by that of
    these sums.
    """
    even = resolve("/", (_times(total, total), _number(float(PARTS))))
    variance = _times(_number(PARTS / (PARTS - 1)), resolve("-", (squares, even)))
    rounded = resolve("greatest", (variance, _number(0.0)))
    return _times(_number(_QUANTILE), resolve("sqrt", (rounded,)))


def _times(a: Expr, b: Expr) -> Expr:
    return resolve("*", (a, b))


def _of_products(a: list[Expr], b: list[Expr]) -> Expr:
    return _added([_times(x, y) for x, y in zip(a, b, strict=True)])


def _added(terms: list[Expr]) -> Expr:
    return reduce(lambda a, b: resolve("+", (a, b)), terms)


@compose(
    "scaled_count",
    ["scaled_count(*)", "scaled_count(value)"],
    "Estimated number of rows, or of those with a value, if none had been dropped.",
    (0, 1),
)
def _scaled_count(request: Request, arguments: tuple[Expr, ...]) -> Expr:
    return _or_zero(_total(*_ones(request, arguments)))


@compose("scaled_sum", "scaled_sum(value)", "Estimated sum if no row had been dropped.", (1, 1))
def _scaled_sum(request: Request, arguments: tuple[Expr, ...]) -> Expr:
    return _total(*_value(request, arguments))


@compose("scaled_avg", "scaled_avg(value)", "Estimated mean if no row had been dropped.", (1, 1))
def _scaled_avg(request: Request, arguments: tuple[Expr, ...]) -> Expr:
    return resolve("/", (_total(*_value(request, arguments)), _total(*_ones(request, arguments))))


@compose(
    "scaled_count_error",
    ["scaled_count_error(*)", "scaled_count_error(value)"],
    "How far off ``scaled_count`` is at most, with a probability of 95 %.",
    (0, 1),
)
def _scaled_count_error(request: Request, arguments: tuple[Expr, ...]) -> Expr:
    sums = _parts(*_ones(request, arguments))
    return _error(_of_products(sums, sums), _added(sums))


@compose(
    "scaled_sum_error",
    "scaled_sum_error(value)",
    "How far off ``scaled_sum`` is at most, with a probability of 95 %.",
    (1, 1),
)
def _scaled_sum_error(request: Request, arguments: tuple[Expr, ...]) -> Expr:
    sums = _parts(*_value(request, arguments))
    return _error(_of_products(sums, sums), _added(sums))


@compose(
    "scaled_avg_error",
    "scaled_avg_error(value)",
    "How far off ``scaled_avg`` is at most, with a probability of 95 %.",
    (1, 1),
)
def _scaled_avg_error(request: Request, arguments: tuple[Expr, ...]) -> Expr:
    average = _scaled_avg(request, arguments)
    count = _total(*_ones(request, arguments))
    values, ones = (_parts(*of(request, arguments)) for of in (_value, _ones))
    both = _times(_number(2.0), _times(average, _of_products(values, ones)))
    even = _times(_times(average, average), _of_products(ones, ones))
    squares = resolve("+", (resolve("-", (_of_products(values, values), both)), even))
    total = resolve("-", (_added(values), _times(average, _added(ones))))
    return resolve("/", (_error(squares, total), count))
