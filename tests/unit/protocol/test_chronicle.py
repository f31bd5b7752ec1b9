"""What happened lately, in words and in numbers over time."""

from __future__ import annotations

import pytest

from tests.unit.protocol.conftest import Desk
from tfsvc.protocol import messages as m
from tfsvc.protocol.contract import Woke
from tfsvc.protocol.dispatcher import chronicle, course
from tfsvc.protocol.messages.chronicle import GetChronicleResponse, JobTotal, Recent
from tfsvc.protocol.messages.description import DescribeServiceRequest
from tfsvc.protocol.splits import SplitPosition
from tfsvc.wire.messages import encode

MS = 1_000_000
S = 1000 * MS
OFF, DYNAMIC = m.ShardingPolicy.OFF, m.ShardingPolicy.DYNAMIC


def look(desk: Desk, after: int = 0) -> GetChronicleResponse:
    answer = desk.ask(m.GetChronicleRequest(after))
    assert isinstance(answer, GetChronicleResponse)
    return answer


def told(desk: Desk, after: int = 0) -> list[tuple[str, str]]:
    return [(happening.kind, happening.text) for happening in look(desk, after).happenings]


def two_workers_and_a_reader(desk: Desk) -> int:
    for address in ("w1", "w2"):
        desk.worker(address)
    reader = desk.reader(desk.register(), DYNAMIC, "train")
    lanes = desk.beat(reader).lanes
    desk.ask(m.OpenLaneRequest(lanes[0].lane_id, 1, "w1", 4))
    return reader


def test_who_comes_and_goes(desk):
    reader = two_workers_and_a_reader(desk)
    desk.ask(m.ReleaseIterationClientRequest(reader))
    assert told(desk) == [
        ("worker", "worker w1 is here"),
        ("worker", "worker w2 is here"),
        ("pass", "pass 0 over job train begins"),
        ("reader", f"reader {reader} of job train is here"),
        ("reader", f"reader {reader} of job train has left"),
    ]


def test_no_happening_has_a_number_below_one(desk):
    two_workers_and_a_reader(desk)
    asked = look(desk, -(1 << 63))
    assert (len(asked.happenings), asked.left_out) == (4, 0)
    assert look(desk, (1 << 63) - 1).happenings == ()


@pytest.mark.parametrize("number", [(1 << 63) - 1, -(1 << 63)])
def test_readers_that_tell_of_absurd_numbers_do_not_keep_others_from_asking(desk, number):
    desk.worker("w1")
    dataset, absurd = desk.register(), m.Consumption(*[number] * 6)
    readers = [desk.reader(dataset, DYNAMIC, "job") for _ in range(3)]
    for consumption in (m.Consumption(*[7] * 6), absurd, m.Consumption()):
        for reader in readers:
            desk.beat(reader, consumption=consumption)
            encode(desk.ask(DescribeServiceRequest()))
            encode(look(desk))
    desk.ask(m.ReleaseIterationClientRequest(readers[0], (), absurd))
    encode(desk.ask(DescribeServiceRequest()))
    encode(look(desk))


def test_a_lost_worker_is_told_with_where_its_work_went(desk):
    reader = two_workers_and_a_reader(desk)
    last = look(desk).happenings[-1].number
    desk.now += 6 * S
    desk.worker("w2")
    desk.machine.handle(Woke(), desk.now)
    assert told(desk, last) == [
        ("warning", "worker w1 missed its heartbeats; its leased splits go to others"),
        ("moved", "1 lane of job train goes from worker w1 to worker w2, with 2 splits not all taken"),
    ]
    desk.worker("w1", incarnation=2)
    assert told(desk, last + 2) == [("worker", "worker w1 was started again")]
    desk.beat(reader, consumption=m.Consumption(elements=5, discarded=1))
    desk.beat(reader, consumption=m.Consumption(elements=9, discarded=4))
    desk.beat(reader, consumption=m.Consumption(elements=12, discarded=4))
    assert told(desk, last + 3) == [
        ("again", f"3 elements came again to reader {reader} of job train and were passed over")
    ]
    desk.beat(reader, consumption=m.Consumption(elements=13, discarded=5))
    desk.beat(reader, consumption=m.Consumption(elements=14, discarded=5))
    assert told(desk, last + 4) == [
        ("again", f"1 element came again to reader {reader} of job train and was passed over")
    ]


def test_a_pass_that_was_read_to_its_end_says_whether_anything_is_missing(desk):
    desk.worker("w1")
    reader = desk.reader(desk.register(2), DYNAMIC, "train")
    (lane,) = desk.beat(reader).lanes
    desk.ask(m.OpenLaneRequest(lane.lane_id, 1, "w1", 9))
    desk.ask(m.LeaseSplitsRequest(lane.lane_id, 1, 0, SplitPosition(0, 2), 9))
    desk.beat(reader, m.LaneProgress(lane.lane_id, 1200, done=True), consumption=m.Consumption(elements=1200))
    end = ("end", "pass 0 over job train was read to its end: 1,200 elements taken, nothing lost")
    assert told(desk)[-1] == end, "as soon as there is nothing more, whether or not the reader says that it leaves"
    desk.ask(m.ReleaseIterationClientRequest(reader, consumption=m.Consumption(elements=1200)))
    assert told(desk).count(end) == 1
    late = desk.reader("1000", DYNAMIC, "train")
    desk.beat(late)
    desk.ask(m.ReleaseIterationClientRequest(late))
    assert told(desk).count(end) == 1, "who comes too late reads no pass"


