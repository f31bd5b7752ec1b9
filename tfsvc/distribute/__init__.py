"""``tf.distribute``: the servers of a cluster."""

from tfsvc.distribute.server import Server

__all__ = ["Server"]
