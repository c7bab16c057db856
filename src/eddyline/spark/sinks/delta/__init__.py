"""The sink ``delta``: Delta tables that have the changes of queries, or their answers."""
