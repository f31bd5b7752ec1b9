"""Functions on NumPy arrays with TensorFlow's names: what is registered with an RPC server.

``functions`` is ``tf.function``; ``ops`` are the operations that run at once; ``variables`` is ``tf.Variable``;
``symbolic`` stands for values that are not known yet, to learn what a function gives without running it.
"""
