"""The machine contract: the one way in and out of every role, on every driver.

A *role* (dispatcher, worker, client, RPC server, RPC client) is a state machine. It knows no socket,
clock, thread, disk or source of luck. ``handle`` tells it what happened and returns what to do; nothing
else changes it.

What a driver owes a machine
1. It hands in events one at a time, each with the node's monotonic time.
2. It carries out the commands of a step in order.
3. It appends updates in order, makes them durable, and reports the highest durable number (``Synced``).
4. It answers every ``Call`` with exactly one ``Answered`` or ``Failed``, and every ``Produce``, ``Compute``,
   ``Execute``, ``Pull`` and ``Store`` with exactly one ``Produced``, ``Computed``, ``Executed``, ``Pulled`` or
   ``Stored``, unless the node dies first. The deeds of ``Store`` are done one after the other.
5. It hands in ``Woke`` at or after ``deadline()``, and asks for the deadline again after every event.
   An early, late or repeated ``Woke`` changes nothing but counts, so nothing ever needs to be cancelled.
6. Where it learns that the asker of a request in ``messages.CANCELLABLE`` waits no longer, it says so (``Cancelled``).
7. A crash drops the object. A restart is a new machine, folded from what the journal kept, with a
   higher incarnation.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from tfsvc.errors import RpcError
from tfsvc.protocol.ids import Address, CallId, Instant
from tfsvc.record import record

if TYPE_CHECKING:
    from tfsvc.protocol.computing import Computation, Program, Value
    from tfsvc.protocol.filing import Deed
    from tfsvc.protocol.messages import CallResponse, Request, Response, Tensors
    from tfsvc.protocol.production import Production, Recipe
    from tfsvc.protocol.reading import Delivery, Taken
    from tfsvc.protocol.rpc.wishes import Wish
    from tfsvc.protocol.splits import Lease
    from tfsvc.protocol.updates import Update


@record
class Asked:
    """A peer called; ``Reply`` with the same ``call`` answers it, now or later."""

    call: CallId
    peer: Address
    request: Request


@record
class Cancelled:
    """Nobody waits for the answer to a call any more: its time is over, or whoever ``Asked`` gave up or is gone.

    A hint: it may come late or not at all, and the request may be repeated under another call.
    """

    call: CallId


@record
class Answered:
    """A call of ours was answered."""

    call: CallId
    response: Response


@record
class Failed:
    """A call of ours was not answered; ``error.outcome`` says whether it may have run."""

    call: CallId
    error: RpcError


@record
class Synced:
    """Updates up to this number are durable."""

    upto: int


@record
class Woke:
    """Time has passed.

    ``taken`` tells what a reader's application has consumed meanwhile, where its driver can see that.
    """

    taken: tuple[Taken, ...] = ()


@record
class Produced:
    """A ``Produce`` ended: a batch of elements, a want of splits, an end or an error."""

    producer: int
    production: Production


@record
class Wanted:
    """The application asks a client for its next batch.

    ``taken`` tells what it has consumed so far, ``nearby`` the addresses of the workers in its own process.
    """

    token: int
    taken: tuple[Taken, ...]
    nearby: tuple[Address, ...] = ()


@record
class Stopped:
    """The node is asked to end in good order; a client's ``taken`` is final.

    A worker may wait for ``grace_ns`` until nothing is lost by its end.
    """

    token: int
    taken: tuple[Taken, ...] = ()
    grace_ns: int = 0


@record
class Computed:
    """A ``Compute`` ended: values to send, and whether the piece goes on."""

    piece: int
    computation: Computation


@record
class Posed:
    """The application has a question for ``peer``; ``Finish`` with the same ``token`` answers it.

    ``timeout_ns`` is how long it waits, ``None`` as long as it takes.
    """

    token: int
    peer: Address
    request: Request
    timeout_ns: int | None


@record
class Executed:
    """An ``Execute`` ended: a result or an error for each of its calls."""

    run: int
    results: tuple[CallResponse | RpcError, ...]


@record
class Pulled:
    """A ``Pull`` ended: the stream's next item, or its end or the error that ended it."""

    run: int
    item: CallResponse | RpcError | None


@record
class Invoked:
    """The application wants something of a peer's methods; ``Finish`` with the same ``token`` answers it."""

    token: int
    wish: Wish


