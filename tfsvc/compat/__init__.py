"""``tf.compat``: names of older versions."""

from tfsvc.compat import v1

__all__ = ["v1"]
