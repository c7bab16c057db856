"""``eddyline bench flink``: patterns of rows beside Flink SQL, the same texts over the same rows."""
