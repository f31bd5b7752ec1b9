"""A small data service for trainers."""

from tests.e2e.conftest import two_workers

__all__ = ["two_workers"]
