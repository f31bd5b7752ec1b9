"""How elements leave the batches of a reader, and what it reports of them."""

from __future__ import annotations

import itertools
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from types import FrameType
from typing import Any

import numpy as np
import pytest

from tests.unit.data.helpers import plain
from tfsvc.columns import Columns
from tfsvc.data import Dataset
from tfsvc.data.operator import Context, RowsIterator
from tfsvc.errors import Code, InvalidArgumentError, RpcError
from tfsvc.execution.encoding import encode_columns
from tfsvc.protocol.frames import Frame
from tfsvc.protocol.messages import OrderDef, Remainder, ShardingPolicy
from tfsvc.protocol.production import Encoding
from tfsvc.protocol.reading import Batch, EndOfData, MakeUp, Taken
from tfsvc.service import reading
from tfsvc.service.reading import ROWS_MAX, ServiceDataset
from tfsvc.specs import TensorSpec

UNORDERED = OrderDef()


class Script:
    """A reader that gives what it was told to, and remembers what it hears."""

    def __init__(self, *batches: Batch | MakeUp) -> None:
        self.heard: list[tuple[Taken, ...]] = []
        self._batches = iter([*batches, EndOfData()])

    def next_batch(self, taken: Sequence[Taken]) -> Batch | MakeUp | EndOfData:
        self.heard.append(tuple(taken))
        return next(self._batches)

    def look(self, taken: Callable[[], tuple[Taken, ...]]) -> None:
        self.taken = taken

    def close(self, taken: Sequence[Taken], *, wait: bool = True) -> None:
        self.heard.append(tuple(taken))


@dataclass(frozen=True, eq=False)
class Scripted(ServiceDataset):
    script: Script | None = None

    def open(self, *args: Any, **kwargs: Any) -> Any:
        return self.script


def scripted(*batches: Batch | MakeUp, order: OrderDef = UNORDERED) -> Scripted:
    spec = TensorSpec((), "int64")
    script = Script(*batches)
    return Scripted("grpc", "nowhere:1", "1", ShardingPolicy.OFF, None, spec, -1, order=order, script=script)


def batch(start: int, count: int, stream: int = 1, skip: int = 0, stop: int | None = None) -> Batch:
    """Numbers from ``start`` on, which are also their ordinals."""
    body = encode_columns(Columns(0, (np.arange(start, start + count),), count))
    return Batch(stream, "worker", Frame(start, count, body), skip, Encoding.FRAMES, stop=stop)


def heard(dataset: Scripted) -> list[tuple[Taken, ...]]:
    assert dataset.script is not None
    return dataset.script.heard


def seen(dataset: Scripted) -> int:
    """What a reader finds taken when it looks, in the last stream."""
    assert dataset.script is not None
    return next((taken.ordinal for taken in dataset.script.taken()), 0)


def test_what_is_open_of_a_service_s_elements_is_open_behind_functions_too() -> None:
    batches = ServiceDataset("grpc", "nowhere:1", "1", ShardingPolicy.OFF, None, TensorSpec((None,), "int64"), -1)
    assert Dataset(batches).map(lambda x: x + 1).element_spec == TensorSpec((None,), "int64")


def test_a_reader_may_look_what_is_taken_of_a_batch() -> None:
    dataset = scripted(batch(0, 10), batch(10, 3 * ROWS_MAX, skip=5, stop=2 * ROWS_MAX))
    iterator = iter(Dataset(dataset))
    looked = [seen(dataset)] + [seen(dataset) for _ in iterator]
    assert looked == [0, *range(1, 11), *range(16, 11 + 2 * ROWS_MAX)]
    del iterator
    assert seen(dataset) == 0, "it is not kept alive by that"


def test_a_reader_that_looks_at_any_moment_never_sees_more_than_was_taken() -> None:
    """Another thread may come in between any two lines, which a trace does."""
    dataset = scripted(*(batch(1500 * n, 1500) for n in range(3)))
    iterator = dataset.iterator(Context())
    assert isinstance(iterator, RowsIterator)
    taken, ahead, looking, moments = 0, [], False, 0

    def look(frame: FrameType, event: str, arg: Any) -> Any:
        nonlocal looking, moments
        if frame.f_code.co_filename != reading.__file__ or looking:
            return None
        looking, moments = True, moments + 1
        found = seen(dataset)
        if found > taken:
            ahead.append((found, taken, frame.f_lineno))
        looking = False
        return look

    usual = sys.gettrace()
    sys.settrace(look)
    try:
        for _ in range(3):
            for _ in range(1200):
                element = next(iterator.rows())
                taken = int(element) + 1
            taken += 60  # as soon as the block is made
            columns = iterator.block(60)
            assert columns is not None
            assert int(columns.leaves[0][-1]) + 1 == taken
            for element in iterator.rows():
                taken = int(element) + 1
    finally:
        sys.settrace(usual)
    assert taken == 3 * 1500
    assert moments > 10_000
    assert ahead == []


