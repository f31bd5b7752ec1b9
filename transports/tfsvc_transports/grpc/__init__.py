"""Nodes on a network: gRPC with TensorFlow's wire format."""
