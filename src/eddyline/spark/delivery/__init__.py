"""From the output of the shards to the sinks, batch by batch, in the driver."""
