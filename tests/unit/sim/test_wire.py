"""The real codec in the simulated network: it loses nothing that a machine depends on."""

from __future__ import annotations

from tfsvc_sim.kernel.wire import through_codec
from tfsvc_sim.nodes.world import World
from tfsvc_sim.playing.play import play
from tfsvc_sim.playing.swarm import draw


def test_runs_are_the_same_with_every_message_encoded_and_decoded() -> None:
    for seed in range(20):
        plain = play(draw(seed))
        coded = play(draw(seed), lambda seed, tempo: World(seed, tempo, translate=through_codec))
        assert not coded.problems
        assert coded.digest == plain.digest
