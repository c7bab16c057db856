"""Logical plans: immutable nodes, expressions, windows, update patterns."""
