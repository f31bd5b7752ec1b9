"""Records: scenarios survive JSON, and what is wrong in one is named with its place and the way out."""

from __future__ import annotations

import json
from dataclasses import fields

import pytest

from tfsvc_sim.faults import Crash, Cut, Edge, Fault, Message, Record, Taken
from tfsvc_sim.faults.menu import FaultKind, usual
from tfsvc_sim.playing.records import FAULTS, MOMENTS, from_plain, to_plain
from tfsvc_sim.playing.scenario import Scenario, WorkerPlan
from tfsvc_sim.playing.swarm import draw

WHOLE = Scenario(
    faults=(
        Fault(Crash("dispatcher"), 10, None, Message("LeaseSplits", "worker1", 3, Edge.ARRIVES)),
        Fault(Cut("worker0", "dispatcher", oneway=True), upon=Taken(4)),
        Fault(Crash("dispatcher"), upon=Record("MoveLane", 2)),
        *(usual(1, kind, 2, 3) for kind in FaultKind),
    )
)


def test_every_kind_of_fault_survives_its_json():
    assert Scenario.from_json(WHOLE.to_json()) == WHOLE


def test_drawn_scenarios_survive_their_json_whole_or_short():
    for seed in range(100):
        scenario = draw(seed)
        assert Scenario.from_json(scenario.to_json()) == scenario
        assert from_plain(Scenario, json.loads(json.dumps(to_plain(scenario, whole=True)))) == scenario


def test_what_has_its_default_is_left_out():
    assert to_plain(Fault(Crash("worker1"))) == {"what": {"kind": "Crash", "node": "worker1"}}
    assert to_plain(Scenario()) == {}


def test_a_number_stands_for_so_many_of_the_usual_kind():
    assert from_plain(Scenario, {"workers": 2}).workers == (WorkerPlan(), WorkerPlan())


@pytest.mark.parametrize(
    ("plain", "error"),
    [
        ({"worker": 3}, r"there is no 'worker' in Scenario \(did you mean 'workers'\?\)"),
        (
            {"faults": [{"what": {"kind": "Crahs"}}]},
            r"faults\[0\].what: there is no kind 'Crahs' \(did you mean 'Crash'",
        ),
        ({"faults": [{"what": {"node": "worker1"}}]}, r"faults\[0\].what must say its kind: one of Crash, Stop"),
        ({"faults": [{"what": {"kind": "Crash"}}]}, r"faults\[0\].what needs 'node'"),
        ({"faults": [{"at_ms": 1}]}, r"faults\[0\] needs 'what'"),
        ({"faults": [{"what": {"kind": "Lose", "share": "x"}}]}, r"faults\[0\].what.share must be a number, not 'x'"),
        ({"faults": [{"what": {"kind": "Lose"}, "at_ms": -1}]}, "begins at 0 ms or later"),
        ({"faults": {}}, "faults must be a list"),
        ({"policy": "dynamik"}, r"there is no 'dynamik' \(did you mean 'dynamic'\?\); there are off, dynamic"),
        ({"tempo": "hectic"}, "there is no tempo 'hectic'; there are usual"),
        ({"workload": {"kind": "rnage", "size": 3}}, "there is no workload 'rnage'"),
        ({"workers": []}, "at least one worker"),
        ({"seed": True}, "seed must be a whole number, not True"),
        ([], "must be a table of Scenario"),
    ],
)
def test_what_is_wrong_is_named_with_its_place(plain, error):
    with pytest.raises(ValueError, match=error):
        from_plain(Scenario, plain)


def test_none_is_a_word_where_nothing_may_stand():
    assert from_plain(Scenario, {"faults": [{"what": {"kind": "Lose"}, "for_ms": "none"}]}).faults[0].for_ms is None
    with pytest.raises(ValueError, match="seed must be a whole number, not 'none'"):
        from_plain(Scenario, {"seed": "none"})


def test_no_field_of_a_kind_hides_its_name():
    for kind in (*FAULTS.values(), *MOMENTS.values()):
        assert "kind" not in [field.name for field in fields(kind)], kind
