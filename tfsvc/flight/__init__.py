"""Flight recordings: what a node of the real world was told, and what it said, so that it can be played again.

A machine changes by events alone, so its birth and its events are all there is to know. A recording is a file of
lines: how the life began, then for each event the time and the event, and the digests of the commands that came of it.
"""
