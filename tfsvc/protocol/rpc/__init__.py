"""Remote calls of registered functions: TensorFlow's RPC service, and what it lacks.

``server`` admits calls and answers them; ``sessions`` remembers calls, so that a repeated one runs once; ``queues``
decides when a method's function runs, and for how many calls at once; ``streams`` keeps results that come one by one.
``client`` makes calls and repeats them; ``receiving`` fetches streams.
"""
