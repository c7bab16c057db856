"""Conversion of numbers to and from text as in Spark (Java), column at a time."""

from __future__ import annotations

from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

_INTEGER: Final = r"^(?P<whole>[+-]?\d{1,38})$"
_DECIMAL: Final = r"^(?P<sign>[+-]?)(?P<whole>\d{0,38})(?:\.(?P<fraction>\d*))?$"
_DOUBLE: Final = r"(?i)^[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|inf(?:inity)?|nan)$"
_SHORTEST: Final = (
    r"^(?P<sign>-?)(?P<whole>\d+)(?:\.(?P<fraction>\d+))?(?:e\+?(?P<exponent>-?\d+))?$"
)


def parse_integers(texts: pa.Array) -> pa.Array:
    """Whole numbers as DECIMAL(38, 0); NULL for anything else."""
    found = pc.extract_regex(pc.utf8_trim_whitespace(texts), _INTEGER)
    return pc.struct_field(found, "whole").cast(pa.decimal128(38, 0))


def parse_decimals(texts: pa.Array, scale: int) -> pa.Array:
    """Numbers without exponent; one digit more than ``scale``, for correct rounding."""
    trimmed = pc.utf8_trim_whitespace(texts)
    found = pc.extract_regex(trimmed, _DECIMAL)
    sign, whole, fraction = (pc.struct_field(found, f) for f in ("sign", "whole", "fraction"))
    kept = pc.utf8_slice_codeunits(pc.utf8_rpad(fraction, scale + 1, "0"), 0, scale + 1)
    joined = pc.binary_join_element_wise(sign, pc.utf8_lpad(whole, 1, "0"), ".", kept, "")
    has_digit = pc.match_substring_regex(trimmed, r"\d")
    return pc.if_else(has_digit, joined, pa.scalar(None, texts.type)).cast(
        pa.decimal256(76, scale + 1)
    )


def parse_doubles(texts: pa.Array) -> pa.Array:
    """Decimal or scientific notation, NaN and infinities; NULL for anything else."""
    trimmed = pc.utf8_trim_whitespace(texts)
    valid = pc.match_substring_regex(trimmed, _DOUBLE)
    return pc.if_else(valid, trimmed, pa.scalar(None, texts.type)).cast(pa.float64())


def format_floats(values: pa.Array) -> pa.Array:
    """Java's notation: ``1.0``, ``12.5``, ``1.0E7``, ``1.5E-5``, ``NaN``, ``Infinity``."""
    size = pc.abs(values)
    zero, ten_million = pa.scalar(0.0, values.type), pa.scalar(1e7, values.type)
    low = pa.scalar(1e-3, values.type)
    shortest = values.cast(pa.string())
    plain = pc.or_(
        pc.equal(size, zero), pc.and_(pc.greater_equal(size, low), pc.less(size, ten_million))
    )
    has_point = pc.match_substring(shortest, ".")
    decimal = pc.if_else(has_point, shortest, pc.binary_join_element_wise(shortest, ".0", ""))
    text = pc.if_else(plain, decimal, _scientific(shortest))
    infinity = pc.if_else(pc.less(values, zero), "-Infinity", "Infinity")
    return pc.if_else(pc.is_nan(values), "NaN", pc.if_else(pc.is_inf(values), infinity, text))


def _scientific(shortest: pa.Array) -> pa.Array:
    """``0.000015`` or ``1.5e-05`` as ``1.5E-5``."""
    found = pc.extract_regex(shortest, _SHORTEST)
    sign, whole, fraction, exponent = (
        pc.struct_field(found, f) for f in ("sign", "whole", "fraction", "exponent")
    )
    digits = pc.binary_join_element_wise(whole, fraction, "")
    significant = pc.utf8_ltrim(digits, "0")
    leading = pc.subtract(pc.utf8_length(digits), pc.utf8_length(significant))
    written = pc.if_else(pc.equal(exponent, ""), "0", exponent).cast(pa.int32())
    place = pc.subtract(pc.add(written, pc.subtract(pc.utf8_length(whole), 1)), leading)
    tail = pc.utf8_rtrim(pc.utf8_slice_codeunits(significant, 1), "0")
    return pc.binary_join_element_wise(
        sign,
        pc.utf8_slice_codeunits(significant, 0, 1),
        ".",
        pc.if_else(pc.equal(tail, ""), "0", tail),
        "E",
        place.cast(pa.string()),
        "",
    )
