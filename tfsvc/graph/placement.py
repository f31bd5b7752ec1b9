"""Placement: which task runs each node.

A node goes where its device says. What takes a handle of state follows it, ``_class`` attributes bind nodes
together, constants go to those that use them, and what is left runs on the master's task.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final

from tfsvc.errors import InvalidArgumentError
from tfsvc.graph.definition import Graph, Node
from tfsvc.graph.traits import gives_handle, gives_reference, takes_reference
from tfsvc.protocol.cluster.names import CPU, DeviceSpec, Task, parse_device
from tfsvc.protocol.cluster.planning import Places

_TOGETHER: Final = b"loc:@"


def place(graph: Graph, places: Places) -> dict[str, Task]:
    """The task of every node.

    Raises:
      InvalidArgumentError: if a node wants a device that is not there, or bound nodes want different ones.
    """
    groups = _Groups(graph.nodes)
    takers: dict[str, None] = {}
    for node in graph.nodes.values():
        for other in _state_of(node, graph.nodes):
            takers[node.name] = None
            groups.join(node.name, other)
        for other in _together(node, graph.nodes):
            groups.join(node.name, other)
    nodes = graph.nodes.values()
    wanted: dict[str, tuple[Node, DeviceSpec]] = {}
    for wishes in (
        [node for node in nodes if node.device and node.name not in takers],
        [node for node in nodes if node.device and node.name in takers],
        [replace(node, device=node.fallback) for node in nodes if not node.device and node.fallback],
    ):
        wanted |= _agreed([node for node in wishes if groups.of(node.name) not in wanted], groups)
    tasks = {group: _choose(node, spec, places) for group, (node, spec) in wanted.items()}
    found = {name: tasks.get(groups.of(name)) for name in graph.nodes}
    return _settled(graph, groups, found, places.master)


def _agreed(wishes: Iterable[Node], groups: _Groups) -> dict[str, tuple[Node, DeviceSpec]]:
    """What each group wants, of nodes whose devices have the same weight."""
    wanted: dict[str, tuple[Node, DeviceSpec]] = {}
    for node in wishes:
        group, spec = groups.of(node.name), _spec(node)
        known = wanted.get(group)
        wanted[group] = node, spec if known is None else _both(known, (node, spec))
    return wanted


def _settled(graph: Graph, groups: _Groups, found: Mapping[str, Task | None], master: Task) -> dict[str, Task]:
    """Constants with their users, everything else that has no place with the master."""
    users: dict[str, dict[Task, None]] = {}
    for node in graph.nodes.values():
        for name, _ in node.inputs:
            users.setdefault(name, {})[found[node.name] or master] = None
    placed: dict[str, Task] = {}
    for name, task in found.items():
        node = graph.nodes[name]
        if (
            task is None
            and node.op == "Const"
            and not node.controls
            and groups.alone(name)
            and len(users.get(name, ())) == 1
        ):
            task = next(iter(users[name]))
        placed[name] = task or master
    return placed


def _state_of(node: Node, nodes: Mapping[str, Node]) -> Iterable[str]:
    """The nodes whose state this one takes: it goes where they are, whatever its own device says."""
    for index, (name, output) in enumerate(node.inputs):
        giver = nodes[name]
        if gives_handle(giver, output) or (gives_reference(giver.op) and takes_reference(node.op, index)):
            yield name


def _together(node: Node, nodes: Mapping[str, Node]) -> Iterable[str]:
    """The nodes that its ``_class`` attribute binds it to."""
    if "_class" in node.proto.attr:
        for each in node.proto.attr["_class"].list.s:
            name = each[len(_TOGETHER) :].decode()
            if each.startswith(_TOGETHER) and name in nodes:
                yield name


class _Groups:
    """Sets of nodes that have one place, each known by one of them."""

    def __init__(self, names: Iterable[str]) -> None:
        self._above = {name: name for name in names}
        self._joined: dict[str, None] = {}

    def of(self, name: str) -> str:
        above = self._above
        while above[name] != name:
            above[name] = above[above[name]]
            name = above[name]
        return name

    def join(self, one: str, other: str) -> None:
        self._joined[one] = self._joined[other] = None
        self._above[self.of(one)] = self.of(other)

    def alone(self, name: str) -> bool:
        return name not in self._joined


def _spec(node: Node) -> DeviceSpec:
    try:
        return parse_device(node.device)
    except ValueError as error:
        raise InvalidArgumentError(message=f"{error}. It is the device of node '{node.name}'") from error


def _both(one: tuple[Node, DeviceSpec], other: tuple[Node, DeviceSpec]) -> DeviceSpec:
    """What two nodes that are bound together want."""
    for field in ("job", "task"):
        a, b = getattr(one[1], field), getattr(other[1], field)
        if a is not None and b is not None and a != b:
            raise InvalidArgumentError(
                message=f"Cannot colocate nodes {{{{colocation_node {one[0].name}}}}} and {{{{colocation_node "
                f"{other[0].name}}}}}: cannot merge devices with incompatible jobs or tasks: "
                f"'{one[0].device}' and '{other[0].device}'"
            )
    return one[1].over(other[1])


def _choose(node: Node, spec: DeviceSpec, places: Places) -> Task:
    """The first task that fits, the master's own before others."""
    candidates = (places.master, *places.incarnations)
    there = spec.kind in (None, CPU) and spec.index in (None, 0)
    if there or places.soft:
        for task in candidates:
            if spec.takes(task):
                return task
    available = ", ".join(task.device for task in places.incarnations)
    raise InvalidArgumentError(
        message=f"Cannot assign a device for operation {node.name}: {{{{node {node.name}}}}} was explicitly assigned "
        f"to {node.device} but available devices are [ {available} ]. Make sure the device specification refers to a "
        "valid device."
    )
