"""Nodes on a network: gRPC with TensorFlow's wire format."""

import os

# Both are read when gRPC is first imported.
# Processes that use gRPC are forked all the time, by torch's DataLoader and by a notebook's "!ls"; without
# this, children of a process that is just reading crash.
os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "1")
# What gRPC says on stderr below this level (about peers that went away, say) callers are told as errors.
os.environ.setdefault("GRPC_VERBOSITY", "ERROR")
