"""Inputs of joins: the rows that a probe can see, by key, with optional lineage or gate."""
