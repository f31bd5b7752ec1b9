"""Nodes on a network: gRPC with TensorFlow's wire format."""

import os

# Processes that use gRPC are forked all the time, by torch's DataLoader and by a notebook's "!ls". gRPC
# reads this when it is first imported; without it, children of a process that is just reading crash.
os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "1")
