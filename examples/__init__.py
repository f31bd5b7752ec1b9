"""Trainers and engines on a data service, each a script: ``python -m examples.NAME``."""
