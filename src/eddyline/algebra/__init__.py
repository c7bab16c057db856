"""Logical plans: immutable nodes, expressions, windows, update patterns. No batches here."""
