"""``tfsvc.torch.IterableDataset`` under PyTorch's and torchdata's loaders."""

from __future__ import annotations

import copy
import json
import multiprocessing
import pickle
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import numpy as np
import pytest

import tfsvc as tf
from tests.e2e.conftest import Service
from tfsvc.errors import FailedPreconditionError, InvalidArgumentError

torch = pytest.importorskip("torch")
stateful = pytest.importorskip("torchdata.stateful_dataloader")

from torch.utils.data import DataLoader  # noqa: E402

from tfsvc.torch import IterableDataset  # noqa: E402

pytestmark = [
    pytest.mark.trainers,
    pytest.mark.filterwarnings("ignore:.*set_vital.*", "ignore:.*worker processes in total.*"),
]

COUNT = 60
RANGE = tf.data.Dataset.range(COUNT)


def ordered(service: Service, dataset: Any = RANGE, **arguments: Any) -> Any:
    return service.read(dataset, deterministic=True, **arguments)


def loader(dataset: Any, workers: int, how: str = "fork", **more: Any) -> Any:
    more.setdefault("batch_size", 4)
    return stateful.StatefulDataLoader(
        dataset, num_workers=workers, multiprocessing_context=how if workers else None, **more
    )


def passed(batches: Any) -> list[list[int]]:
    return [batch.tolist() for batch in batches]


def numbers(batches: Any) -> list[int]:
    return sorted(x for batch in passed(batches) for x in batch)


@pytest.mark.parametrize(
    ("workers", "how", "persistent"),
    [(0, None, False), (1, "fork", False), (3, "fork", False), (3, "fork", True), (2, "spawn", True)],
)
@pytest.mark.timeout(300)
def test_each_element_once_in_each_pass(two_workers: Service, workers: int, how: str | None, persistent: bool) -> None:
    # A function behind `distribute`, which no plain pickle takes along.
    dataset = IterableDataset(two_workers.read(RANGE).map(lambda x: x + 1))
    loaded = DataLoader(
        dataset,
        batch_size=4,
        num_workers=workers,
        multiprocessing_context=how,
        persistent_workers=persistent,
    )
    for _ in range(3):
        assert numbers(loaded) == list(range(1, COUNT + 1))


def test_passes_go_on_whoever_reads(two_workers: Service) -> None:
    dataset = IterableDataset(two_workers.read(RANGE, job_name="anybody"))
    assert next(iter(dataset)).shape == ()  # a look
    for workers in (2, 0, 1):
        assert numbers(DataLoader(dataset, batch_size=4, num_workers=workers)) == list(range(COUNT))


def test_a_loader_that_was_left_early_begins_anew(two_workers: Service) -> None:
    loaded = DataLoader(IterableDataset(two_workers.read(RANGE)), batch_size=4, num_workers=2)
    for _ in range(2):
        next(iter(loaded))
    assert numbers(loaded) == list(range(COUNT))


def test_loaders_with_one_seed_still_count_passes(two_workers: Service) -> None:
    loaded = DataLoader(IterableDataset(two_workers.read(RANGE)), batch_size=4, num_workers=2)
    for _ in range(3):
        torch.manual_seed(0)
        assert numbers(loaded) == list(range(COUNT))


def test_copies_count_for_themselves(two_workers: Service) -> None:
    dataset = IterableDataset(two_workers.read(RANGE))
    for other in (copy.deepcopy(dataset), pickle.loads(pickle.dumps(dataset))):
        for _ in range(2):
            assert numbers(DataLoader(other, batch_size=4, num_workers=2)) == list(range(COUNT))
    assert numbers(DataLoader(dataset, batch_size=4, num_workers=2)) == list(range(COUNT))


def test_batches_come_as_columns(two_workers: Service) -> None:
    pairs = RANGE.map(lambda x: {"x": np.float32(x), "name": b"%d" % x}).batch(20)
    made = list(DataLoader(IterableDataset(two_workers.read(pairs)), batch_size=None))
    assert [batch["x"].dtype for batch in made] == [torch.float32] * len(made)
    assert sorted(x for batch in made for x in batch["x"].tolist()) == list(range(COUNT))
    assert sorted(int(name) for batch in made for name in batch["name"]) == list(range(COUNT))


def test_a_fixed_order_is_that_of_the_dataset(two_workers: Service) -> None:
    read = ordered(two_workers, RANGE.shuffle(10))
    epochs = [[int(x) for x in read] for _ in range(3)]
    dataset = IterableDataset(ordered(two_workers, RANGE.shuffle(10)))
    assert [[int(x) for x in dataset] for _ in range(2)] == epochs[:2]
    dataset.set_epoch(1)
    assert [int(x) for x in dataset] == epochs[1]
    assert [int(x) for x in dataset] == epochs[2]


