"""``tf.distribute``: servers of a cluster and what they are asked."""

from tfsvc.distribute import experimental

__all__ = ["experimental"]
