"""A dispatcher that dies: killed for real, started again on its journal, and nothing is lost."""

from __future__ import annotations

import pytest

import tfsvc as tf
from tfsvc.errors import OpError
from tfsvc.protocol.settings import DispatcherSettings
from tfsvc_transports.hosted import HostedDispatcher

service = tf.data.experimental.service


@pytest.fixture
def dispatcher(tmp_path):
    """Starts the dispatcher, again and again at the same port; each life may be killed."""
    lives: list[HostedDispatcher] = []

    def start() -> HostedDispatcher:
        port = lives[-1].port if lives else 0
        lives.append(HostedDispatcher("localhost", port, DispatcherSettings(), str(tmp_path)))
        return lives[-1]

    yield start
    lives[-1].stop()


@pytest.mark.timeout(60)
@pytest.mark.parametrize("policy", [service.ShardingPolicy.OFF, service.ShardingPolicy.DYNAMIC])
def test_a_killed_dispatcher_goes_on_where_it_was(dispatcher, policy):
    life = dispatcher()
    address = f"localhost:{life.port}"
    config = service.WorkerConfig(dispatcher_address=address, heartbeat_interval_ms=100)
    with service.WorkerServer(config):
        dataset = tf.data.Dataset.range(3000).map(lambda x: x * 2)
        elements = iter(dataset.apply(service.distribute(policy, address)))
        got = []
        for cut in (100, 1000, 2000):
            got += [int(next(elements)) for _ in range(cut - len(got))]
            life.kill()
            life = dispatcher()
        got += map(int, elements)
        assert got == list(range(0, 6000, 2))


@pytest.mark.timeout(60)
def test_a_killed_dispatcher_and_worker_lose_nothing_together(dispatcher):
    life = dispatcher()
    address = f"localhost:{life.port}"
    config = service.WorkerConfig(dispatcher_address=address, heartbeat_interval_ms=100)
    workers = [service.WorkerServer(config) for _ in range(2)]
    dataset = tf.data.Dataset.range(2000).shuffle(100, seed=3).batch(7).unbatch()
    elements = iter(dataset.apply(service.distribute(service.ShardingPolicy.DYNAMIC, address)))
    got = [int(next(elements)) for _ in range(300)]
    life.kill()
    workers.pop().stop()
    life = dispatcher()
    got += map(int, elements)
    assert sorted(got) == list(range(2000))
    workers.pop().stop()


@pytest.mark.timeout(60)
def test_a_dispatcher_that_comes_back_without_its_journal_is_noticed():
    life = HostedDispatcher("localhost", 0, DispatcherSettings())
    address = f"localhost:{life.port}"
    with service.WorkerServer(service.WorkerConfig(dispatcher_address=address, heartbeat_interval_ms=100)):
        elements = iter(tf.data.Dataset.range(10**6).apply(service.distribute("distributed_epoch", address)))
        next(elements)
        life.kill()
        life = HostedDispatcher("localhost", life.port, DispatcherSettings())
        with pytest.raises(OpError, match="state was lost"):
            for _ in elements:
                pass
    life.stop()


@pytest.mark.timeout(60)
def test_a_second_dispatcher_on_one_work_dir_is_refused(tmp_path):
    config = service.DispatcherConfig(work_dir=str(tmp_path), fault_tolerant_mode=True)
    with service.DispatchServer(config), pytest.raises(tf.errors.FailedPreconditionError, match="another dispatcher"):
        service.DispatchServer(config)
    service.DispatchServer(config).stop()
