"""Recordings of real nodes: played again, judged, and made into tests."""