@record
class Stored:
    """A ``Store`` ended, well unless there is an error."""

    number: int
    error: RpcError | None = None


Event = (
    Asked
    | Cancelled
    | Answered
    | Failed
    | Synced
    | Woke
    | Produced
    | Computed
    | Stored
    | Executed
    | Pulled
    | Wanted
    | Posed
    | Invoked
    | Stopped
)


@record
class Call:
    """Ask ``peer``; the answer comes as ``Answered`` or ``Failed`` with the same ``call``."""

    call: CallId
    peer: Address
    request: Request
    timeout_ns: int


@record
class Reply:
    """Answer a call that was ``Asked``."""

    call: CallId
    answer: Response | RpcError


@record
class Produce:
    """Run a pipeline for a while.

    The first command of a ``producer`` carries its ``recipe``; later ones only what is new.
    """

    producer: int
    recipe: Recipe | None
    leases: tuple[Lease, ...]
    elements_max: int
    bytes_max: int


@record
class Compute:
    """Run a piece of a graph as far as the values go that it has.

    The first command of a ``piece`` carries its ``program``; each carries the values that have come since.
    """

    piece: int
    program: Program | None
    values: tuple[Value, ...]


@record
class Wipe:
    """Drop the state in these containers, in all of them where there are none; ``scope``: of one session alone."""

    containers: tuple[str, ...]
    scope: str | None = None


@record
class Discard:
    """Drop a pipeline or piece and all it holds; what it gives while it is on its way is ignored."""

    producer: int


@record
class Store:
    """Do something to the files of a distributed snapshot."""

    number: int
    deed: Deed


@record
class Finish:
    """Hand a result to the application that asked with ``token``."""

    token: int
    result: Delivery | RpcError | None


@record
class About:
    """What a note is about, by the ids that logs are searched for; empty or 0 for what it is not about."""

    job: str = ""
    iteration: int = 0
    task: int = 0
    lane: int = 0
    reader: int = 0
    worker: str = ""


@record
class Note:
    """Tell people: a warning or a fact for the log. Without effect on the protocol."""

    level: str
    text: str
    about: About = About()


@record
class Execute:
    """Run a registered function once, for one call or a batch of them.

    Attributes:
      calls: the serialized argument tensors of each call.
    """

    run: int
    method: str
    calls: tuple[Tensors, ...]


@record
class Pull:
    """Run a function whose results stream until it gives its next one.

    The first command of a ``run`` carries the serialized argument tensors; later ones carry ``None``.
    """

    run: int
    method: str
    inputs: Tensors | None


@record
class Abandon:
    """End a stream before its end; a ``Pulled`` still on its way is ignored."""

    run: int


@record
class Exit:
    """The node's work is over: it may end, once what was said before is said.

    With an ``error`` it cannot go on, and whoever waits for its end is told why.
    """

    error: RpcError | None = None


Work = Execute | Pull | Abandon
"""What runs registered functions."""

Word = Call | Reply | Produce | Compute | Wipe | Discard | Store | Work | Finish | Note | Exit
"""What a role may say; the gate holds words until the updates before them are durable."""


@record
class Append:
    """Add update ``number`` to the journal."""

    number: int
    update: Update


Command = Word | Append


@record
class Step:
    """What a role decided: facts to keep, then words to say."""

    updates: tuple[Update, ...] = ()
    words: tuple[Word, ...] = ()


NOTHING = Step()


class Snapshot(Protocol):
    """A read-only picture of a role for oracles, metrics and dashboards."""


class Role(Protocol):
    """A state machine of the protocol."""

    def handle(self, event: Event, now: Instant) -> Step:
        """Takes one event; the only method that changes the role."""
        ...

    def deadline(self) -> Instant:
        """When the role next wants ``Woke``, ``NEVER`` if it waits for others only; a pure read."""
        ...

    def view(self) -> Snapshot:
        """A picture of the state, safe to keep."""
        ...


class Machine(Protocol):
    """What a driver drives: every command may be carried out at once."""

    def handle(self, event: Event, now: Instant) -> Sequence[Command]: ...

    def deadline(self) -> Instant: ...

    def view(self) -> Snapshot: ...
