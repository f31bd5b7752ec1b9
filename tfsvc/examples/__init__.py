"""Datasets to try things on."""
