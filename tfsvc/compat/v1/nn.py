"""``tf.compat.v1.nn``: what layers are made of."""

from tfsvc.compat.v1.math import relu, sigmoid, softmax, tanh

__all__ = ["relu", "sigmoid", "softmax", "tanh"]
