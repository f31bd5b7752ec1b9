"""``tf.distribute.experimental``."""

from tfsvc.distribute.experimental import rpc

__all__ = ["rpc"]
