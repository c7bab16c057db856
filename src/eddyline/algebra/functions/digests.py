"""Message digests, checksums and hashes."""

from __future__ import annotations

from typing import Final

import pyarrow as pa
import pyarrow.types as pt

from eddyline.algebra.expressions import Call, Expr, Literal
from eddyline.algebra.functions.coercion import cast, kind
from eddyline.algebra.functions.registry import TypingRule, define, takes
from eddyline.errors import SqlError
from eddyline.types import sql_type

_FAMILY: Final = "Hashes"
_STRING, _BIGINT = pa.string(), pa.int64()
_SIZES: Final = (0, 224, 256, 384, 512)
_WORDS: Final = ("integer", "float", "date", "timestamp", "duration")


def of_bytes(name: str, type_: pa.DataType) -> TypingRule:
    """The rule of a function of a text or BINARY."""
    of_text = takes(name, (_STRING,), type_)

    def rule(args: tuple[Expr, ...]) -> Expr | None:
        if len(args) == 1 and pt.is_binary(args[0].type):
            return Call(type_, name, args)
        return of_text(args)

    return rule


for _names, _help in {
    "md5": "The MD5 digest of a text or BINARY, in hexadecimal digits.",
    "sha1 sha": "The SHA-1 digest of a text or BINARY, in hexadecimal digits.",
}.items():
    _name = _names.split()[0]
    define(_FAMILY, _names, f"{_name}(text)", _help, of_bytes(_name, _STRING))
define(
    _FAMILY,
    "crc32",
    "crc32(text)",
    "The CRC-32 checksum of a text or BINARY, a BIGINT.",
    of_bytes("crc32", _BIGINT),
)


@define(
    _FAMILY,
    "sha2",
    "sha2(text, bits)",
    "The SHA-2 digest of a text or BINARY in hexadecimal digits, with 224, 256 (or 0), 384 or 512 "
    "bits, a constant.",
)
def _sha2(args: tuple[Expr, ...]) -> Expr | None:
    if len(args) != 2 or kind(args[1].type) != "integer":
        return None
    text, bits = args
    if not pt.is_binary(text.type) and kind(text.type) not in ("string", "null"):
        return None
    if not isinstance(bits, Literal) or bits.value not in _SIZES:
        raise SqlError(f"sha2 takes 224, 256, 384 or 512 bits, a constant, not {bits}")
    value = text if pt.is_binary(text.type) else cast(text, _STRING)
    return Call(_STRING, "sha2", (value, Literal(pa.int32(), bits.value or 256)))


def _hashes(name: str, type_: pa.DataType, help_: str) -> None:
    def rule(args: tuple[Expr, ...]) -> Expr | None:
        if not args:
            return None
        for arg in args:
            is_small = kind(arg.type) == "decimal" and arg.type.precision <= 18
            plain = kind(arg.type) in (*_WORDS, "string", "null", "bool") or is_small
            if not plain and not pt.is_binary(arg.type):
                raise SqlError(f"{name} of {sql_type(arg.type)} is not supported")
        return Call(type_, name, args)

    define(_FAMILY, name, f"{name}(value, ...)", help_, rule)


_hashes("hash", pa.int32(), "Spark's Murmur3 hash of all values, an INT; NULLs do not change it.")
_hashes("xxhash64", _BIGINT, "The xxHash64 of all values, a BIGINT; NULLs do not change it.")
