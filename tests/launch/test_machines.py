"""Ray on several machines, of which one goes with all that it runs; here they are processes of one."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

pytest.importorskip("ray")

STORY = """
import sys, time
import ray
from ray.cluster_utils import Cluster
import tfsvc as tf
import tfsvc.launch.ray as launcher

service = tf.data.experimental.service

def node_id(actor):
    return ray.get_runtime_context().get_node_id()

def slowly(x):
    time.sleep(0.002)
    return x

cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0})
machines = [cluster.add_node(num_cpus=2, resources={"data": 2}) for _ in range(2)]
ray.init(address=cluster.address, log_to_driver=False)
launcher._check_reach = lambda host: None  # these do reach each other at localhost
config = service.DispatcherConfig(work_dir=sys.argv[1], fault_tolerant_mode=True)
share = {"num_cpus": 0.1, "resources": {"data": 0.5}}
with launcher.RayService(2, config, worker_options=share, dispatcher_options=share) as made:
    wish = service.distribute("distributed_epoch", made.target, task_refresh_interval_hint_ms=50)
    got = []
    for element in tf.data.Dataset.range(2000).map(slowly).apply(wish):
        got.append(int(element))
        if len(got) == 500:
            home = ray.get(made._dispatcher.handle.__ray_call__.remote(node_id))
            (home,) = (machine for machine in machines if machine.node_id == home)
            cluster.remove_node(home, allow_graceful=False)
    assert sorted(got) == list(range(2000)), len(got)
    assert made.workers == 2
print("nothing was lost")
ray.shutdown()
cluster.shutdown()
"""


@pytest.mark.timeout(400)
def test_a_machine_is_lost_with_the_dispatcher(tmp_path):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(
        [sys.executable, "-c", STORY, str(tmp_path / "journal")],
        env=environment,
        capture_output=True,
        text=True,
        timeout=380,
    )
    assert "nothing was lost" in done.stdout, done.stderr
