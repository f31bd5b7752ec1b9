"""A fixed order: the sequence of an ordered job depends neither on how many workers there are nor on their fate."""

from __future__ import annotations

from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.properties.test_resume import HARMLESS, Life, run
from tfsvc.protocol.messages import OrderDef, ShardingPolicy
from tfsvc_sim.faults import Fault
from tfsvc_sim.faults.menu import usual
from tfsvc_sim.judging.sequence import elements
from tfsvc_sim.playing.workloads import Workload, kinds_for

faults = st.builds(
    usual, slot=st.integers(0, 8), kind=st.sampled_from(HARMLESS), target=st.integers(0, 63), span=st.integers(1, 12)
)


@settings(deadline=None, max_examples=40)
@given(
    st.integers(1, 64),
    st.builds(Workload, kind=st.sampled_from(kinds_for(ShardingPolicy.DYNAMIC)), size=st.integers(0, 200)),
    st.lists(faults, max_size=6).map(tuple),
)
@example(1, Workload("shuffle_batch", 200), ())
@example(64, Workload("shuffle_batch", 200), ())
def test_one_to_sixty_four_workers_give_the_same_sequence(
    workers: int, load: Workload, befalls: tuple[Fault, ...]
) -> None:
    order = OrderDef(lanes=16, block=4, seed=7)
    world = run(Life(workers, workers, (None,), befalls), load, order, (), checkpoint_every=4)
    assert [taking.values for taking in world.ledger.takings] == [e.values for e in elements(load.definition(), order)]
