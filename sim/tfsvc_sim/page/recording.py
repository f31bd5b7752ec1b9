"""Recordings: what happened in a run, in the same terms for a simulated and a real one.

All times are nanoseconds since the run began. ``to_json`` is what a page is drawn from, and any other tool may read it:
every table is a set of columns of equal length, texts are numbers into ``texts``, nodes are numbers into ``nodes``, and
events are told by their place in ``events``, from 1 on.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from enum import IntEnum
from typing import Any, Final

from tfsvc.protocol.ids import Instant

VERSION: Final = 1


class Kind(IntEnum):
    """What an event is about; its colour on the page."""

    OTHER = 0
    ASKED = 1
    ANSWERED = 2
    FAILED = 3
    PRODUCED = 4
    SYNCED = 5
    WOKE = 6
    APPLICATION = 7
    LIFE = 8
    NOTE = 9


class Fate(IntEnum):
    """What became of a message; ``UNSEEN``: its peer was not recorded, so nobody knows."""

    ARRIVED = 0
    LOST = 1
    UNSEEN = 2


class SpanKind(IntEnum):
    """Something of a node that lasts."""

    PAUSE = 0
    FAULT = 1
    LANE = 2
    """A worker makes a lane's elements."""
    LEASE = 3
    """Splits that a lane was given: from then on until the lane's end."""


@dataclass(frozen=True, slots=True)
class NodeInfo:
    name: str
    role: str


@dataclass(frozen=True, slots=True)
class Life:
    """``end``: ``None`` for one that goes on; ``how`` it ended, empty where only its recording did."""

    node: int
    incarnation: int
    begin: Instant
    end: Instant | None
    how: str


@dataclass(frozen=True, slots=True)
class Event:
    """``cause``: the event that led to it, 0 for none that is known."""

    at: Instant
    node: int
    kind: Kind
    text: str
    cause: int


@dataclass(frozen=True, slots=True)
class Message:
    """One copy of a message.

    Attributes:
      arrived: when it came, or would have.
      asks: whether it is a request.
      again: whether it is a second copy of one that was sent once.
      said: the event in which it was sent.
      heard: the event in which it was heard; 0 if nobody heard it.
    """

    sent: Instant
    arrived: Instant
    source: int
    target: int
    text: str
    asks: bool
    fate: Fate
    again: bool
    said: int
    heard: int


@dataclass(frozen=True, slots=True)
class Span:
    """``node``: -1 for all of them."""

    node: int
    kind: SpanKind
    begin: Instant
    end: Instant | None
    text: str


@dataclass(frozen=True, slots=True)
class Taking:
    """Elements of one stream that an application took in a row; ``text``: what they held, as far as that is known."""

    at: Instant
    until: Instant
    job: str
    reader: int
    stream: int
    ordinal: int
    count: int
    worker: str
    text: str


@dataclass(frozen=True, slots=True)
class Belief:
    """What a node held for true from then on, as JSON."""

    at: Instant
    node: int
    text: str


@dataclass(frozen=True, slots=True)
class Recording:
    """A run.

    Attributes:
      title: in a few words.
      facts: what else there is to say of it, by name.
      problems: what was found wrong with it.
      left_out: what is not here since there was too much of it.
    """

    title: str
    end: Instant
    nodes: tuple[NodeInfo, ...]
    lives: tuple[Life, ...]
    spans: tuple[Span, ...]
    events: tuple[Event, ...]
    messages: tuple[Message, ...]
    takings: tuple[Taking, ...]
    beliefs: tuple[Belief, ...]
    facts: tuple[tuple[str, str], ...] = ()
    problems: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """For ``json.dumps``."""
        texts: dict[str, int] = {}
        tables = {
            name: _columns(kind, getattr(self, name), texts)
            for name, kind in (
                ("lives", Life),
                ("spans", Span),
                ("events", Event),
                ("messages", Message),
                ("takings", Taking),
                ("beliefs", Belief),
            )
        }
        return {
            "format": "tfsvc-recording",
            "version": VERSION,
            "title": self.title,
            "end": self.end,
            "facts": [list(fact) for fact in self.facts],
            "problems": list(self.problems),
            "left_out": list(self.left_out),
            "nodes": [[node.name, node.role] for node in self.nodes],
            **tables,
            "texts": list(texts),
        }


def _columns(kind: Any, rows: Sequence[Any], texts: dict[str, int]) -> dict[str, list[Any]]:
    return {field.name: list(_column((getattr(row, field.name) for row in rows), texts)) for field in fields(kind)}


def _column(values: Iterable[Any], texts: dict[str, int]) -> Iterable[Any]:
    for value in values:
        if isinstance(value, str):
            yield texts.setdefault(value, len(texts))
        else:
            yield int(value) if isinstance(value, bool | IntEnum) else value
