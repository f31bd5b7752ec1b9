"""A worker dies in a simulated cluster, and its dispatcher tells that nothing was lost."""

from __future__ import annotations

from tests.unit.sim.test_describing import running
from tfsvc.protocol import messages as m
from tfsvc.protocol.ids import SECOND
from tfsvc.protocol.messages.chronicle import GetChronicleResponse
from tfsvc_sim.nodes.world import World


def chronicle(world: World) -> GetChronicleResponse:
    answer = world._ask(m.GetChronicleRequest())
    assert isinstance(answer, GetChronicleResponse)
    return answer


def killed(seed: int = 0) -> World:
    world = running(seed)
    world.crash(world.workers[0])
    world.run(world.now + 120 * SECOND)
    return world


def test_a_killed_worker_is_seen_to_cost_nothing():
    world = killed()
    found = {happening.kind: happening.text for happening in chronicle(world).happenings}
    assert "2 lanes" in found["moved"] or "1 lane" in found["moved"]
    assert found["end"].startswith("pass 0 over job shared was read to its end: 5,000 elements taken, nothing lost")
    assert "loss" not in found
    assert len(world.ledger.takings) == 5000


def test_a_chronicle_is_a_function_of_the_seed():
    assert chronicle(killed(3)) == chronicle(killed(3))
