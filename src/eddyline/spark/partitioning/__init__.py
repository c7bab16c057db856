"""Which engine of a Spark job processes which rows: groups of streams, layouts, shard ids."""
