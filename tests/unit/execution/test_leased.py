"""The elements of a shard that one lane was leased."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.data.helpers import plain
from tfsvc.data import Dataset
from tfsvc.data.operator import Context
from tfsvc.execution.leased import LeasedElements
from tfsvc.protocol.splits import Lease, Span, SplitFeed, SplitPosition, Starved


def fragile(x: Any) -> Any:
    if x in (2, 5):
        raise ValueError(f"no {x}")
    return x


def leased(dataset: Dataset, *spans: Span) -> LeasedElements:
    feed = SplitFeed(0)
    feed.add(Lease(0, SplitPosition(0, 0), spans))
    return LeasedElements(dataset.operator.iterator(Context()), feed)


def taken(elements: LeasedElements, blocks: int = 0) -> list[Any]:
    """What comes before more must be leased, or before the end; in blocks where there are some."""
    found: list[Any] = []
    while True:
        try:
            columns = elements.block(blocks) if blocks else None
            found.extend(map(plain, [elements.next()] if columns is None else columns.elements()))
        except (Starved, StopIteration) as over:
            return [*found, type(over).__name__]
        except ValueError as error:
            found.append(str(error))


@pytest.mark.parametrize("blocks", [0, 1, 3, 100])
def test_a_lane_gives_the_elements_whose_numbers_it_was_leased(blocks):
    assert taken(leased(Dataset.range(9), Span(1, 3), Span(5, 6)), blocks) == [1, 2, 5, "Starved"]
    assert taken(leased(Dataset.range(9), Span(1, 3), Span(7, 99)), blocks) == [1, 2, 7, 8, "StopIteration"]
    assert taken(leased(Dataset.range(3), Span(7, 99)), blocks) == ["StopIteration"]


@pytest.mark.parametrize("blocks", [0, 2])
def test_an_element_that_fails_is_told_where_it_was_leased(blocks):
    dataset = Dataset.range(8).map(fragile)
    assert taken(leased(dataset, Span(0, 2), Span(4, 8)), blocks) == [0, 1, 4, "no 5", 6, 7, "Starved"]
    assert taken(leased(dataset, Span(2, 4)), blocks) == ["no 2", 3, "Starved"]


@pytest.mark.parametrize("cut", range(6))
def test_it_goes_on_from_a_saved_state(cut):
    dataset, spans = Dataset.range(20).batch(2), (Span(1, 3), Span(6, 9))
    whole, first = leased(dataset, *spans), leased(dataset, *spans)
    before = [plain(first.next()) for _ in range(min(cut, 5))]
    feed = SplitFeed(0, first._feed.at)
    feed.add(Lease(0, SplitPosition(0, 0), spans))
    again = LeasedElements(dataset.operator.iterator(Context()), feed)
    again.load(first.save())
    assert before + taken(again) == taken(whole)
