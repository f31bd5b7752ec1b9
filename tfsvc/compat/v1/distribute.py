"""``tf.compat.v1.distribute``: servers under their older name."""

from tfsvc.distribute.server import Server

__all__ = ["Server"]