@pytest.mark.parametrize("persistent", [False, True])
def test_set_epoch_reaches_the_workers(two_workers: Service, persistent: bool) -> None:
    dataset = IterableDataset(ordered(two_workers, RANGE.shuffle(10)))
    loaded = loader(dataset, 2, persistent_workers=persistent)
    first, second = passed(loaded), passed(loaded)
    dataset.set_epoch(0)
    assert passed(loaded) == first != second
    assert passed(loaded) == second


@pytest.mark.parametrize("workers", [0, 1, 3])
@pytest.mark.parametrize("steps", [0, 1, 7, 14])
def test_resumed_anywhere_it_is_as_if_nothing_had_happened(two_workers: Service, workers: int, steps: int) -> None:
    def fresh(**more: Any) -> Any:
        return loader(IterableDataset(ordered(two_workers, RANGE.shuffle(10))), workers, **more)

    calm = fresh()
    expected = [passed(calm) for _ in range(3)]
    broken = fresh()
    iterator = iter(broken)
    before = [next(iterator).tolist() for _ in range(steps)]
    state = broken.state_dict()
    del iterator
    resumed = fresh()
    resumed.load_state_dict(json.loads(json.dumps(state)))
    assert states_in(resumed.state_dict()) == states_in(state)
    assert before + passed(resumed) == expected[0]
    assert [passed(resumed) for _ in range(2)] == expected[1:]


def states_in(state: Any) -> list[Any]:
    """Those of the dataset in each process of a stateful loader."""
    workers = state["_snapshot"]["_worker_snapshots"].values() if "_snapshot" in state else [state]
    return [worker["dataset_state"] for worker in workers]


@pytest.mark.parametrize("workers", [0, 2])
def test_resumed_at_the_end_the_next_pass_begins(two_workers: Service, workers: int) -> None:
    first = loader(IterableDataset(ordered(two_workers, RANGE.shuffle(10))), workers)
    expected = [passed(first), passed(first)]
    state = first.state_dict()
    third = passed(first)
    again = loader(IterableDataset(ordered(two_workers, RANGE.shuffle(10))), workers)
    again.load_state_dict(state)
    assert passed(again) == third
    assert third not in expected


def test_set_epoch_of_the_pass_that_is_resumed_keeps_its_place(two_workers: Service) -> None:
    dataset = IterableDataset(ordered(two_workers, RANGE.shuffle(10)))
    first = [int(x) for x in dataset]
    iterator = iter(dataset)
    before = [int(next(iterator)) for _ in range(7)]
    state = dataset.state_dict()
    whole = before + [int(x) for x in iterator]
    for epoch, expected in ((1, whole[7:]), (0, first)):
        again = IterableDataset(ordered(two_workers, RANGE.shuffle(10)))
        again.load_state_dict(state)
        again.set_epoch(epoch)
        assert [int(x) for x in again] == expected
        assert len(list(again)) == COUNT


def rank(dataset: Any, answer: Any) -> None:
    """A trainer of its own, started with the dataset of another process."""
    loaded = DataLoader(dataset, batch_size=4, num_workers=2, multiprocessing_context="fork")
    answer.put([numbers(loaded) for _ in range(2)])


def test_trainers_that_were_started_with_one_dataset_count_for_themselves(two_workers: Service) -> None:
    dataset = IterableDataset(two_workers.read(RANGE))
    forked = multiprocessing.get_context("fork")
    answer = forked.SimpleQueue()
    trainers = [forked.Process(target=rank, args=(dataset, answer)) for _ in range(2)]
    for trainer in trainers:
        trainer.start()
    rank(dataset, answer)
    assert [answer.get() for _ in range(3)] == [[list(range(COUNT))] * 2] * 3
    for trainer in trainers:
        trainer.join()


def test_another_number_of_workers_goes_on(two_workers: Service) -> None:
    three = loader(IterableDataset(ordered(two_workers)), 3)
    iterator = iter(three)
    before = [next(iterator).tolist() for _ in range(5)]
    states = states_in(three.state_dict())
    for workers in (0, 2):
        dataset = IterableDataset(ordered(two_workers))
        dataset.load_state_dict(states)
        loaded = DataLoader(dataset, batch_size=4, num_workers=workers)
        rest = numbers(loaded)
        assert sorted(sum(before, rest)) == list(range(COUNT))
        assert numbers(loaded) == list(range(COUNT)), "the state is of one pass only"


