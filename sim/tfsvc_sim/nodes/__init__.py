"""A world and who lives in it: nodes that drive machines, their pools, and the applications."""
