"""Evaluation of scalar expressions over Arrow columns, by ``pyarrow.compute``."""

from eddyline.physical.expressions.compile import Columns, compile_expr, compile_predicate

__all__ = ["Columns", "compile_expr", "compile_predicate"]
