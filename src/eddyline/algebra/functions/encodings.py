"""Texts and bytes in other forms: hexadecimal, Base64, percent-encoding, code points."""

from __future__ import annotations

from typing import Final

import pyarrow as pa
import pyarrow.types as pt

from eddyline.algebra.expressions import Call, Expr, Literal
from eddyline.algebra.functions.coercion import cast, implicit, kind
from eddyline.algebra.functions.digests import of_bytes
from eddyline.algebra.functions.registry import define, define_plain, resolve
from eddyline.errors import SqlError

_FAMILY: Final = "Encodings"
_STRING, _BYTES, _INT, _BIGINT = pa.string(), pa.binary(), pa.int32(), pa.int64()


_hex_of_bytes: Final = of_bytes("hex", _STRING)


@define(
    _FAMILY,
    "hex",
    ["hex(text)", "hex(binary)", "hex(integer)"],
    "The bytes of a text or BINARY, or an integer of 64 bits, in hexadecimal digits.",
)
def _hex(args: tuple[Expr, ...]) -> Expr | None:
    if len(args) == 1 and kind(args[0].type) == "integer":
        return Call(_STRING, "hex", (cast(args[0], _BIGINT),))
    return _hex_of_bytes(args)


define_plain(
    _FAMILY,
    "unhex(text)",
    (_STRING,),
    _BYTES,
    "The BINARY with these hexadecimal digits; NULL of a text with other characters.",
)
define(
    _FAMILY,
    "base64",
    "base64(binary)",
    "The bytes of a text or BINARY in Base64, in lines of 76 characters.",
    of_bytes("base64", _STRING),
)
define_plain(
    _FAMILY,
    "unbase64(text)",
    (_STRING,),
    _BYTES,
    "The BINARY of a text in Base64, of which characters of no digit are left out; fails for texts "
    "that end within a byte.",
)
define_plain(_FAMILY, "bin(integer)", (_BIGINT,), _STRING, "The integer of 64 bits in bits.")
define_plain(
    _FAMILY,
    "chr(code)",
    (_BIGINT,),
    _STRING,
    "The character of a code point, of which the rest by 256 counts; empty of negative numbers.",
    aliases="char",
)
define(
    _FAMILY,
    "octet_length",
    "octet_length(text)",
    "Number of bytes of a text (in UTF-8) or BINARY.",
    of_bytes("octet_length", _INT),
)


@define(_FAMILY, "bit_length", "bit_length(text)", "Number of bits of a text or BINARY.")
def _bit_length(args: tuple[Expr, ...]) -> Expr | None:
    size = of_bytes("octet_length", _INT)(args)
    return size and resolve("*", (size, Literal(_INT, 8)))


define_plain(
    _FAMILY,
    "url_encode(text)",
    (_STRING,),
    _STRING,
    "The text with all but letters, digits and .-*_ as %XX, blanks as +.",
)
define_plain(
    _FAMILY,
    "url_decode(text)",
    (_STRING,),
    _STRING,
    "The text of which url_encode has made this; fails for other uses of %.",
)


def _require_utf8(name: str, charset: Expr) -> None:
    value = charset.value if isinstance(charset, Literal) else None
    if not isinstance(value, str) or value.upper() not in ("UTF-8", "UTF8"):
        raise SqlError(f"{name} knows 'UTF-8' only, a constant, not {charset}")


@define(_FAMILY, "encode", "encode(text, 'UTF-8')", "The bytes of a text, a BINARY.")
def _encode(args: tuple[Expr, ...]) -> Expr | None:
    text = implicit(args[0], _STRING) if len(args) == 2 else None
    if text is None:
        return None
    _require_utf8("encode", args[1])
    return cast(text, _BYTES)


@define(
    _FAMILY,
    "decode",
    ["decode(binary, 'UTF-8')", "decode(value, search, result, ..., default)"],
    "The text with these bytes; or the result behind the first search value that equals the value "
    "(NULL equals NULL), else the default, or NULL.",
)
def _decode(args: tuple[Expr, ...]) -> Expr | None:
    if len(args) < 2:
        return None
    if len(args) == 2:
        if not pt.is_binary(args[0].type):
            return None
        _require_utf8("decode", args[1])
        return cast(args[0], _STRING)
    value, *rest = args
    default = rest.pop() if len(rest) % 2 else Literal(pa.null(), None)
    branches: list[Expr] = []
    for search, result in zip(rest[::2], rest[1::2], strict=True):
        branches += [resolve("<=>", (value, search)), result]
    return resolve("case", (*branches, default))
