"""Values at paths of JSON texts, beside Python's reader."""

from __future__ import annotations

import json
from random import Random
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eddyline.kernels.json_paths import JSON, MAX_DEPTH, NESTED, SCALAR, TEXT, steps_of, values_at
from eddyline.runtime.stores.columns import text_buffers

NAMES: Final = ["a", "b", "é", "a b", 'q"', "", "\n"]
SCALARS: Final = [None, True, False, 0, -1, 12, 1.5, 1e30, "", "x", 'é\n"\\', "\U0001f600"]
_NONE: Final = object()


def found(texts: list[str | None], path: list[Any], wanted: int) -> list[str | None]:
    array = pa.array(["junk", *texts], pa.string()).slice(1)
    offsets, data = text_buffers(array)
    out = np.zeros(int(offsets[-1] - offsets[0]), np.uint8)
    ends, known = np.zeros(len(texts) + 1, np.int32), np.zeros(len(texts), np.bool_)
    values_at(offsets, data, *steps_of(path), wanted, out, ends, known)
    written = out.tobytes()
    parts = zip(ends, ends[1:], known, strict=False)
    return [written[a:b].decode() if k else None for a, b, k in parts]


def strict(text: str) -> Any:
    """As Python reads it, with the first value of a name, and without NaN."""

    def refuse(word: str) -> None:
        raise ValueError(word)

    return json.loads(text, parse_constant=refuse, object_pairs_hook=lambda p: dict(reversed(p)))


def expected(text: str, path: list[Any], wanted: int) -> Any:
    try:
        value = strict(text)
        text.encode()
        json.dumps(value, ensure_ascii=False).encode()
    except ValueError:
        return _NONE
    for step in path:
        is_there = (
            isinstance(value, dict) and step in value
            if isinstance(step, str)
            else isinstance(value, list) and step < len(value)
        )
        if not is_there:
            return _NONE
        value = value[step]
    is_nested = isinstance(value, (dict, list))
    kinds = {SCALAR: not is_nested, NESTED: is_nested, TEXT: True, JSON: True}
    return value if kinds[wanted] and (wanted == JSON or value is not None) else _NONE


def any_value(random: Random, depth: int = 0) -> Any:
    kind = random.random()
    if depth < 4 and kind < 0.35:
        return {
            random.choice(NAMES): any_value(random, depth + 1) for _ in range(random.randrange(4))
        }
    if depth < 4 and kind < 0.6:
        return [any_value(random, depth + 1) for _ in range(random.randrange(4))]
    return random.choice(SCALARS)


def any_text(random: Random) -> str:
    """A text of JSON, sometimes with a character more or less."""
    ascii_, indent = random.random() < 0.5, random.choice([None, None, 1])
    text = json.dumps(any_value(random), ensure_ascii=ascii_, indent=indent)
    if random.random() < 0.3:
        at = random.randrange(len(text))
        more = random.choice(['{"a":1}', *'{}[],:"\\ 1ex-.', "null", ""])
        text = random.choice([text[:at] + more + text[at:], text[:at], text[:at] + text[at + 1 :]])
    return text


@given(st.integers(0, 2**48))
@settings(derandomize=True, max_examples=150)
def test_values_are_those_of_another_reader(seed: int) -> None:
    random = Random(seed)
    texts = [any_text(random) for _ in range(60)]
    path = [random.choice([*NAMES, 0, 1, 2]) for _ in range(random.randrange(4))]
    for wanted in (SCALAR, NESTED, TEXT, JSON):
        for text, value in zip(texts, found([*texts], path, wanted), strict=True):
            other = expected(text, path, wanted)
            case = (text, path, wanted)
            if other is _NONE or value is None:
                assert value is None and other is _NONE, case
            elif wanted != JSON and isinstance(other, str):
                assert value == other, case
            else:
                assert repr(strict(value)) == repr(other), case


@pytest.mark.parametrize(
    ("text", "path", "value"),
    [
        ('{"a": 1.10}', ["a"], "1.10"),
        ('{"a": {"b" : [1, 2 ]}}', ["a"], '{"b" : [1, 2 ]}'),
        ('{"a": 1, "a": 2}', ["a"], "1"),
        ('{"a": 1} x', ["a"], None),
        ("{'a': 1}", ["a"], None),
        ('{"a": NaN}', ["a"], None),
        ('{"a": 01}', ["a"], None),
        ('{"a": "\\ud800"}', ["a"], None),
        ("", [], None),
        (" 7 ", [], "7"),
        ("[" * MAX_DEPTH + "]" * MAX_DEPTH, [0] * (MAX_DEPTH - 1), "[]"),
        ("[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1), [0], None),
        (None, ["a"], None),
    ],
)
def test_unusual_texts(text: str | None, path: list[Any], value: str | None) -> None:
    assert found([text, '{"a": 1}', text], path, TEXT)[::2] == [value, value]
