"""The kernels of operations that can fail for a row."""

from __future__ import annotations

from functools import partial
from typing import Final

from eddyline.algebra.expressions import Call
from eddyline.algebra.functions import tolerant
from eddyline.algebra.functions.fallibility import FALLIBLE
from eddyline.physical.expressions.encodings import FALLIBLE_ENCODINGS
from eddyline.physical.expressions.evaluation import LENIENT
from eddyline.physical.expressions.fallible_numbers import FALLIBLE_NUMBERS
from eddyline.physical.expressions.fallible_others import FALLIBLE_OTHERS
from eddyline.physical.expressions.kernel import Kernel, Maker
from eddyline.physical.expressions.maps import FALLIBLE_MAPS
from eddyline.physical.expressions.months import FALLIBLE_MONTHS
from eddyline.physical.expressions.nested import FALLIBLE_NESTED
from eddyline.physical.expressions.texts import FALLIBLE_TEXTS

#: These kernels take an Evaluation before the data. They compute whole columns, and determine the
#: failed rows only after a failure.
FALLIBLE_KERNELS: Final[dict[str, Maker]] = {
    **FALLIBLE_NUMBERS,
    **FALLIBLE_NESTED,
    **FALLIBLE_MONTHS,
    **FALLIBLE_MAPS,
    **FALLIBLE_ENCODINGS,
    **FALLIBLE_OTHERS,
    **FALLIBLE_TEXTS,
}
assert FALLIBLE_KERNELS.keys() == FALLIBLE


def _make_tolerant(name: str) -> Maker:
    """The kernel that gives NULL where the operation fails."""

    def make(call: Call) -> Kernel:
        return partial(FALLIBLE_KERNELS[name](tolerant.strict(call)), LENIENT)

    return make


#: ``try_add``, ``try_cast`` and so on.
TOLERANT_KERNELS: Final[dict[str, Maker]] = {
    own: _make_tolerant(name) for name, own in tolerant.NAMES.items()
}
