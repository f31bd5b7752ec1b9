"""The real codec in the simulated network: it loses nothing that a machine depends on."""

from __future__ import annotations

from tfsvc_sim.play import play
from tfsvc_sim.swarm import draw
from tfsvc_sim.wire import through_codec
from tfsvc_sim.world import World


def test_runs_are_the_same_with_every_message_encoded_and_decoded() -> None:
    for seed in range(20):
        plain = play(draw(seed))
        coded = play(draw(seed), lambda seed, tempo: World(seed, tempo, translate=through_codec))
        assert not coded.problems
        assert coded.digest == plain.digest
