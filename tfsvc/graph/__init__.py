"""Graphs of operators: read, cut into one piece a task, and run with NumPy."""
