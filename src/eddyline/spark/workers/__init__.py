"""What runs in the Python workers: ingest, and the shards with their durable state."""
