"""The reference of SQL: a grammar, its diagrams, and examples that run."""
