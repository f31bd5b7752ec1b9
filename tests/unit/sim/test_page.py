"""Recordings, pages and traces of runs: they show what happened, and looking on changes nothing."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from itertools import pairwise

import pytest

from tfsvc.protocol.ids import MILLISECOND, SECOND
from tfsvc.protocol.messages import ShardingPolicy
from tfsvc_sim import page
from tfsvc_sim.faults import Crash
from tfsvc_sim.judging.ledger import Taking
from tfsvc_sim.kernel.heap import HeapEngine
from tfsvc_sim.kernel.rules import Duplication, Loss, Match, Only, Partition
from tfsvc_sim.nodes.application import Habits
from tfsvc_sim.nodes.world import World
from tfsvc_sim.page.builder import BELIEFS_MAX, Builder
from tfsvc_sim.page.perfetto import to_trace
from tfsvc_sim.page.recording import Fate, Kind, SpanKind
from tfsvc_sim.page.simulated import _describe
from tfsvc_sim.page.writing import render
from tfsvc_sim.playing.play import play
from tfsvc_sim.playing.swarm import draw
from tfsvc_sim.playing.workloads import Workload
from tfsvc_sim.rpc.swarm import draw as draw_calls
from tfsvc_sim.rpc.world import RpcWorld

LOAD = Workload("map", 60)


def run(looked_at=True, seed=6):
    """Three workers, of which one crashes and one is paused, while packets are lost and repeated."""
    world = World(seed)
    looking = page.Observation(world) if looked_at else None
    world.add_dispatcher()
    for _ in range(3):
        world.add_worker()
    dataset_id = world.register(LOAD.name, LOAD.definition())
    for _ in range(2):
        world.add_reader(dataset_id, ShardingPolicy.DYNAMIC, "epoch", Habits(think_ns=3 * MILLISECOND))
    rules = []
    world.at(60 * MILLISECOND, lambda: rules.append(world.rule(Loss(0.2))))
    world.at(70 * MILLISECOND, lambda: rules.append(world.rule(Duplication(0.5, 5 * MILLISECOND))))
    world.at(80 * MILLISECOND, lambda: world.pause("worker2"))
    world.at(100 * MILLISECOND, lambda: world.crash("worker1"))
    world.at(130 * MILLISECOND, lambda: [rule.remove() for rule in rules])
    world.at(150 * MILLISECOND, lambda: world.resume("worker2"))
    world.at(160 * MILLISECOND, lambda: world.restart("worker1"))
    assert world.run_until(world.all_left, 60 * SECOND)
    return world, looking


@pytest.fixture(scope="module")
def world_and_recording():
    world, looking = run()
    return world, looking.recording("A worker crashes </script> & more", {"seed": "6"}, ["nothing <!-- is wrong"])


@pytest.fixture
def recording(world_and_recording):
    return world_and_recording[1]


def number(recording, name):
    return [node.name for node in recording.nodes].index(name)


def test_looking_on_changes_nothing(world_and_recording):
    world, _ = world_and_recording
    alone, _ = run(looked_at=False)
    assert world.trace.digest() == alone.trace.digest()


def test_nodes_stand_in_the_order_of_what_they_do(recording):
    names = [node.name for node in recording.nodes]
    assert names[:6] == ["dispatcher", "worker0", "worker1", "worker2", "reader0", "reader1"]


def test_lives_and_pauses_are_told_with_their_times(recording):
    lives = [life for life in recording.lives if life.node == number(recording, "worker1")]
    assert [(life.incarnation, life.how) for life in lives] == [(1, "crashes"), (2, "")]
    assert lives[1].begin - lives[0].end == 60 * MILLISECOND
    (pause,) = [span for span in recording.spans if span.kind is SpanKind.PAUSE]
    assert (pause.node, pause.end - pause.begin) == (number(recording, "worker2"), 70 * MILLISECOND)


def test_faults_of_the_network_are_told_with_their_times(recording):
    faults = [span for span in recording.spans if span.kind is SpanKind.FAULT]
    assert [fault.end - fault.begin for fault in faults] == [70 * MILLISECOND, 60 * MILLISECOND]
    assert all(fault.node == -1 for fault in faults)


@pytest.mark.parametrize(
    ("record", "told"),
    [
        (Loss(0.2), "Loss: share 0.2"),
        (Partition(frozenset({"b", "a"}), frozenset({"c"}), oneway=True), "no packets a, b → c"),
        (Only(Match(source="worker0"), Loss(0.5)), "Only: Match: source worker0, Loss: share 0.5"),
        (Crash("worker1"), "Crash: node worker1"),
        (None, "None"),
    ],
    ids=["loss", "partition", "matched", "crash", "nothing"],
)
def test_faults_and_rules_are_told_in_words(record, told):
    assert _describe(record).startswith(told)


def test_nodes_are_counted():
    build = Builder()
    for name in ("worker10", "worker2", "reader1", "localhost:9", "localhost:1", "dispatcher"):
        build.node(name, "dispatcher" if name == "dispatcher" else "worker")
    names = [node.name for node in build.recording("r", 1).nodes]
    assert names == ["dispatcher", "localhost:9", "localhost:1", "reader1", "worker2", "worker10"]


def test_every_message_has_its_fate(recording):
    lost = [o for o in recording.messages if o.fate is Fate.LOST]
    again = [o for o in recording.messages if o.again]
    assert lost
    assert again
    assert not any(o.heard for o in lost)
    heard = [o for o in recording.messages if o.heard]
    assert len(heard) > 50
    for message in heard:
        event = recording.events[message.heard - 1]
        assert event.node == message.target
        assert event.at >= message.arrived >= message.sent
        assert event.cause == message.said
        if message.said:
            assert recording.events[message.said - 1].node == message.source
    resets = [o for o in recording.messages if "connection reset" in o.text]
    assert {recording.events[o.said - 1].text for o in resets} == {"crashes"}
    said = [event for event in recording.events if event.kind in (Kind.ASKED, Kind.ANSWERED)]
    assert {o.heard for o in heard} >= {recording.events.index(event) + 1 for event in said[:20]}


def test_lanes_and_leases_are_told_where_the_work_is(recording):
    workers = {number(recording, f"worker{i}") for i in range(3)}
    lanes = [span for span in recording.spans if span.kind is SpanKind.LANE]
    leases = [span for span in recording.spans if span.kind is SpanKind.LEASE]
    assert {lane.node for lane in lanes} == workers
    assert leases
    for lease in leases:
        name = lease.text.split(":")[0]
        assert [lane for lane in lanes if lane.text.startswith(name) and lane.begin <= lease.begin]
    crash = next(life.end for life in recording.lives if life.how == "crashes" and life.node in workers)
    assert [lane for lane in lanes if lane.node == number(recording, "worker1") and lane.end == crash]


def test_the_ledger_is_whole(world_and_recording):
    world, recording = world_and_recording
    assert sum(taking.count for taking in recording.takings) == len(world.ledger.takings) == 60
    values = sorted(int(value) for taking in recording.takings for value in taking.text.split())
    assert values == sorted(LOAD.values())


def test_a_recording_may_be_taken_twice():
    _, looking = run()
    once, twice = looking.recording("r"), looking.recording("r")
    assert once == twice


def test_many_elements_are_told_in_rows(monkeypatch):
    monkeypatch.setattr("tfsvc_sim.page.builder.TAKINGS_MAX", 3)
    build = Builder()
    build.node("reader0", "reader")
    for i in range(6):
        build.took(Taking(i, "reader0", "job", 1, i, "worker0", (i,)))
    made = build.recording("r", 6)
    assert [(t.ordinal, t.count, t.text) for t in made.takings] == [(0, 1, "0"), (1, 1, "1"), (2, 4, "")]
    assert made.left_out


def test_beliefs_are_told_when_they_change(recording):
    dispatcher = [b for b in recording.beliefs if b.node == number(recording, "dispatcher")]
    assert len(dispatcher) > 5
    assert all(a.text != b.text for a, b in pairwise(dispatcher))
    assert {"leased", "leased_again", "open_lanes", "readers", "workers"} <= json.loads(dispatcher[-1].text).keys()


def test_beliefs_are_bounded():
    build = Builder()
    node = build.node("n", "worker")
    for i in range(10 * BELIEFS_MAX):
        build.believes(i, node, {"i": i})
    made = build.recording("r", 10 * BELIEFS_MAX)
    assert BELIEFS_MAX / 2 <= len(made.beliefs) <= BELIEFS_MAX
    gaps = {b.at - a.at for a, b in pairwise(made.beliefs)}
    assert max(gaps) <= 32
    assert made.left_out


def test_large_beliefs_are_cut_and_still_json():
    build = Builder()
    build.believes(0, build.node("n", "worker"), {"much": "x" * 50_000})
    (belief,) = build.recording("r", 1).beliefs
    assert len(belief.text) < 10_000
    assert json.loads(belief.text)["state"].endswith("...")


def test_the_json_has_columns_of_one_length(recording):
    told = json.loads(json.dumps(recording.to_json()))
    assert (told["format"], told["version"]) == ("tfsvc-recording", 1)
    for table in ("lives", "spans", "events", "messages", "takings", "beliefs"):
        lengths = {len(column) for column in told[table].values()}
        assert lengths == {len(getattr(recording, table))}
    assert told["texts"][told["events"]["text"][0]] == recording.events[0].text
    times = told["events"]["at"]
    assert times == sorted(times)


def test_a_page_needs_nothing_else_and_no_text_leaves_its_place(recording):
    text = render(recording)
    assert not re.search(r"(src|href)\s*=|@import|url\(|https?://(?!www\.w3\.org)", text)
    assert text.count("</script>") == 2
    assert "<title>A worker crashes &lt;/script&gt; &amp; more</title>" in text
    data = re.search(r'id="data">(.*)</script>\n<script>', text, re.S)[1]
    assert "<!--" not in data
    assert json.loads(data)["title"] == recording.title


def test_a_page_is_written_where_it_is_wanted(recording, tmp_path):
    path = page.write(recording, tmp_path / "run.html")
    assert path.read_text("utf-8").startswith("<!doctype html>")


def test_a_trace_has_the_form_that_perfetto_reads(recording, tmp_path):
    path = page.write_trace(recording, tmp_path / "run.json")
    rows = json.loads(path.read_text())["traceEvents"]
    needed = {"X": {"dur", "name"}, "b": {"id", "cat", "name"}, "e": {"id", "cat", "name"}, "M": {"args", "name"}}
    needed |= {"s": {"id", "name", "cat"}, "f": {"id", "name", "cat", "bp"}, "i": {"s", "name"}}
    for row in rows:
        assert {"ph", "ts", "pid", "tid"} <= row.keys()
        assert needed[row["ph"]] <= row.keys(), row
        assert isinstance(row["ts"], int | float)
        assert row["ts"] >= 0
    named = {row["pid"] for row in rows if row["ph"] == "M" and row["name"] == "process_name"}
    assert {row["pid"] for row in rows} == named
    slices = {(row["pid"], row["tid"], row["ts"]) for row in rows if row["ph"] == "X"}
    for begin, end in (("s", "f"), ("b", "e")):
        starts = {row["id"]: row for row in rows if row["ph"] == begin}
        ends = {row["id"]: row for row in rows if row["ph"] == end}
        assert starts.keys() == ends.keys()
        assert len(starts) == sum(row["ph"] == begin for row in rows)
        assert all(starts[number]["ts"] <= ends[number]["ts"] for number in starts)
        if begin == "s":
            assert all((row["pid"], row["tid"], row["ts"]) in slices for row in (*starts.values(), *ends.values()))


def test_a_trace_of_another_run_is_another(recording):
    assert to_trace(recording) == to_trace(replace(recording))
    assert to_trace(recording) != to_trace(run(seed=8)[1].recording("other"))


@pytest.mark.parametrize("seed", range(30, 42))
def test_random_scenarios_are_recorded_whole_and_unchanged(seed):
    scenario = draw(seed)
    verdict, recording = page.record(scenario)
    assert verdict == play(scenario)
    assert sum(taking.count for taking in recording.takings) == verdict.taken
    assert ("trace hash", verdict.digest) in recording.facts
    told = [event for event in recording.events if event.kind not in (Kind.NOTE, Kind.FAILED)]
    assert len(told) <= verdict.events
    for row in (*recording.spans, *recording.lives):
        assert row.end is None or row.end >= row.begin
    for message in recording.messages:
        assert message.heard == 0 or recording.events[message.heard - 1].at >= message.sent
    assert to_trace(recording)["traceEvents"]
    assert render(recording)


def test_remote_calls_are_recorded_too():
    scenario = draw_calls(3)
    looking = []
    world = RpcWorld(scenario, HeapEngine(3), look=lambda world: looking.append(page.Observation(world)))
    world.run()
    alone = RpcWorld(scenario, HeapEngine(3))
    alone.run()
    assert world.trace.digest() == alone.trace.digest()
    made = looking[0].recording("calls")
    assert {life.node for life in made.lives} == set(range(len(made.nodes)))
    assert [message for message in made.messages if message.text.startswith("Call ") and message.heard]
    assert render(made)
