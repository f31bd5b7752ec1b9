"""A request that is recorded and sent once more, by whoever may call at all, has no second effect."""

from __future__ import annotations

from typing import Any

import numpy as np

import tfsvc as tf
from tests.security.conftest import Servers, raw_status, service, service_of
from tfsvc.protocol import messages as m
from tfsvc.protocol.messages import cluster
from tfsvc.service.security import Security
from tfsvc.wire.tensors import to_bytes

WAIT = 20 * 10**9


def test_a_repeated_call_runs_once(keys: dict[str, Security], serve: Any) -> None:
    servers: Servers = serve(keys["token"])
    ask = service_of(servers.addresses["rpc"], keys["token"]).ask
    session = ask(m.ListRequest(open_session=True), WAIT).session
    call = m.CallRequest("count", (to_bytes(np.int32(7)),), session, 1)
    first = ask(call, WAIT)
    assert ask(call, WAIT) == first
    assert ask(m.CallRequest("count", (to_bytes(np.int32(8)),), session, 2, floor=2), WAIT) != first
    # The caller has done with the first one, which is not even remembered.
    headers = (("authorization", f"Bearer {keys['token'].token()}"),)
    raw_status(servers.addresses["rpc"], call, headers)
    ask(m.EndSessionRequest(session), WAIT)
    raw_status(servers.addresses["rpc"], call, headers)
    assert servers.counted == [7, 8]


def test_a_repeated_step_runs_once(keys: dict[str, Security], serve: Any) -> None:
    v1 = tf.compat.v1
    servers: Servers = serve(keys["token"])
    target = f"grpc://{servers.addresses['cluster']}"
    with v1.Graph().as_default(), v1.Session(target, security=keys["token"]) as session:
        total = v1.Variable(0, name="total")
        more = v1.assign_add(total, 1)
        session.run(total.initializer)
        session.run(more)
        step = cluster.RunStepRequest(session._handle, (), (more.name,), request_id=12345)
        ask = service_of(servers.addresses["cluster"], keys["token"]).ask
        assert ask(step, WAIT) == ask(step, WAIT)
        assert session.run(total) == 2


def test_a_repeated_question_makes_no_second_job(keys: dict[str, Security], serve: Any) -> None:
    servers: Servers = serve(keys["token"])
    dataset_id = service.register_dataset(servers.target(), tf.data.Dataset.range(4), security=keys["token"])
    ask = service_of(servers.addresses["dispatcher"], keys["token"]).ask
    job = m.GetOrCreateJobRequest(dataset_id, m.ProcessingModeDef(m.ShardingPolicy.DYNAMIC), nonce="n")
    made = ask(job, WAIT)
    assert ask(job, WAIT) == made
    iteration = m.GetOrCreateIterationRequest(made.job_id, nonce="n")
    assert ask(iteration, WAIT) == ask(iteration, WAIT)
