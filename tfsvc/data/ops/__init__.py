"""The operators of ``tf.data``, one file each."""
