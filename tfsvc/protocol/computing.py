"""What a cluster's worker asks of the piece of a graph it runs, and what the piece gives back."""

from __future__ import annotations

from tfsvc.errors import RpcError
from tfsvc.record import record


@record
class Value:
    """A tensor on its way between pieces, under its rendezvous key; ``dead``: of a branch not taken."""

    key: str
    tensor: bytes
    dead: bool = False


@record
class Program:
    """All that a piece needs to start.

    Attributes:
      graph: a serialized ``GraphDef`` whose edges to other pieces are ``_Send`` and ``_Recv`` nodes.
      session: the session that it is of.
      scope: whose state it sees: a session's own, or the task's where empty.
      container: where variables go that name none.
      task: the name of the task that runs it.
    """

    graph: bytes
    session: str
    scope: str
    container: str
    task: str


@record
class Finished:
    """Every node of the piece has run."""


@record
class Waiting:
    """The piece goes on when a value for one of ``keys`` is there or, if ``stalled``, a queue has changed."""

    keys: tuple[str, ...]
    stalled: bool = False


@record
class Failure:
    """A node failed; the piece's writes to the task's state since it last waited are undone."""

    error: RpcError


@record
class Computation:
    """The outcome of one ``Compute``.

    Attributes:
      sent: values for other pieces, and those fetched.
      stirred: whether a queue has changed, so that stalled pieces may go on.
      spent_ns: time it worked, 0 where it is not measured.
    """

    sent: tuple[Value, ...]
    status: Finished | Waiting | Failure
    stirred: bool = False
    spent_ns: int = 0
