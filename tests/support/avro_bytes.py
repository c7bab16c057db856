"""Records of Avro written value by value, by the rules of its specification."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence


def long(n: int) -> bytes:
    """An int or long: zigzag, seven bits a byte; also the length of what follows."""
    n = (n << 1) ^ (n >> 63)
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    return bytes([*out, n])


def data(value: bytes | str) -> bytes:
    """Bytes or a string."""
    value = value.encode() if isinstance(value, str) else value
    return long(len(value)) + value


def double(value: float) -> bytes:
    return struct.pack("<d", value)


def branch(number: int, value: bytes = b"") -> bytes:
    """A value of a union."""
    return long(number) + value


def array(items: Sequence[bytes]) -> bytes:
    return (long(len(items)) + b"".join(items) if items else b"") + long(0)


def map_(items: Mapping[str, bytes]) -> bytes:
    return array([data(key) + value for key, value in items.items()])


def decimal(unscaled: int) -> bytes:
    size = (unscaled.bit_length() + 8) // 8
    return data(unscaled.to_bytes(size, "big", signed=True))


def framed(schema: int, record: bytes) -> bytes:
    """A record with the number of its schema in front."""
    return b"\0" + schema.to_bytes(4, "big") + record
