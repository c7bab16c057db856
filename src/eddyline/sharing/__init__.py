"""Signatures of queries that can share work, and predicates in the form of grouped filters."""
