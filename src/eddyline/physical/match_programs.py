"""Programs of row patterns, which a backtracking matcher runs.

It prefers the first branch of each split, so it finds the match that SQL:2016 prefers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from eddyline.algebra.row_patterns import (
    Alternatives,
    Repeated,
    RowPattern,
    Sequenced,
    Variable,
    least_rows,
)
from eddyline.kernels.pattern_state import JUMP, MATCH, SPLIT, TAKE


class Instruction(NamedTuple):
    """``TAKE first``: a row of the variable; ``SPLIT first second``: go on at ``first``, else at
    ``second``; ``JUMP first``; ``MATCH``.
    """

    code: int
    first: int = 0
    second: int = 0


def program(pattern: RowPattern) -> list[Instruction]:
    """The instructions of a pattern, the last of which is MATCH."""
    code: list[Instruction] = []
    _compile(pattern, code)
    code.append(Instruction(MATCH))
    return code


def _compile(pattern: RowPattern, code: list[Instruction]) -> None:
    match pattern:
        case Variable():
            code.append(Instruction(TAKE, pattern.number))
        case Sequenced():
            for part in pattern.parts:
                _compile(part, code)
        case Alternatives():
            _compile_alternatives(pattern.parts, code)
        case Repeated():
            for _ in range(pattern.least):
                _compile(pattern.part, code)
            if pattern.most is None:
                _compile_loop(pattern, code)
            else:
                _compile_options(pattern, pattern.most - pattern.least, code)


def _compile_alternatives(parts: Sequence[RowPattern], code: list[Instruction]) -> None:
    ends = []
    for part in parts[:-1]:
        split = len(code)
        code.append(Instruction(SPLIT))
        _compile(part, code)
        ends.append(len(code))
        code.append(Instruction(JUMP))
        code[split] = Instruction(SPLIT, split + 1, len(code))
    _compile(parts[-1], code)
    for end in ends:
        code[end] = Instruction(JUMP, len(code))


def _compile_loop(pattern: Repeated, code: list[Instruction]) -> None:
    split = len(code)
    code.append(Instruction(SPLIT))
    _compile(pattern.part, code)
    code.append(Instruction(JUMP, split))
    code[split] = _preferring(split + 1, len(code), pattern.greedy)


def _compile_options(pattern: Repeated, count: int, code: list[Instruction]) -> None:
    splits = []
    for _ in range(count):
        splits.append(len(code))
        code.append(Instruction(SPLIT))
        _compile(pattern.part, code)
    for split in splits:
        code[split] = _preferring(split + 1, len(code), pattern.greedy)


def _preferring(inside: int, behind: int, greedy: bool) -> Instruction:
    return Instruction(SPLIT, inside, behind) if greedy else Instruction(SPLIT, behind, inside)


def beginnings(pattern: RowPattern) -> int:
    """The variables that the first row of a match can have, as bits."""
    match pattern:
        case Variable():
            return 1 << pattern.number
        case Sequenced():
            found = 0
            for part in pattern.parts:
                found |= beginnings(part)
                if least_rows(part):
                    break
            return found
        case Alternatives():
            found = 0
            for part in pattern.parts:
                found |= beginnings(part)
            return found
        case Repeated():
            return beginnings(pattern.part)
