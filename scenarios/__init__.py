"""Crash stories: each a short script with its expected outcome, told from a seed."""
