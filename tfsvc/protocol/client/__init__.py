"""The client: reads one iteration for one application, and asks single questions.

``machine`` opens the iteration and reads it; ``heartbeats`` keeps the dispatcher informed; ``streams``
fetch ahead from workers, ours by frames and TensorFlow's by elements; ``caller`` asks one question.
"""
