"""Whose dispatcher it is: ours, or TensorFlow's."""

from __future__ import annotations

from tfsvc.protocol import messages as m
from tfsvc.protocol.ids import SECOND
from tfsvc.service.backend import Service

PATIENCE_NS = 3600 * SECOND
"""How long a dispatcher is waited for, as TensorFlow does."""


def is_ours(service: Service) -> bool:
    """Whether the dispatcher there is one of tfsvc's.

    Raises:
      OpError: if there is none within an hour.
    """
    answer = service.ask(m.GetVersionRequest(), PATIENCE_NS)
    assert isinstance(answer, m.GetVersionResponse)
    return answer.incarnation != 0
