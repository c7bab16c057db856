"""Just-in-time joins: a producer makes a row when a consumer requires it.

Source: Yang and Papadias 2008. How the paper's messages became inputs: docs/decisions/0013.
"""
