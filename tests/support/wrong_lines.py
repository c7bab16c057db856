"""Lines of JSON and CSV that are mostly wrong, in every way that files have shown."""

from __future__ import annotations

import random
from collections.abc import Iterator

#: (line, whether it is a row or else a bad row) would be too much to know: each is one of both.
JSON = [
    b"[]", b"{}", b"[{},{}]", b"null", b"1", b'"a"', b"{", b"}", b"\x00", b"\xff", b"nan",
    b'{"ts":"2026-01-01T00:00:00Z","v":1}', b'[{"ts":"2026-01-01T00:00:00Z","v":1}]',
    b'{"ts":"2026-01-01T00:00:00Z","v":1} {"v":2}', b'{"ts":"when?","v":1,"s":"a"}',
    b'{"ts":"2026-01-01T00:00:00Z","v":"oops"}', b'{"ts":null,"v":null,"s":null}',
    b'{"ts":"2026-01-01T00:00:00Z","s":"\xff\xfe"}', b'{"ts":"2026-01-01T00:00:00Z","s":"\\ud800"}',
    b'{"ts":"2026-01-01T00:00:00Z","s":{"deep":[1,{}]}}', b'{"ts":1e400}', b'{"ts":true}',
    b'{"ts":"2026-01-01T00:00:00Z","v":99999999999999999999}', b'{"ts":"\xc3"}',
    b'{"ts":"2026-01-01T00:00:00Z","v":1,"v":2}', b'{"_corrupt_record":"x"}', b"/* */ {}",
    b"\xef\xbb\xbf" + b'{"ts":"2026-01-01T00:00:00Z","v":1}', b'{"ts":' + b"[" * 2000 + b"}",
    b'{"ts":"2026-01-01T00:00:00Z","s":"' + b"x" * 100_000 + b'"}', b'{"\\u0000":1}', b"\x1a",
]  # fmt: skip
CSV = [
    b",,", b",", b'"', b'""', b'"""', b"\x00", b"\xff", b"#", b"\\", b"'", b"ts,v",
    b"2026-01-01T00:00:00Z,1,a", b"2026-01-01T00:00:00Z,1", b"2026-01-01T00:00:00Z,1,a,b",
    b"2026-01-01T00:00:00Z,oops,a", b"when?,1,a", b'2026-01-01T00:00:00Z,1,"a', b'b"',
    b'2026-01-01T00:00:00Z,1,"a\\"b"', b'2026-01-01T00:00:00Z,1,"a""b"', b"\x002026,1,a",
    b"2026-01-01T00:00:00Z,1,\xff", b"2026-01-01T00:00:00Z,\x00,a", b"\xef\xbb\xbf,1,a", b"\x1a",
    b",".join([b"1"] * 30_000), b"2026-01-01T00:00:00Z,1," + b"x" * 100_000, b'"a"b"c",d',
    "2026-01-01T00:00:00Z,1,\u2028".encode(), b"#2026-01-01T00:00:00Z,1,a", b"9" * 400 + b",1,a",
]  # fmt: skip
#: They end lines, so no line holds them.
_ENDS = b"\r\n"


def lines(known: list[bytes], count: int, seed: int) -> list[bytes]:
    """Known lines first, then as many as are wanted, changed here and there; none is blank."""
    return [line for line, _ in zip(_endless(known, random.Random(seed)), range(count))]  # noqa: B905


def _endless(known: list[bytes], random_: random.Random) -> Iterator[bytes]:
    yield from known
    while True:
        line = bytearray(random_.choice(known))
        if len(line) > 1000 and random_.random() < 0.99:  # a few long ones will do
            continue
        for _ in range(random_.choice((0, 1, 1, 2, 5))):
            place = random_.randrange(len(line) + 1)
            byte = random_.choice((random_.randrange(256), *b'{}[]",:\\\x00\xff'))
            line[place : place + random_.randrange(2)] = bytes([byte])
        changed = bytes(b for b in line if b not in _ENDS)
        if changed.strip(b" \t"):
            yield changed
