"""Clusters of servers with sessions, and training with a parameter server."""
