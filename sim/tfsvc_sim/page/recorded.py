"""Recordings of real nodes, played again and put together as one run.

Each node has its own clock; the header of each file says how it stands to the time of day, and that is what nodes of
different machines are put together by. No number tells which call that arrived is which that was sent: the oldest that
asks the same of the same node is taken for it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from tfsvc.errors import Outcome, RpcError
from tfsvc.flight.codec import WITHHELD
from tfsvc.protocol import contract as c
from tfsvc.protocol import messages as m
from tfsvc.protocol.ids import SECOND, CallId, Instant
from tfsvc_sim.flight.replaying import Life, Moment, Replay, replay
from tfsvc_sim.nodes.telling import tell, tell_computation, tell_production
from tfsvc_sim.page import recording as r
from tfsvc_sim.page.builder import Builder

CLOCKS_NS = SECOND // 20
"""A call may seem to arrive so much before it was sent: clocks of machines differ."""


class _Said(NamedTuple):
    """A word of a node towards another."""

    at: Instant
    node: int
    event: int
    call: CallId
    body: m.Request | m.Response | RpcError


def recording_of(lives: Sequence[Life], title: str = "", trust: bool = False) -> tuple[r.Recording, list[Replay]]:
    """Plays all lives again: what happened, and how the replays went.

    Args:
      lives: of ``replaying.find``.
      trust: see ``replaying.replay``.

    Raises:
      FailedPreconditionError: see ``replaying.replay``.
    """
    putting = _Putting(min(life.header.wall_ns for life in lives))
    replays = [putting.add(life, trust) for life in lives]
    problems = [text for found in replays for text in (found.difference, *found.problems) if text]
    problems += [str(life.damage) for life in lives if life.damage is not None]
    first = lives[0].header
    facts = {
        "source": "recording of real nodes",
        "machines": ", ".join(dict.fromkeys(life.header.host for life in lives)),
        "events": f"{sum(found.events for found in replays):,}",
    }
    title = title or f"{first.role} {first.name}" + (f" and {len(lives) - 1} more" if len(lives) > 1 else "")
    return putting.recording(title, facts, problems), replays


class _Putting:
    """Puts lives together.

    Args:
      began: when the run began, since 1970.
    """

    def __init__(self, began: int) -> None:
        self._began = began
        self._build = Builder()
        self._end: Instant = 0
        self._requests: dict[CallId, _Said] = {}
        self._arrived: list[_Said] = []
        self._replies: dict[tuple[int, CallId], _Said] = {}
        self._outcomes: dict[CallId, _Said] = {}
        self._peers: dict[CallId, str] = {}

    def add(self, life: Life, trust: bool) -> Replay:
        header = life.header
        shift = header.wall_ns - header.at - self._began
        place = self._build.node(header.name, header.role)
        self._build.born(place, header.at + shift, header.incarnation)
        last = header.at + shift

        def watch(moment: Moment) -> None:
            nonlocal last
            last = moment.at + shift
            number = self._build.handled(last, place, moment.event, moment.commands, _describe(moment.event))
            self._note(last, place, number, moment)
            self._build.believes(last, place, moment.machine.view())

        found = replay(life, trust, watch)
        self._build.died(place, last, "")
        self._end = max(self._end, last)
        for taking in found.takings:
            self._build.took(replace(taking, at=taking.at + shift))
        return found

    def _note(self, at: Instant, place: int, number: int, moment: Moment) -> None:
        match moment.event:
            case c.Asked(call, _, request):
                self._arrived.append(_Said(at, place, number, call, request))
            case c.Answered(call, response):
                self._outcomes[call] = _Said(at, place, number, call, response)
            case c.Failed(call, error):
                self._outcomes[call] = _Said(at, place, number, call, error)
            case _:
                pass
        for command in moment.commands:
            match command:
                case c.Call(call, peer, request):
                    self._requests[call] = _Said(at, place, number, call, request)
                    self._peers[call] = peer
                case c.Reply(call, answer):
                    self._replies[place, call] = _Said(at, place, number, call, answer)
                case _:
                    pass

    def recording(self, title: str, facts: dict[str, str], problems: Sequence[str]) -> r.Recording:
        self._join()
        return self._build.recording(title, self._end, tuple(facts.items()), problems)

    def _join(self) -> None:
        """Finds out which words met."""
        waiting: dict[tuple[int, str], list[_Said]] = defaultdict(list)
        for said in sorted(self._arrived, key=lambda said: said.at):
            waiting[said.node, _key(said.body)].append(said)
        found: set[tuple[int, CallId]] = set()
        for call, said in sorted(self._requests.items(), key=lambda item: item[1].at):
            target = self._target(self._peers[call])
            same = waiting.get((target, _key(said.body)), [])
            arrived = next((a for a in same if self._may_be(said, a)), None)
            if arrived is not None:
                same.remove(arrived)
                found.add((arrived.node, arrived.call))
            self._met(said, target, arrived)
        for outside in self._arrived:
            if (outside.node, outside.call) not in found:
                self._from_outside(outside)

    def _may_be(self, said: _Said, arrived: _Said) -> bool:
        """Whether a call may be the one that arrived there: not before it was made, nor after it came to its end."""
        outcome = self._outcomes.get(said.call)
        if outcome is None:
            return arrived.at >= said.at - CLOCKS_NS
        unreached = isinstance(outcome.body, RpcError) and outcome.body.outcome is Outcome.UNREACHED
        return not unreached and said.at - CLOCKS_NS <= arrived.at <= outcome.at + CLOCKS_NS

    def _met(self, said: _Said, target: int, arrived: _Said | None) -> None:
        """Draws a call and its answer."""
        outcome = self._outcomes.get(said.call)
        if arrived is None:
            self._unseen(said, target, outcome)
            return
        self._message(said, arrived.at, target, True, r.Fate.ARRIVED, arrived.event)
        reply = self._replies.get((arrived.node, arrived.call))
        if reply is None:
            return
        lost = outcome is None or (isinstance(outcome.body, RpcError) and outcome.body.outcome is Outcome.UNKNOWN)
        at = reply.at if outcome is None or lost else outcome.at
        fate = r.Fate.LOST if lost else r.Fate.ARRIVED
        self._message(reply, at, said.node, False, fate, 0 if outcome is None or lost else outcome.event)

    def _unseen(self, said: _Said, target: int, outcome: _Said | None) -> None:
        """A call whose arrival nobody recorded: as if it had taken half of the time until its answer."""
        at = said.at if outcome is None else (said.at + outcome.at) // 2
        if outcome is not None and isinstance(outcome.body, RpcError) and outcome.body.outcome is not Outcome.FAILED:
            self._message(said, at, target, True, r.Fate.LOST, 0)
            return
        self._message(said, at, target, True, r.Fate.UNSEEN, 0)
        if outcome is not None:
            answer = _Said(at, target, 0, said.call, outcome.body)
            self._message(answer, outcome.at, said.node, False, r.Fate.UNSEEN, outcome.event)

    def _from_outside(self, arrived: _Said) -> None:
        """A call of somebody who was not recorded."""
        source = self._build.node("others", "not recorded")
        said = arrived._replace(node=source, event=0)
        self._message(said, arrived.at, arrived.node, True, r.Fate.UNSEEN, arrived.event)
        reply = self._replies.get((arrived.node, arrived.call))
        if reply is not None:
            self._message(reply, reply.at, source, False, r.Fate.UNSEEN, 0)

    def _message(self, said: _Said, arrived: Instant, target: int, asks: bool, fate: r.Fate, heard: int) -> None:
        text = tell(said.body)
        made = r.Message(said.at, arrived, said.node, target, text, asks, fate, False, said.event, 0)
        self._build.messages.append(made)
        if heard:
            self._build.hear(len(self._build.messages) - 1, heard)

    def _target(self, peer: str) -> int:
        """The node at an address: by its name, or the only one with its port."""
        if peer not in self._build.nodes:
            port = peer.rpartition(":")[2]
            same = [name for name in self._build.nodes if name.rpartition(":")[2] == port]
            if len(same) == 1:
                return self._build.node(same[0], "")
        return self._build.node(peer, "not recorded")


def _key(body: object) -> str:
    """What is equal at both ends: a message without what was withheld, whose tags differ."""
    hidden = WITHHELD.get(type(body).__name__, ())
    names: tuple[str, ...] = getattr(type(body), "__slots__", ())
    return repr([type(body).__name__, *(getattr(body, name) for name in names if name not in hidden)])


def _describe(event: c.Event) -> str:
    match event:
        case c.Asked(_, _, request):
            return f"asked: {tell(request)}"
        case c.Cancelled(call):
            return f"nobody waits for call {call.seq} of {call.node}"
        case c.Answered(call, response):
            return f"call {call.seq}: {tell(response)}"
        case c.Failed(call, error):
            return f"call {call.seq} failed: {tell(error)}"
        case c.Produced(producer, production):
            return f"pipeline {producer}: {tell_production(production)}"
        case c.Computed(piece, computation):
            return f"piece {piece}: {tell_computation(computation)}"
        case c.Synced(upto):
            return f"synced {upto}"
        case c.Woke():
            return "woke"
        case c.Wanted(token, taken):
            return f"application wants {token}{', has taken ' if taken else ''}" + " ".join(
                f"{t.stream}:{t.ordinal}" for t in taken
            )
        case c.Stopped():
            return "is asked to end"
        case c.Executed(run) | c.Pulled(run):
            return f"run {run} ended"
        case c.Stored(number, error):
            return f"deed {number} {'done' if error is None else f'not done: {error.message}'}"
        case c.Posed(_, peer, request):
            return f"application asks {peer}: {tell(request)}"
        case c.Invoked(token, wish):
            return f"application wants {token}: {type(wish).__name__}"
