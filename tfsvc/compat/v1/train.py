"""``tf.compat.v1.train``: servers and clusters under their older names."""

from tfsvc.distribute.server import Server
from tfsvc.train import ClusterDef, ClusterSpec, JobDef, ServerDef

__all__ = ["ClusterDef", "ClusterSpec", "JobDef", "Server", "ServerDef"]
