"""Every life of every simulated node, whatever goes wrong, is the same again when its recorded events are played."""

from __future__ import annotations

import json

import pytest

from tfsvc.flight.codec import Codec, decode
from tfsvc.flight.format import digest
from tfsvc.flight.state import freeze, thaw
from tfsvc.protocol.gate import Gate
from tfsvc_sim.nodes.world import World
from tfsvc_sim.playing.play import play
from tfsvc_sim.playing.swarm import draw

OPEN = Codec(b"", bodies=True)


class Recorded:
    """A machine that is recorded as nodes of the real world are, from where it stands after ``begin`` events."""

    def __init__(self, machine, codec, begin):
        self.machine = machine
        self.codec = codec
        self.begin = begin
        self.lines = []
        self.state = b""

    def handle(self, event, now):
        if self.begin == 0:
            self.state = freeze(self.machine, self.codec)
        self.begin -= 1
        if self.begin >= 0:
            return self.machine.handle(event, now)
        text = json.dumps(self.codec.encode(event))
        commands = self.machine.handle(event, now)
        self.lines.append((now, text, [digest(command, self.codec) for command in commands]))
        return commands

    def deadline(self):
        return self.machine.deadline()

    def view(self):
        return self.machine.view()


@pytest.mark.parametrize("codec", [Codec(b"a key"), OPEN], ids=["withheld", "with bodies"])
@pytest.mark.parametrize("begin", [0, 25])
@pytest.mark.parametrize("seed", range(12))
def test_lives_are_the_same_again(seed, begin, codec):
    lives = []

    def gate(role, recovered):
        lives.append(Recorded(Gate(role, recovered), codec, begin))
        return lives[-1]

    verdict = play(draw(seed), lambda number, tempo: World(number, tempo, gate=gate))
    assert not verdict.problems
    played = 0
    for life in lives:
        if not life.state:
            continue
        machine = thaw(life.state)
        for now, text, said in life.lines:
            commands = machine.handle(decode(json.loads(text)), now)
            assert [digest(command, OPEN) for command in commands] == said, text
            played += 1
    assert played or begin, "some lives are too short to be joined in their middle"
