"""The operators of all queries, and what comes out of them."""
