"""The worker: runs its part of each iteration and gives the elements to whoever may have them.

``machine`` routes events; ``registration`` talks to the dispatcher; a ``producer`` controls one pipeline
and its splits; ``lanes``, ``shared`` and ``single`` hand its frames to one reader, to several, and to
TensorFlow's readers.
"""
