"""The operators of all queries, and their results."""
