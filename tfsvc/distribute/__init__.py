"""``tf.distribute``: servers of a cluster and what they are asked."""

from tfsvc.distribute import experimental
from tfsvc.distribute.server import Server

__all__ = ["Server", "experimental"]