def test_a_dataset_resumes_without_a_stateful_loader(two_workers: Service) -> None:
    dataset = IterableDataset(ordered(two_workers))
    iterator = iter(dataset)
    before = [int(next(iterator)) for _ in range(7)]
    again = IterableDataset(ordered(two_workers))
    again.load_state_dict(dataset.state_dict())
    assert again.state_dict() == dataset.state_dict()
    assert before + [int(x) for x in again] == list(range(COUNT))
    assert again.state_dict() == {"pass": 1, "iterator": None}


def test_states_that_cannot_be_are_refused(two_workers: Service) -> None:
    loose = IterableDataset(two_workers.read(RANGE))
    with closing(read(loose)) as iterator:
        next(iterator)
        with pytest.raises(FailedPreconditionError, match="deterministic=True"):
            loose.state_dict()
    dataset = IterableDataset(ordered(two_workers))
    for nonsense in ({}, [], None, [{"pass": 0, "iterator": None}, {}]):
        with pytest.raises(InvalidArgumentError, match=r"no state_dict\(\)"):
            dataset.load_state_dict(nonsense)
    with pytest.raises(InvalidArgumentError, match=r"of the passes \[0, 1\]"):
        dataset.load_state_dict([{"pass": 0, "iterator": None}, {"pass": 1, "iterator": None}])
    list(DataLoader(dataset, batch_size=4, num_workers=1))
    with pytest.raises(FailedPreconditionError, match="StatefulDataLoader"):
        dataset.state_dict()


def read(dataset: Any) -> Iterator[Any]:
    yield from dataset


def test_a_stateful_loader_refuses_what_cannot_be_resumed(two_workers: Service) -> None:
    with pytest.raises(FailedPreconditionError, match="deterministic=True"):
        list(loader(IterableDataset(two_workers.read(RANGE)), 2))


def test_what_cannot_be_divided_is_refused(two_workers: Service) -> None:
    whole = IterableDataset(tf.data.Dataset.zip(two_workers.read(RANGE), RANGE))
    with pytest.raises(InvalidArgumentError, match=r"range\(\) would be read whole by each of the 2 worker processes"):
        list(DataLoader(whole, num_workers=2))
    assert len(list(DataLoader(whole, num_workers=1))) == COUNT
    many = ordered(two_workers, lanes=2, job_name="many", consumer_index=0, num_consumers=2)
    with pytest.raises(InvalidArgumentError, match=r"4 readers.*the job has 2: give distribute\(\) more `lanes`"):
        list(DataLoader(IterableDataset(many), num_workers=2))
    rounds = two_workers.read(RANGE, job_name="rounds", consumer_index=0, num_consumers=1)
    with pytest.raises(InvalidArgumentError, match="Coordinated reads"):
        list(DataLoader(IterableDataset(rounds), num_workers=2))


def test_consumers_with_workers_get_as_many_batches(two_workers: Service) -> None:
    def consumer(index: int) -> Any:
        read = ordered(two_workers, job_name="even", consumer_index=index, num_consumers=2, remainder="drop", lanes=16)
        return iter(DataLoader(IterableDataset(read), batch_size=1, num_workers=2))

    got = [list(both) for both in zip(*map(consumer, (0, 1)), strict=True)]
    taken = [int(x) for both in got for x in both]
    assert len(set(taken)) == len(taken) > COUNT - 16


def test_lengths() -> None:
    assert len(IterableDataset(RANGE)) == COUNT
    assert len(DataLoader(IterableDataset(RANGE), batch_size=4)) == COUNT // 4
    assert len(IterableDataset(RANGE.repeat(), length=7)) == 7
    with pytest.raises(TypeError, match="infinite"):
        len(IterableDataset(RANGE.repeat()))
    assert IterableDataset(RANGE.repeat())
    with pytest.raises(TypeError, match=r"must be a `tf.data.Dataset`"):
        IterableDataset([1, 2])


def test_tensors_may_be_pinned_and_shared(two_workers: Service) -> None:
    images = tf.data.Dataset.range(3).map(lambda x: np.full((300, 1000), x, np.float32))
    shared = IterableDataset(two_workers.read(images), copy=False)
    assert sorted(float(x.sum()) for x in DataLoader(shared, batch_size=None)) == [0.0, 3e5, 6e5]
    assert not any(x.is_pinned() for x in shared)  # pinning needs a device
