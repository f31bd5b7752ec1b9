"""Server reflection, where it is asked for: tools such as ``grpcurl`` then know the services without a schema.

It tells whoever connects what may be called, so it is off. It needs ``tfsvc[reflection]``.
"""

from __future__ import annotations

import logging
import os
from typing import Final

import grpc

from tfsvc.wire.describing import services

LOG = logging.getLogger("tfsvc")

VARIABLE: Final = "TFSVC_GRPC_REFLECTION"
"""Set to 1, all servers of a process offer it."""


def offer(server: grpc.Server) -> None:
    """Adds it to a server that has not started, if the environment asks for that."""
    if os.environ.get(VARIABLE, "") in ("", "0"):
        return
    try:
        from grpc_reflection.v1alpha import reflection
    except ImportError:
        LOG.warning("%s is set, but grpcio-reflection is not installed: pip install 'tfsvc[reflection]'", VARIABLE)
        return
    pool, names = services()
    reflection.enable_server_reflection((*names, reflection.SERVICE_NAME), server, pool=pool)
