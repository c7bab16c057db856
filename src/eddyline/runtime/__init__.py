"""The running engine: batches, stores and operators. It knows neither SQL nor logical plans."""
