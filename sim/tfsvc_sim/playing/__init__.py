"""Scenarios: drawn, written, kept in files, played, swept over seeds, shrunk and shown."""
