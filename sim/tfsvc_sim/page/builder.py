"""The builder: what is learned of a run, bit by bit, as a recording."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any, Final

from tfsvc.errors import RpcError
from tfsvc.protocol import messages as m
from tfsvc.protocol.contract import (
    Answered,
    Asked,
    Call,
    Command,
    Event,
    Failed,
    Finish,
    Invoked,
    Note,
    Posed,
    Produced,
    Reply,
    Snapshot,
    Stopped,
    Synced,
    Wanted,
    Woke,
)
from tfsvc.protocol.ids import CallId, Instant
from tfsvc.protocol.splits import Lease
from tfsvc_sim.judging import ledger
from tfsvc_sim.page import recording as r

BELIEFS_MAX: Final = 500
"""Pictures kept of each node; when there are more, every second one goes."""
TAKINGS_MAX: Final = 50_000
"""Elements that are listed one by one; more are listed in rows."""
EVENTS_MAX: Final = 1_000_000
TEXT_MAX: Final = 400
VIEW_MAX: Final = 8000
"""Longer texts and pictures are cut."""

_KINDS: Final[dict[type, r.Kind]] = {
    Asked: r.Kind.ASKED,
    Answered: r.Kind.ANSWERED,
    Failed: r.Kind.FAILED,
    Produced: r.Kind.PRODUCED,
    Synced: r.Kind.SYNCED,
    Woke: r.Kind.WOKE,
    Wanted: r.Kind.APPLICATION,
    Stopped: r.Kind.APPLICATION,
    Posed: r.Kind.APPLICATION,
    Invoked: r.Kind.APPLICATION,
}
_RANKS: Final = ("dispatcher", "worker", "server", "rpc-server", "reader")


class Builder:
    """Collects; every node must be announced before anything else is said of it."""

    def __init__(self) -> None:
        self.nodes: dict[str, r.NodeInfo] = {}
        self._numbers: dict[str, int] = {}
        self._lives: list[r.Life] = []
        self._living: dict[int, int] = {}
        self._spans: list[r.Span] = []
        self._pauses: dict[int, int] = {}
        self._events: list[r.Event] = []
        self.messages: list[r.Message] = []
        self._takings: list[r.Taking] = []
        self._beliefs: dict[int, list[r.Belief]] = defaultdict(list)
        self._sparse: dict[int, int] = defaultdict(lambda: 1)
        self._seen: dict[int, int] = defaultdict(int)
        self._views: dict[int, Snapshot] = {}
        """The newest picture of each node."""
        self._calls: dict[CallId, m.Request] = {}
        self._lanes: dict[tuple[int, int, int], list[int]] = {}
        self._left_out: dict[str, None] = {}

    def node(self, name: str, role: str) -> int:
        """The number of a node, announced or new."""
        if name not in self.nodes:
            self._numbers[name] = len(self.nodes)
            self.nodes[name] = r.NodeInfo(name, role)
        return self._numbers[name]

    # --- lives ---

    def born(self, node: int, at: Instant, incarnation: int) -> None:
        self._living[node] = len(self._lives)
        self._lives.append(r.Life(node, incarnation, at, None, ""))

    def died(self, node: int, at: Instant, how: str) -> None:
        """Its life ends, and with it all that lasted."""
        place = self._living.pop(node, None)
        if place is not None:
            self._lives[place] = replace(self._lives[place], end=at, how=how)
        self.resumed(node, at)
        for key in [key for key in self._lanes if key[0] == node]:
            self._close(key, at)

    def paused(self, node: int, at: Instant) -> None:
        self._pauses[node] = self.span(node, r.SpanKind.PAUSE, at, "paused")

    def resumed(self, node: int, at: Instant) -> None:
        if node in self._pauses:
            self.close(self._pauses.pop(node), at)

    def span(self, node: int, kind: r.SpanKind, begin: Instant, text: str) -> int:
        """Something begins that lasts; its number, for ``close``."""
        self._spans.append(r.Span(node, kind, begin, None, _cut(text)))
        return len(self._spans) - 1

    def close(self, span: int, end: Instant) -> None:
        self._spans[span] = replace(self._spans[span], end=end)

    # --- events ---

    def event(self, at: Instant, node: int, kind: r.Kind, text: str, cause: int = 0) -> int:
        """One more event; its number, 0 where there are too many already."""
        if len(self._events) >= EVENTS_MAX:
            self._left_out[f"events behind the first {EVENTS_MAX:,}"] = None
            return 0
        self._events.append(r.Event(at, node, kind, _cut(text), cause))
        return len(self._events)

    def latest(self, node: int, event: int, at: Instant) -> int:
        """The event in which a node says something now: ``event``, or its last one if that is another's; 0 for none.

        A reset is no machine's word: the node that crashes sends it, or nobody does, where nobody listens.
        """
        if event and self._events[event - 1].node == node:
            return event
        last = len(self._events)
        return last if last and self._events[-1].node == node and self._events[-1].at == at else 0

    def handled(self, at: Instant, node: int, event: Event, commands: Sequence[Command], text: str) -> int:
        """A node's machine was told of an event, and said something."""
        number = self.event(at, node, _KINDS.get(type(event), r.Kind.OTHER), text)
        match event:
            case Answered(call, response):
                self._answered(at, node, self._calls.pop(call, None), response)
            case Failed(call):
                self._calls.pop(call, None)
            case _:
                pass
        for command in commands:
            match command:
                case Call(call, _, request):
                    self._calls[call] = request
                case Reply(_, m.GetFramesResponse(end_of_stream=True)) if isinstance(event, Asked | Produced):
                    self._streamed(at, node, event)
                case Note(level, told):
                    self.event(at, node, r.Kind.NOTE, f"{level}: {told}", number)
                case Finish(_, RpcError() as error):
                    self.event(at, node, r.Kind.FAILED, f"application is told: {error.message}", number)
                case _:
                    pass
        return number

    def hear(self, message: int, event: int) -> None:
        """A message was heard in an event, which it caused."""
        self.messages[message] = replace(self.messages[message], heard=event)
        if event:
            self._events[event - 1] = replace(self._events[event - 1], cause=self.messages[message].said)

    def _answered(self, at: Instant, node: int, asked: m.Request | None, response: m.Response) -> None:
        """A worker's lanes and what they were leased; readers' reports do not concern it."""
        match asked, response:
            case m.OpenLaneRequest(lane_id, attempt), m.OpenLaneResponse():
                key = node, lane_id, attempt
                behind = f" behind {response.checkpoint.ordinal}" if response.checkpoint.ordinal else ""
                self._lanes[key] = [self.span(node, r.SpanKind.LANE, at, f"lane {lane_id}.{attempt}{behind}")]
                for lease in response.leases:
                    self._leased(at, key, lease)
            case m.LeaseSplitsRequest(lane_id, attempt), m.LeaseSplitsResponse(lease):
                self._leased(at, (node, lane_id, attempt), lease)
            case _:
                pass

    def _leased(self, at: Instant, key: tuple[int, int, int], lease: Lease) -> None:
        node, lane_id, attempt = key
        if lease.size and key in self._lanes:
            splits = " ".join(f"{lo}-{hi}" for lo, hi in lease.spans)
            text = f"lane {lane_id}.{attempt}: splits {splits} of source {lease.provider}"
            self._lanes[key].append(self.span(node, r.SpanKind.LEASE, at, text))

    def _streamed(self, at: Instant, node: int, event: Asked | Produced) -> None:
        request = event.request if isinstance(event, Asked) else None
        if isinstance(request, m.GetFramesRequest) and request.lane_id:
            self._close((node, request.lane_id, request.attempt), at)

    def _close(self, key: tuple[int, int, int], at: Instant) -> None:
        for span in self._lanes.pop(key, ()):
            self.close(span, at)

    # --- what applications took, and what nodes believe ---

    def took(self, taking: ledger.Taking) -> None:
        """An application took an element; those in a row make one entry where little is known of them, or are many."""
        reader = self._numbers[taking.reader]
        text = taking.error or " ".join(map(str, taking.values))
        last = self._takings[-1] if self._takings else None
        many = len(self._takings) >= TAKINGS_MAX
        if (
            last is not None
            and (last.reader, last.stream, last.worker, last.job) == (reader, taking.stream, taking.worker, taking.job)
            and last.ordinal + last.count == taking.ordinal
            and (many or not (text or last.text))
        ):
            if many:
                self._left_out["what many of the elements held that were taken in a row"] = None
            self._takings[-1] = replace(last, until=taking.at, count=last.count + 1, text="")
            return
        place = taking.job, reader, taking.stream, taking.ordinal
        self._takings.append(r.Taking(taking.at, taking.at, *place, 1, taking.worker, _cut(text)))

    def believes(self, at: Instant, node: int, view: Snapshot) -> None:
        """A picture of a node; only changes are kept, and of many only some."""
        self._seen[node] += 1
        if self._seen[node] % self._sparse[node] or (node in self._views and self._views[node] == view):
            return
        self._views[node] = view
        kept = self._beliefs[node]
        text = json.dumps(_plain(view))
        if len(text) > VIEW_MAX:
            text = json.dumps({"state": _cut(text, VIEW_MAX)})
        kept.append(r.Belief(at, node, text))
        if len(kept) > BELIEFS_MAX:
            self._beliefs[node] = kept[::2]
            self._sparse[node] *= 2
            self._left_out["some of what nodes believed: of each, pictures at intervals are kept"] = None

    def recording(
        self,
        title: str,
        end: Instant,
        facts: Sequence[tuple[str, str]] = (),
        problems: Sequence[str] = (),
    ) -> r.Recording:
        """All of it, with the nodes in the order of what they do."""
        names = sorted(
            self.nodes, key=lambda name: (_rank(self.nodes[name].role), *_counted(name), self._numbers[name])
        )
        place = {self._numbers[name]: i for i, name in enumerate(names)} | {-1: -1}
        order = sorted(range(len(self._events)), key=lambda i: self._events[i].at)
        number = {old + 1: new + 1 for new, old in enumerate(order)} | {0: 0}
        events = (self._events[i] for i in order)
        messages = sorted(self.messages, key=lambda message: message.sent)
        beliefs = (belief for kept in self._beliefs.values() for belief in kept)
        return r.Recording(
            title,
            end,
            tuple(self.nodes[name] for name in names),
            tuple(replace(life, node=place[life.node]) for life in self._lives),
            tuple(replace(span, node=place[span.node]) for span in self._spans),
            tuple(replace(event, node=place[event.node], cause=number[event.cause]) for event in events),
            tuple(
                replace(o, source=place[o.source], target=place[o.target], said=number[o.said], heard=number[o.heard])
                for o in messages
            ),
            tuple(replace(o, reader=place[o.reader]) for o in sorted(self._takings, key=lambda taking: taking.at)),
            tuple(replace(o, node=place[o.node]) for o in sorted(beliefs, key=lambda belief: belief.at)),
            tuple(facts),
            tuple(problems),
            tuple(self._left_out),
        )


def _counted(name: str) -> tuple[str, int]:
    """``worker12`` stands behind ``worker2``; nodes with other names stand as they came."""
    found = re.fullmatch(r"([a-z]+)(\d+)", name)
    return (found[1], int(found[2])) if found else ("", 0)


def _rank(role: str) -> int:
    return _RANKS.index(role) if role in _RANKS else len(_RANKS)


def _cut(text: str, most: int = TEXT_MAX) -> str:
    return text if len(text) <= most else f"{text[:most]}..."


def _plain(view: Any) -> Any:
    """A picture as JSON; what is not data is told as a text."""
    if is_dataclass(view):
        return {field.name: _plain(getattr(view, field.name)) for field in fields(view)}
    if isinstance(view, dict):
        return {str(key): _plain(value) for key, value in view.items()}
    if isinstance(view, list | tuple):
        return [_plain(item) for item in view]
    return view if view is None or isinstance(view, bool | int | float | str) else repr(view)
