"""Section 6 of Golab and Ozsu 2005: Queries 1 to 5 under NT, DIRECT and UPA, Figures 9 to 17.

Engines are made by the public surface, with the strategies of ``StrategyOptions``.
"""

from eddyline.bench.figures.update_patterns.run import run_update_patterns

__all__ = ["run_update_patterns"]
