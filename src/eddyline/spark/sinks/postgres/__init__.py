"""The sink ``postgres``: tables of PostgreSQL that follow the answers of queries."""
