"""``tf.train``: who is in a cluster, and which member a server is."""

from tfsvc.train.cluster_spec import ClusterSpec
from tfsvc.train.device_filters import ClusterDeviceFilters
from tfsvc.train.protos import ClusterDef, JobDef, ServerDef

__all__ = ["ClusterDef", "ClusterDeviceFilters", "ClusterSpec", "JobDef", "ServerDef"]
