"""Evaluation of scalar expressions over Arrow columns, by ``pyarrow.compute``."""

from eddyline.physical.expressions.compile import compile_expr, compile_predicate
from eddyline.physical.expressions.evaluation import Columns

__all__ = ["Columns", "compile_expr", "compile_predicate"]
