"""The metrics of a trainer: what the readers of its process took, and how long it waited for them."""

from __future__ import annotations

from tfsvc.service.backend import HttpAddress, Listening, backend
from tfsvc.service.config import DEFAULT_PROTOCOL, check_http
from tfsvc.service.security import Security


def metrics() -> str:
    """The metrics of all readers of this process, and of the process itself, as Prometheus's text.

    ``tfsvc_reader_wait_seconds_total`` is how long the application waited for elements, by job; divided by
    ``tfsvc_reader_seconds_total`` it is the part of its time that reading costs it.

    Example::

        "tfsvc_reader_open" in tf.data.experimental.service.metrics()  # True
    """
    return backend(DEFAULT_PROTOCOL).reader_metrics()


def start_metrics_server(port: int = 0, host: str = "localhost", *, security: Security | None = None) -> Listening:
    """Answers ``/metrics`` by HTTP with :func:`metrics`, until it is closed or the process ends.

    The variable ``TFSVC_METRICS_PORT`` of the environment does the same, for the loopback interface, when the process
    opens its first reader: without a change to the program.

    Args:
      port: the port to bind; 0 for any free one, which ``port`` of the result names.
      host: the interface to bind; the loopback one when not given.
      security: whom it lets in; as the environment says when not given. Another interface needs credentials or
        ``Security(insecure=True)``.

    Raises:
      tf.errors.OpError: if the address cannot be had.
    """
    check_http(port, host, security or Security())
    return backend(DEFAULT_PROTOCOL, security).serve_reader_metrics(HttpAddress(host, port))