def test_all_elements_come_in_order_and_each_wish_tells_what_was_taken() -> None:
    dataset = scripted(batch(0, 3), batch(10, 4, stream=2, skip=1, stop=3), batch(3, 2))
    assert plain(list(Dataset(dataset))) == [0, 1, 2, 11, 12, 3, 4]
    assert heard(dataset)[:4] == [
        (),
        (Taken(1, 3),),
        (Taken(1, 3), Taken(2, 13)),
        (Taken(1, 5), Taken(2, 13)),
    ]


def test_a_reader_that_leaves_in_the_middle_of_a_batch_gives_back_what_it_was_not_given() -> None:
    dataset = scripted(batch(0, 10))
    iterator = iter(Dataset(dataset))
    assert [int(next(iterator)) for _ in range(4)] == [0, 1, 2, 3]
    del iterator
    assert heard(dataset)[-1] == (Taken(1, 4),)


def test_rows_that_were_made_together_count_only_as_they_are_taken() -> None:
    many = 2 * ROWS_MAX + 100
    dataset = scripted(batch(0, many))
    iterator = iter(Dataset(dataset))
    for _ in range(ROWS_MAX + 7):
        next(iterator)
    del iterator
    assert heard(dataset)[-1] == (Taken(1, ROWS_MAX + 7),)


@pytest.mark.parametrize("ways", list(itertools.product(("next", "block", "rows"), repeat=3)))
def test_elements_may_be_taken_in_any_way(ways: tuple[str, ...]) -> None:
    dataset = scripted(batch(0, 6), batch(6, 5), batch(11, 3))
    iterator = dataset.iterator(Context())
    assert isinstance(iterator, RowsIterator)
    found: list[int] = []
    for way in itertools.cycle(ways):
        try:
            match way:
                case "next":
                    found.append(int(iterator.next()))
                case "block":
                    block = iterator.block(2)
                    assert block is not None
                    found += map(int, block.elements())
                case _:
                    rows = iterator.rows()
                    found += [int(row) for row in itertools.islice(rows, 3)]
        except StopIteration:
            break
    assert found == list(range(14))
    assert heard(dataset)[1:3] == [(Taken(1, 6),), (Taken(1, 11),)]


def test_an_error_stands_in_the_place_of_its_element_and_the_rest_comes() -> None:
    error = Batch(1, "worker", Frame(3, 1, b"", RpcError(Code.INVALID_ARGUMENT, "no")), 0, Encoding.FRAMES)
    dataset = scripted(batch(0, 3), error, batch(4, 2))
    iterator = iter(Dataset(dataset))
    assert [int(next(iterator)) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(InvalidArgumentError, match="element 3 of the dataset"):
        next(iterator)
    assert plain(list(iterator)) == [4, 5]
    assert heard(dataset)[2] == (Taken(1, 4),)


def test_elements_that_are_made_up_are_no_one_s() -> None:
    dataset = scripted(batch(0, 2), MakeUp(0, 3), order=OrderDef(lanes=1, remainder=Remainder.PAD))
    assert plain(list(Dataset(dataset))) == [0, 1, 0, 0, 0]
    assert heard(dataset)[-1] == (Taken(1, 2),)


def test_threads_that_share_a_pass_get_each_element_once() -> None:
    dataset = scripted(*(batch(1000 * number, 1000) for number in range(20)))
    iterator = iter(Dataset(dataset))
    together = threading.Barrier(4)

    def read() -> list[int]:
        together.wait()
        return [int(element) for element in iterator]

    with ThreadPoolExecutor(4) as pool:
        parts = [part.result() for part in [pool.submit(read) for _ in range(4)]]
    assert sorted(itertools.chain(*parts)) == list(range(20_000))


def test_prefetch_has_no_buffer_of_its_own_where_elements_come_ahead_anyway() -> None:
    dataset = scripted(batch(0, 10))
    iterator = iter(Dataset(dataset).prefetch(5))
    assert int(next(iterator)) == 0
    del iterator
    assert heard(dataset)[-1] == (Taken(1, 1),)


def test_batches_that_the_reader_makes_are_views_and_take_no_more_than_they_hold() -> None:
    dataset = scripted(batch(0, 10), batch(10, 10))
    iterator = iter(Dataset(dataset).batch(4))
    first, second = next(iterator), next(iterator)
    assert [first.tolist(), second.tolist()] == [[0, 1, 2, 3], [4, 5, 6, 7]]
    assert first.base is not None
    assert first.base is second.base
    assert next(iterator).tolist() == [8, 9, 10, 11]
    del iterator
    assert heard(dataset)[-1] == (Taken(1, 12),)
