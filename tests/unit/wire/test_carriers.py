"""Carriers: our dataset in a graph of TensorFlow's, and back."""

from __future__ import annotations

import pytest

from tfsvc.protocol.messages import DatasetDef, TaskDef
from tfsvc.protocol.splits import SplitPlan
from tfsvc.wire.carriers import ATTRIBUTE, carried, carry
from tfsvc.wire.errors import WireError
from tfsvc.wire.graphs import split_plans
from tfsvc.wire.messages import decode, encode

ONE = DatasetDef(program=b"\x00p", plans=(SplitPlan(4, 3, 4),), origins=("here",))
SEVERAL = DatasetDef(program=b"p", plans=(SplitPlan(5, 10, -2), SplitPlan(2), SplitPlan(0)))
ENDLESS = DatasetDef(program=b"p", plans=(SplitPlan(None, 5, 2),))
WHOLE = DatasetDef(program=b"p", unsplittable="it cannot be divided")


@pytest.mark.parametrize("dataset", [ONE, SEVERAL, ENDLESS, WHOLE])
@pytest.mark.parametrize("compressed", [False, True])
def test_what_is_carried_comes_out_as_it_went_in(dataset, compressed):
    graph = carry(dataset, compressed)
    assert graph.program == b""
    task = decode(TaskDef, encode(TaskDef(graph)))
    assert task.dataset_def is not None
    assert (task.dataset_def.program, task.dataset_def.plans) == (dataset.program, dataset.plans)
    assert (task.dataset_def.unsplittable, task.dataset_def.compressed) == (dataset.unsplittable, compressed)
    assert task.dataset_def.graph == b""


@pytest.mark.parametrize("dataset", [ONE, SEVERAL])
def test_tensorflow_divides_the_graph_as_we_divide_the_dataset(dataset):
    assert split_plans(carry(dataset, False).graph) == dataset.plans


def test_a_source_without_end_has_more_splits_than_anybody_reads():
    (plan,) = split_plans(carry(ENDLESS, False).graph)
    assert plan.count is not None
    assert plan.count > 1 << 60
    assert (plan.start, plan.step) == (5, 2)


def test_a_graph_of_tensorflows_own_carries_nothing():
    assert carried(b"") is None
    assert carried(carry(ONE, False).graph.replace(ATTRIBUTE.encode(), b"x" * len(ATTRIBUTE))) is None


def test_damage_is_an_error():
    with pytest.raises(WireError):
        carried(ATTRIBUTE.encode() + b"\xff")
