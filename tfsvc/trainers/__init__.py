"""What trainers of every library share: which consumer a process is, and its part of a pass over a dataset."""

from tfsvc.trainers.consumers import Consumer, consumer_from_environment

__all__ = ["Consumer", "consumer_from_environment"]
