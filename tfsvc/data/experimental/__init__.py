"""``tf.data.experimental``."""

from tfsvc.data.experimental import service
from tfsvc.data.operator import INFINITE as INFINITE_CARDINALITY
from tfsvc.data.operator import UNKNOWN as UNKNOWN_CARDINALITY

__all__ = ["INFINITE_CARDINALITY", "UNKNOWN_CARDINALITY", "service"]
