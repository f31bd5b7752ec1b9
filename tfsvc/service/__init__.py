"""The data service for users: servers, registration, and datasets that are read from it.

``tf.data.experimental.service`` shows what is public of it.
"""
