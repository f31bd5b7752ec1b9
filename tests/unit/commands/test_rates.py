"""How fast a cluster is between two descriptions of it, and which side waits."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tfsvc.protocol.messages import Consumption, Description
from tfsvc.protocol.messages import description as d
from tfsvc_transports.commands.rates import Rates, ReaderRate, rates

S = 10**9


def reader(number: int, elements: int, waited_s: float, age_s: float) -> d.ReaderDescription:
    consumption = Consumption(elements, elements * 100, int(waited_s * S), int(age_s * S))
    return d.ReaderDescription(number, 2000, True, consumption=consumption)


BEFORE = Description(
    incarnation=1,
    up_ns=10 * S,
    tally=d.Tally(leases=10, elements=100, bytes=10_000, discarded=5),
    jobs=(d.JobDescription(5000, "train"),),
    iterations=(d.IterationDescription(2000, 5000),),
    readers=(reader(1, 60, 1.0, 5), reader(2, 40, 1.0, 5)),
)
AFTER = replace(
    BEFORE,
    up_ns=12 * S,
    tally=d.Tally(leases=30, elements=300, bytes=30_000, discarded=9),
    readers=(reader(1, 160, 1.5, 7), reader(2, 140, 2.0, 7)),
)


def test_what_happened_in_between_a_second():
    assert rates(BEFORE, AFTER) == Rates(
        seconds=2.0,
        elements_per_s=100.0,
        bytes_per_s=10_000.0,
        leases_per_s=10.0,
        discarded_per_s=2.0,
        bottleneck="workers",
        readers=(ReaderRate(2, "train", 50.0, 5000.0, 0.5), ReaderRate(1, "train", 50.0, 5000.0, 0.25)),
    )


@pytest.mark.parametrize(
    ("waited", "bottleneck"), [(1.0, "trainers"), (1.3, "trainers"), (1.5, "workers"), (3.0, "workers")]
)
def test_who_waits(waited, bottleneck):
    after = replace(AFTER, readers=(reader(1, 160, waited, 7), reader(3, 1, 0.0, 1)))
    assert rates(BEFORE, after).bottleneck == bottleneck


def test_where_nobody_reads_nobody_waits():
    assert rates(BEFORE, replace(AFTER, readers=())).bottleneck == "nothing"
    silent = replace(AFTER, readers=(d.ReaderDescription(9, 2000),))
    assert rates(BEFORE, silent).readers == (ReaderRate(9, "train", 0.0, 0.0, None),)


def test_a_reader_that_has_said_nothing_new_is_as_it_was_on_the_whole():
    (first, _) = rates(BEFORE, replace(AFTER, readers=BEFORE.readers)).readers
    assert (first.waiting, first.elements_per_s) == (0.2, 12.0)


def test_a_dispatcher_that_was_started_again_is_measured_from_its_beginning():
    found = rates(BEFORE, replace(AFTER, incarnation=2, up_ns=1 * S))
    assert (found.seconds, found.elements_per_s) == (1.0, 300.0)
