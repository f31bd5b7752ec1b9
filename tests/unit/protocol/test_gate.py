"""The gate: numbers updates, and holds words until everything before them is durable."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tfsvc.protocol.contract import Append, Event, Note, Step, Synced, Woke
from tfsvc.protocol.gate import Gate
from tfsvc.protocol.ids import NEVER, Instant
from tfsvc.protocol.updates import LoseWorker


class Scripted:
    """A role that does what it was told beforehand."""

    def __init__(self, *steps: Step) -> None:
        self._steps = list(steps)

    def handle(self, event: Event, now: Instant) -> Step:
        return self._steps.pop(0)

    def deadline(self) -> Instant:
        return NEVER

    def view(self) -> Scripted:
        return self


def word(text: str) -> Note:
    return Note("info", text)


LOST = LoseWorker("w")


def test_a_role_without_updates_passes_unchanged() -> None:
    gate = Gate(Scripted(Step(words=(word("a"), word("b")))))
    assert list(gate.handle(Woke(), 0)) == [word("a"), word("b")]


def test_a_word_waits_for_its_update() -> None:
    gate = Gate(Scripted(Step((LOST,), (word("a"),))))
    assert list(gate.handle(Woke(), 0)) == [Append(1, LOST)]
    assert list(gate.handle(Synced(1), 0)) == [word("a")]


def test_an_answer_from_memory_waits_for_the_fact_it_tells() -> None:
    """A repeated request is answered without an update of its own, while the first one's is on its way."""
    gate = Gate(Scripted(Step((LOST,), (word("a"),)), Step(words=(word("again"),))))
    gate.handle(Woke(), 0)
    assert list(gate.handle(Woke(), 0)) == []
    assert list(gate.handle(Synced(1), 0)) == [word("a"), word("again")]


def test_a_group_is_released_as_far_as_it_is_durable() -> None:
    gate = Gate(Scripted(Step((LOST,), (word("a"),)), Step((LOST,), (word("b"),))))
    gate.handle(Woke(), 0)
    gate.handle(Woke(), 0)
    assert list(gate.handle(Synced(1), 0)) == [word("a")]
    assert list(gate.handle(Synced(2), 0)) == [word("b")]


def test_numbers_go_on_behind_what_was_recovered() -> None:
    gate = Gate(Scripted(Step((LOST,))), recovered=7)
    assert list(gate.handle(Woke(), 0)) == [Append(8, LOST)]


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(0, 3)), max_size=20))
def test_words_keep_their_order_and_never_overtake_their_updates(script: list[tuple[int, int, int]]) -> None:
    """Each step of the script: how many updates, how many words, and how many more updates are then durable."""
    needs: dict[str, int] = {}
    steps, updates = [], 0
    for n, (new, words, _) in enumerate(script):
        updates += new
        said = [word(f"{n}.{i}") for i in range(words)]
        needs.update((w.text, updates) for w in said)
        steps.append(Step((LOST,) * new, tuple(said)))
    gate = Gate(Scripted(*steps))
    appended = durable = 0
    heard: list[str] = []
    for _, _, more in script:
        for event in (Woke(), Synced(durable)):
            if isinstance(event, Synced):
                durable = min(appended, durable + more)
                event = Synced(durable)
            for command in gate.handle(event, 0):
                if isinstance(command, Append):
                    assert command.number == appended + 1
                    appended += 1
                elif isinstance(command, Note):
                    assert needs[command.text] <= durable
                    heard.append(command.text)
    heard += [w.text for w in gate.handle(Synced(appended), 0) if isinstance(w, Note)]
    assert heard == list(needs)
