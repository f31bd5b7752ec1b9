"""Static sharding of graphs: each worker's share, and what cannot be divided."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.unit.data.helpers import plain
from tfsvc.data import Dataset, FixedLengthRecordDataset, TextLineDataset, TFRecordDataset
from tfsvc.data.experimental import SHARD_HINT
from tfsvc.data.operator import Context, OperatorIterator
from tfsvc.data.options import Options
from tfsvc.data.sharding import Share, share_of
from tfsvc.errors import FailedPreconditionError, InvalidArgumentError, NotFoundError
from tfsvc.protocol.messages import ShardingPolicy
from tfsvc.storage.records import encode_record

FILE, DATA, HINT = ShardingPolicy.FILE, ShardingPolicy.DATA, ShardingPolicy.HINT
EITHER = ShardingPolicy.FILE_OR_DATA


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    """Ten TFRecord files of four records, named after file and record."""
    names = []
    for i in range(10):
        names.append(str(tmp_path / f"file{i}"))
        Path(names[-1]).write_bytes(b"".join(encode_record(f"{i}.{j}".encode()) for j in range(4)))
    return names


def start(dataset: Dataset, policy: ShardingPolicy, workers: int = 5, index: int = 1) -> OperatorIterator:
    return share_of(dataset.operator, policy, Share(workers, index)).iterator(Context(seed=3))


def shard(dataset: Dataset, policy: ShardingPolicy, workers: int = 5, index: int = 1) -> list[Any]:
    return rest(start(dataset, policy, workers, index))


def rest(iterator: OperatorIterator) -> list[Any]:
    found: list[Any] = []
    while True:
        try:
            found.append(plain(iterator.next()))
        except StopIteration:
            return found


def records(*numbers: int) -> list[bytes]:
    return [f"{i}.{j}".encode() for i in numbers for j in range(4)]


def test_files_go_to_workers_in_turn(files):
    assert shard(TFRecordDataset(files), FILE) == records(1, 6)
    assert shard(TFRecordDataset(files), EITHER) == records(1, 6)
    assert shard(TFRecordDataset(files), FILE, 1, 0) == records(*range(10))
    assert shard(TFRecordDataset(files, num_parallel_reads=2), FILE)[:3] == [b"1.0", b"6.0", b"1.1"]


def test_all_kinds_of_files_are_divided(tmp_path):
    names = []
    for i in range(3):
        names.append(str(tmp_path / f"text{i}"))
        Path(names[-1]).write_text(f"{i}a\n{i}b\n")
    assert shard(TextLineDataset(names), FILE, 3, 2) == [b"2a", b"2b"]
    assert shard(FixedLengthRecordDataset(names, 3), FILE, 3, 0) == [b"0a\n", b"0b\n"]


def test_files_opened_in_a_function_are_found(files):
    names = Dataset.from_tensor_slices(files)
    assert shard(names.flat_map(TFRecordDataset), FILE) == records(1, 6)
    read = names.map(lambda name: name).interleave(lambda name: TFRecordDataset(name).map(lambda x: x), 2)
    assert shard(read, FILE)[:3] == [b"1.0", b"6.0", b"1.1"]


@pytest.mark.parametrize(
    "build",
    [
        lambda t: t.map(lambda x: x),
        lambda t: t.map(lambda x: x, num_parallel_calls=2),
        lambda t: t.filter(lambda x: True),
        lambda t: t.shuffle(1),
        lambda t: t.prefetch(2),
        lambda t: t.with_options(Options()),
        lambda t: t.cache(),
        lambda t: t.batch(3).unbatch(),
        lambda t: t.batch(3).rebatch(2).unbatch(),
        lambda t: t.padded_batch(3).unbatch(),
        lambda t: t.window(3).flat_map(lambda w: w),
        lambda t: t.shard(1, 0),
        lambda t: t.take(99).skip(0).repeat(1),
    ],
)
def test_operators_pass_the_division_on_to_their_files(files, build):
    assert shard(build(TFRecordDataset(files)), FILE) == records(1, 6)


def test_every_input_of_zip_and_concatenate_is_divided(files):
    one = TFRecordDataset(files)
    assert shard(one.concatenate(one), FILE) == records(1, 6, 1, 6)
    assert shard(Dataset.zip(one, one), FILE) == [(r, r) for r in records(1, 6)]


def test_all_workers_divide_one_order_of_shuffled_names(files):
    names = Dataset.from_tensor_slices(files).shuffle(10)
    shares = [shard(names.flat_map(TFRecordDataset), FILE, 5, i) for i in range(5)]
    assert [sorted(share) for share in shares] == [records(i, i + 5) for i in range(5)]
    orders = {tuple(shard(names.shuffle(3, seed=s).flat_map(TFRecordDataset), FILE, 2, 0)) for s in range(9)}
    assert len(orders) > 1


@pytest.mark.parametrize(
    ("name", "build"),
    [
        ("scan", lambda t: t.scan(0, lambda s, x: (s, x))),
        ("take_while", lambda t: t.take_while(lambda x: True)),
        ("unique", lambda t: t.unique()),
        ("ignore_errors", lambda t: t.ignore_errors()),
        ("enumerate", lambda t: t.enumerate()),
        ("group_by_window", lambda t: t.group_by_window(lambda x: 0, lambda k, w: w, 2)),
        ("choose_from_datasets", lambda t: Dataset.choose_from_datasets([t, t], Dataset.range(2))),
        ("range", lambda t: Dataset.zip(t, Dataset.range(40))),
        ("from_tensor_slices", lambda t: Dataset.from_tensor_slices([1, 2])),
        ("from_tensors", lambda t: t.concatenate(Dataset.from_tensors("a"))),
        ("from_generator", lambda t: Dataset.from_generator(lambda: [1], output_types="int64")),
        ("random", lambda t: Dataset.random(seed=1)),
        ("range", lambda t: Dataset.range(3).flat_map(Dataset.range)),
    ],
)
def test_what_cannot_be_divided_by_file_is_named_with_the_way_out(files, name, build):
    with pytest.raises(NotFoundError, match=rf"{name}\(\).*ShardingPolicy.DATA.*DYNAMIC"):
        shard(build(TFRecordDataset(files)), FILE)
    ten = build(TFRecordDataset(files)).concatenate(build(TFRecordDataset(files))).take(10)
    whole = shard(ten, EITHER, 1, 0)
    assert [shard(ten, EITHER, 2, 0), shard(ten, EITHER, 2, 1)] == [whole[0::2], whole[1::2]]


def test_elements_go_to_workers_in_turn():
    assert shard(Dataset.range(20), DATA) == [1, 6, 11, 16]
    assert shard(Dataset.range(20), EITHER) == [1, 6, 11, 16]
    batches = Dataset.range(20).batch(3).prefetch(2).with_options(Options())
    assert shard(batches, DATA) == [[3, 4, 5], [18, 19]]


def test_shares_of_an_unseeded_shuffle_make_the_whole():
    dataset = Dataset.range(50).shuffle(20).repeat(2)
    assert sorted(e for i in range(3) for e in shard(dataset, DATA, 3, i)) == sorted([*range(50)] * 2)


def test_a_hint_is_filled_in():
    assert shard(Dataset.range(20).shard(SHARD_HINT, 0).map(lambda x: x), HINT) == [1, 6, 11, 16]
    assert shard(Dataset.range(20).shard(SHARD_HINT, 7), HINT) == [1, 6, 11, 16]
    both = Dataset.zip(Dataset.range(9).shard(SHARD_HINT, 0), Dataset.range(10, 19).shard(SHARD_HINT, 0))
    assert shard(both, HINT, 3, 2) == [(2, 12), (5, 15), (8, 18)]
    assert shard(Dataset.range(4).shard(1, 0), HINT) == [0, 1, 2, 3]


def test_a_hint_under_another_policy_is_refused(files):
    hinted = Dataset.range(20).shard(SHARD_HINT, 0)
    for policy in (DATA, EITHER, ShardingPolicy.OFF):
        with pytest.raises(FailedPreconditionError, match=r"ShardingPolicy\.HINT"):
            shard(hinted, policy)
    with pytest.raises(FailedPreconditionError, match=r"ShardingPolicy\.HINT"):
        shard(Dataset.range(2).flat_map(lambda x: Dataset.range(9).shard(SHARD_HINT, 0)), HINT)
    with pytest.raises(FailedPreconditionError, match=r"ShardingPolicy\.HINT"):
        next(iter(hinted))


@pytest.mark.parametrize("policy", [FILE, DATA])
def test_too_little_to_divide_is_an_error_where_there_is_some_and_an_end_where_there_is_none(files, policy):
    dataset = TFRecordDataset(files[:3]).batch(4)
    with pytest.raises(InvalidArgumentError, match="not enough for the required 5 shards/workers"):
        shard(dataset, policy, 5, 1)
    assert shard(dataset, policy, 5, 4) == []
    assert shard(TFRecordDataset([]), FILE) == shard(Dataset.range(0), DATA) == []


def test_an_element_that_fails_is_told_by_the_worker_whose_it_is():
    def fails(x: Any) -> Any:
        if x in (1, 7):
            raise ValueError(f"no {x}")
        return x

    def take(index: int) -> list[Any]:
        iterator, found = start(Dataset.range(10).map(fails), DATA, 3, index), []
        while True:
            try:
                found.append(plain(iterator.next()))
            except StopIteration:
                return found
            except ValueError as error:
                found.append(str(error))

    assert [take(i) for i in range(3)] == [[0, 3, 6, 9], ["no 1", 4, "no 7"], [2, 5, 8]]


@pytest.mark.parametrize("cut", range(5))
def test_a_share_goes_on_from_a_saved_state(cut):
    dataset = Dataset.range(20).shuffle(4, seed=2)
    iterator, again = start(dataset, DATA), start(dataset, DATA)
    before = [plain(iterator.next()) for _ in range(cut)]
    again.load(iterator.save())
    assert before + rest(again) == shard(dataset, DATA)


def test_blocks_hold_what_single_elements_would_be():
    iterator = start(Dataset.range(100), DATA, 7, 3)
    assert iterator.block(50) is None
    found = [iterator.next()]
    while True:
        try:
            found.extend(iterator.block(10).elements())
        except StopIteration:
            break
    assert found == list(range(3, 100, 7))
