"""What machines say to people: each thing once in a while, and never silently held back."""

from __future__ import annotations

import logging

import pytest

from tfsvc.flight.births import ReaderBirth, WorkerBirth
from tfsvc.protocol.client.request import ReadRequest
from tfsvc.protocol.contract import About, Note
from tfsvc.protocol.messages import ShardingPolicy
from tfsvc.protocol.settings import ClientSettings, WorkerSettings
from tfsvc_transports.notes import ALIKE_MAX, INTERVAL_S, SHAPES_MAX, Notes


class Clock:
    def __init__(self):
        self.now = 100.0
        self.planned = []

    def __call__(self):
        return self.now

    def later(self, when, action):
        self.planned.append((when / 1e9, action))

    def advance(self, seconds):
        self.now += seconds
        for when, action in list(self.planned):
            if when <= self.now:
                self.planned.remove((when, action))
                action()


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def notes(clock):
    return Notes("the worker", clock, clock.later)


@pytest.fixture
def said(caplog):
    caplog.set_level(logging.DEBUG, "tfsvc")
    return lambda: [record.getMessage() for record in caplog.records]


def test_a_text_is_written_once_and_its_repetitions_are_counted(notes, clock, said):
    for _ in range(4):
        notes.tell(Note("warning", "no answer"))
        clock.advance(1)
    assert said() == ["the worker: no answer"]
    clock.advance(INTERVAL_S)
    assert said()[1:] == ["the worker: no answer (3 like it within 10 s)"]
    notes.tell(Note("warning", "no answer"))
    assert said()[2:] == ["the worker: no answer"]
    clock.advance(60)
    assert len(said()) == 3, "nothing was held back since"


def test_texts_that_differ_in_numbers_are_alike(notes, clock, said):
    for lane in range(100):
        notes.tell(Note("warning", f"lane {lane} moves to host-{lane}:5000: worker h{lane}:1 is out of reach"))
    assert len(said()) == ALIKE_MAX
    notes.tell(Note("warning", "the service ends"))
    assert said()[-1] == "the worker: the service ends", "what is not alike is not held back"
    clock.advance(INTERVAL_S + 0.1)
    assert said()[-1].endswith(f"worker h99:1 is out of reach ({100 - ALIKE_MAX} like it within 10 s)")


def test_levels_and_names_in_quotes(notes, said):
    for name in ("a", "b"):
        for _ in range(ALIKE_MAX):
            notes.tell(Note("info", f"job '{name}' is read"))
    assert len(said()) == 2
    notes.tell(Note("warning", "job 'a' is read"))
    assert len(said()) == 3


def test_no_more_shapes_are_remembered_than_that(notes):
    for number in range(SHAPES_MAX + 50):
        notes.tell(Note("info", "word " * number))
    assert len(notes._intervals) == SHAPES_MAX


def test_records_have_the_ids_of_who_speaks_and_of_what(notes, caplog):
    caplog.set_level(logging.INFO, "tfsvc")
    notes.identify(WorkerBirth(WorkerSettings("w:1", "d:1"), 7, 0))
    notes.tell(Note("info", "x", About(lane=3, worker="w:2")))
    assert caplog.records[-1].ids == {"role": "worker", "node": "w:1", "incarnation": 7, "lane": 3, "worker": "w:2"}
    reader = Notes("the reader")
    request = ReadRequest("1000", ShardingPolicy.DYNAMIC, "train", 0)
    reader.identify(ReaderBirth(request, ClientSettings("d:1"), "reader-x", 1, 0))
    reader.tell(Note("info", "y"))
    assert caplog.records[-1].ids["job"] == "train"