def test_what_is_lost_with_a_worker_is_not_passed_over(desk):
    desk.worker("w1")
    reader = desk.reader(desk.register(), OFF)
    desk.beat(reader)
    last = look(desk).happenings[-1].number
    desk.worker("w1", incarnation=2)
    assert ("loss", "what worker w1 still had to give of a job without a name is gone") in told(desk, last)
    assert look(desk).happenings[-1].job == ""


def test_what_a_step_does_many_times_over_is_told_once(desk):
    for number in range(30):
        desk.worker(f"w{number}")
    reader = desk.reader(desk.register(1000), DYNAMIC, "train")
    for lane in desk.beat(reader).lanes:
        desk.ask(m.OpenLaneRequest(lane.lane_id, 1, lane.worker_address, 2))
    last = look(desk).happenings[-1].number
    desk.ask(m.ReleaseIterationClientRequest(reader))
    desk.beat(desk.reader("1000", DYNAMIC, "train"))
    moved = [text for kind, text in told(desk, last) if kind == "moved"]
    assert moved == [
        f"30 lanes of job train go from reader {reader} to reader {reader + 1}, with 60 splits not all taken"
    ]
    last = look(desk).happenings[-1].number
    desk.now += 6 * S
    desk.worker("w0")
    desk.machine.handle(Woke(), desk.now)
    kinds = [kind for kind, _ in told(desk, last)]
    assert kinds.count("warning") == chronicle.NOTES_MAX + 1
    assert told(desk, last)[-1] == ("warning", f"{29 - chronicle.NOTES_MAX} more notes like these")


def test_the_oldest_are_forgotten_and_that_is_said(desk, monkeypatch):
    for number in range(chronicle.KEPT_MAX + 20):
        desk.worker("w", incarnation=number + 1)
    answer = look(desk)
    assert len(answer.happenings) == chronicle.KEPT_MAX
    assert answer.left_out == 20
    assert look(desk, answer.happenings[-2].number).happenings == (
        answer.happenings[-1].__class__(
            answer.happenings[-1].number,
            answer.happenings[-1].ago_ns + MS,
            "worker",
            "worker w was started again",
            "",
            "w",
        ),
    )
    assert look(desk, answer.happenings[-1].number).left_out == 0


def test_samples_are_taken_while_somebody_is_heard(desk):
    reader = two_workers_and_a_reader(desk)
    for second in range(12):
        desk.now += S - MS
        desk.beat(
            reader, consumption=m.Consumption(elements=100 * second, waited_ns=second * S // 2, age_ns=second * S)
        )
    samples = look(desk).samples
    assert [sample.elements for sample in samples] == [0, 400, 900]
    assert samples[-1].workers == 2
    assert samples[-1].readers == 1
    assert samples[1].ago_ns - samples[2].ago_ns == 5 * S
    for _ in range(course.SAMPLES_MAX):
        desk.now += 5 * S
        desk.beat(reader)
    assert len(look(desk).samples) == course.SAMPLES_MAX


def test_the_last_minute_of_a_reader(desk):
    reader = two_workers_and_a_reader(desk)
    desk.beat(reader, consumption=m.Consumption(10, 1000, S, 2 * S))
    assert look(desk).recent == (Recent(reader, 2 * S, 10, 1000, S),), "since it came"
    for second in range(1, 200):
        desk.now += S - MS
        desk.beat(reader, consumption=m.Consumption(10 + 7 * second, 1000 + 70 * second, S + second * S // 4, 2 * S))
    (recent,) = look(desk).recent
    assert 55 * S <= recent.over_ns <= 70 * S
    assert recent.elements == 7 * recent.over_ns // S
    assert recent.waited_ns == recent.over_ns // 4
    desk.ask(m.ReleaseIterationClientRequest(reader))
    assert look(desk).recent == ()


def test_totals_by_job_keep_what_readers_took_that_are_gone(desk):
    reader = two_workers_and_a_reader(desk)
    desk.ask(m.ReleaseIterationClientRequest(reader, consumption=m.Consumption(5, 50, 1, 2, 3, 4)))
    other = desk.reader("1000", DYNAMIC, "train")
    nameless = desk.reader("1000", OFF)
    desk.beat(other, consumption=m.Consumption(elements=1))
    desk.beat(nameless, consumption=m.Consumption(elements=2))
    assert look(desk).jobs == (
        JobTotal("train", m.Consumption(6, 50, 1, 2, 3, 4)),
        JobTotal("", m.Consumption(elements=2)),
    )
    for number in range(course.JOBS_MAX + 5):
        desk.beat(desk.reader("1000", DYNAMIC, f"job{number}"), consumption=m.Consumption(elements=1))
    totals = {total.name: total.consumption.elements for total in look(desk).jobs}
    assert len(totals) == course.JOBS_MAX + 1
    assert totals[None] == 7
