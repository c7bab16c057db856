"""Rewrite rules: one plain function from plan to plan a file."""
