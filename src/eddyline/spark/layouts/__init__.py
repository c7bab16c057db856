"""The layouts of a job: their shards, what these run, and how layouts change in a running job."""
