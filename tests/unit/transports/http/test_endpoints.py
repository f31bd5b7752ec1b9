"""What nodes answer by HTTP, without a node."""

from __future__ import annotations

import json
from dataclasses import asdict, replace

from tests.browser.clusters import cluster, course
from tfsvc.errors import Code, RpcError
from tfsvc.protocol import messages as m
from tfsvc.protocol.worker.machine import WorkerView
from tfsvc_transports.http.endpoints import KEPT_S, DispatcherPages, Kept, worker_pages
from tfsvc_transports.http.server import Answer, Query


class Machine:
    """A dispatcher that says what it is given, and counts its questions."""

    def __init__(self, **answers):
        self.answers = answers
        self.asked = []

    def inquire(self, request, timeout_s):
        self.asked.append(request)
        return self.answers[type(request).__name__.removesuffix("Request")]


def pages(**answers):
    machine = Machine(**answers)
    return machine, DispatcherPages(machine.inquire).pages(lambda _: Answer(b"page"))


DESCRIBED = {"DescribeService": m.DescribeServiceResponse(cluster()), "GetChronicle": course()}


def test_a_description_as_json_is_the_dataclass():
    _, made = pages(**DESCRIBED)
    assert json.loads(made["/api/description"](Query()).body) == json.loads(json.dumps(asdict(cluster())))
    assert json.loads(made["/api/chronicle"](Query({"after": "3"})).body) == json.loads(json.dumps(asdict(course())))


def test_only_what_is_new_is_asked_for():
    machine, made = pages(**DESCRIBED)
    made["/api/chronicle"](Query({"after": "7"}))
    made["/api/chronicle"](Query({"after": "-7"}))
    assert machine.asked == [m.GetChronicleRequest(7), m.GetChronicleRequest(0)]


def test_many_viewers_cost_one_picture():
    machine, made = pages(**DESCRIBED)
    for _ in range(20):
        made["/api/description"](Query())
    assert len(machine.asked) == 1


def test_a_picture_does_not_grow_old():
    now, count = [0.0], [0]

    def make():
        count[0] += 1
        return Answer(b"%d" % count[0])

    kept = Kept(make, lambda: now[0])
    assert [kept.page(Query()).body for _ in range(3)] == [b"1"] * 3
    now[0] += KEPT_S
    assert kept.page(Query()).body == b"2"


def test_a_dispatcher_that_is_stuck_is_neither_healthy_nor_ready():
    late = RpcError(Code.DEADLINE_EXCEEDED, "late")
    _, made = pages(GetVersion=late, DescribeService=late)
    assert made["/healthz"](Query()).status == made["/readyz"](Query()).status == 503


def test_one_that_ends_is_healthy_and_not_ready():
    ending = m.DescribeServiceResponse(replace(cluster(), stopping=True))
    _, made = pages(GetVersion=m.GetVersionResponse(9, 1), DescribeService=ending)
    assert made["/healthz"](Query()).status == 200
    assert made["/readyz"](Query()).status == 503


def test_a_worker_is_ready_while_it_is_known_and_stays():
    for view, status in (
        (WorkerView(True, ()), 200),
        (WorkerView(False, ()), 503),
        (WorkerView(True, (), draining=True), 503),
    ):
        made = worker_pages(lambda *_: m.GetWorkerTasksResponse(), lambda view=view: view)
        assert made["/readyz"](Query()).status == status
        assert made["/healthz"](Query()).status == 200
