"""Processes for functions that keep a core busy; one pool for all pipelines of this process."""
