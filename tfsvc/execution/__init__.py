"""Execution: a dataset's program, shipped to a worker and run there as pipelines."""
