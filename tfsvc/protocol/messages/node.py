"""*Ours*: what any node that serves says of its process and machine, for those who look for what is wrong.

Whoever receives calls answers it, and no machine of the protocol: machines know no clock and no process.
"""

from __future__ import annotations

from tfsvc.record import record


@record
class AboutNodeRequest:
    pass


@record
class AboutNodeResponse:
    """A process that serves.

    Attributes:
      tfsvc: its release; so are ``python``, ``grpcio``, ``protobuf`` and ``cloudpickle``.
      time_ns: the time of day that its machine has, in nanoseconds since 1970.
      files_max: how many files it may have open.
      files_open: how many it has.
      shared_bytes: how much shared memory is free; -1 where there is none.
      memory_bytes: how much memory it may still take; -1 where that is not known.
    """

    tfsvc: str = ""
    python: str = ""
    grpcio: str = ""
    protobuf: str = ""
    cloudpickle: str = ""
    host: str = ""
    pid: int = 0
    time_ns: int = 0
    files_max: int = -1
    files_open: int = -1
    shared_bytes: int = -1
    memory_bytes: int = -1
