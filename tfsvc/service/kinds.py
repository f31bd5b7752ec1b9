"""Whose dispatcher it is: ours, or TensorFlow's."""

from __future__ import annotations

from tfsvc.protocol import messages as m
from tfsvc.protocol.ids import SECOND
from tfsvc.service.backend import backend

PATIENCE_NS = 3600 * SECOND
"""How long a dispatcher is waited for, as TensorFlow does."""


def is_ours(protocol: str, address: str) -> bool:
    """Whether the dispatcher there is one of tfsvc's.

    Raises:
      OpError: if there is none within an hour.
    """
    answer = backend(protocol).ask(address, m.GetVersionRequest(), PATIENCE_NS)
    assert isinstance(answer, m.GetVersionResponse)
    return answer.incarnation != 0
