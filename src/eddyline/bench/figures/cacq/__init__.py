"""Sections 2 to 4 of Madden et al. 2002: many queries in one eddy.

Besides the public surface this measures filter banks (``runtime.predicates``) and routing policies
(``runtime.eddy.policies``) by themselves: the paper's figures are about the cost of lineage and of
routing decisions, without rows being stored and joined.
"""

from eddyline.bench.figures.cacq.run import run_cacq

__all__ = ["run_cacq"]
