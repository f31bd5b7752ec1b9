"""Agreement: no piece of a step writes before every piece has computed all that waits for no write.

So a step that fails while it computes, on whichever task, and one that needs a task which is not there, leaves
nothing behind anywhere. It is the first phase of a commit in two phases, and it is made of nodes alone: each piece
tells one of them, the *hub*, that it is ready, and the hub tells the pieces that write. Where a tensor goes that way
in any case, it brings the word along; so the usual step of a parameter server costs no further message.
"""

from __future__ import annotations

from typing import Final

from tfsvc.graph.definition import Node
from tfsvc.graph.parts import SEND, Part, Parts
from tfsvc.protocol.cluster.names import Task
from tfsvc.wire import tfsvc_pb2 as pb

_SURE: Final = frozenset({"Const", "VarHandleOp", "Variable", "VariableV2", "NoOp"})
"""Operators that cannot fail."""


def agree(parts: Parts, master: Task) -> None:
    """Adds to the parts of a step what lets their writes wait for each other's computing.

    Args:
      parts: complete otherwise.
      master: the hub, where it has a part.
    """
    writing = [task for task, part in sorted(parts.by_task.items()) if part.writes]
    if not writing or len(parts.by_task) == 1:
        return
    hub = master if master in parts.by_task else min(parts.by_task)
    for task, part in sorted(parts.by_task.items()):
        # The only part that writes has computed before it does so.
        if task != hub and writing != [task] and not _told(part, hub, parts.late):
            ready = _add_ready(part, task, [node.name for node in _computed(part, parts.late)])
            parts.carry_control(task, hub, ready)
    part = parts.of(hub)
    ready = _add_ready(part, hub, [*(node.name for node in _computed(part, parts.late)), *part.awaited])
    for task in writing:
        if task == hub:
            part.awaited.append(ready)
        elif messenger := _messenger(part, parts.of(task), task, parts.late):
            part.delay(messenger, ready)
        else:
            parts.carry_control(hub, task, ready)


def _computed(part: Part, late: dict[str, None]) -> list[Node]:
    """The nodes that a part can run before any write, without those that bring and send values."""
    brought = dict.fromkeys(part.awaited)
    return [n for n in part.nodes.values() if n.op != SEND and n.name not in late and n.name not in brought]


def _add_ready(part: Part, task: Task, when: list[str]) -> str:
    """Adds a node that runs when its part is ready."""
    name = f"_ready/{task.job}_{task.index}"
    part.add(Node(name, "NoOp", (), tuple(when), task.device, pb.NodeDef()))
    return name


def _told(part: Part, hub: Task, late: dict[str, None]) -> bool:
    """Whether the values that the hub gets from a part show that it is ready."""
    given = [name for (task, _), name in part.given.items() if task == hub and name not in late]
    shown: dict[str, None] = {}
    pending = list(given)
    while pending:
        name = pending.pop()
        if name not in shown:
            shown[name] = None
            pending.extend(part.nodes[name].before)
    return bool(given) and all(node.name in shown or node.op in _SURE for node in _computed(part, late))


def _messenger(hub: Part, part: Part, task: Task, late: dict[str, None]) -> str | None:
    """What sends a value from the hub to a part where nothing but writes, and what follows them, waits for it.

    It may be held back until all are ready, since nobody needs it to become so.
    """
    needed = dict.fromkeys(name for node in _computed(part, late) for name in node.before)
    for brought, received in part.received.items():
        send = hub.given.get((task, brought))
        if send is not None and send not in late and received not in needed:
            return send
    return None
