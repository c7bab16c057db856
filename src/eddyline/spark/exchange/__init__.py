"""What the driver and the workers pass to each other: packed batches, files of rows, broadcasts."""
