"""Evaluation of scalar expressions over Arrow columns, by ``pyarrow.compute``."""

from eddyline.physical.expressions.compile import compile_expr
from eddyline.physical.expressions.evaluation import Columns
from eddyline.physical.expressions.predicates import compile_predicate

__all__ = ["Columns", "compile_expr", "compile_predicate"]
