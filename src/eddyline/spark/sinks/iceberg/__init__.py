"""The sink ``iceberg``: Iceberg tables that have the changes of queries, or their answers."""
