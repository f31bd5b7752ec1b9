"""``tf.compat.v1``: graphs and sessions."""

from tfsvc.train.protos import ConfigProto, RunOptions

__all__ = ["ConfigProto", "RunOptions"]
