"""Alarms wake sleepers in time, and only those."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tfsvc.protocol.ids import NEVER
from tfsvc.protocol.worker.alarms import Alarms


class Sleeper:
    def __init__(self) -> None:
        self.at = NEVER
        self.woken: list[int] = []
        self.now = 0

    def deadline(self) -> int:
        return self.at

    def wake(self) -> None:
        self.woken.append(self.at)
        self.at = NEVER


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(1, 20), st.booleans()), max_size=60))
def test_the_deadline_is_always_the_nearest_one(moves):
    alarms, sleepers, now = Alarms(), [Sleeper() for _ in range(4)], 0
    for who, ahead, pass_time in moves:
        if pass_time:
            now += ahead
            due = [s for s in sleepers if s.at <= now]
            before = [len(s.woken) for s in sleepers]
            alarms.wake(now)
            woken = [s for s, count in zip(sleepers, before, strict=True) if len(s.woken) > count]
            assert woken == due
        else:
            sleeper = sleepers[who]
            nearer = now + ahead < sleeper.at
            sleeper.at = now + ahead
            if nearer:
                alarms.set(sleeper)
        assert alarms.deadline() == min(s.at for s in sleepers)
