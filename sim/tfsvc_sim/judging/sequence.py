"""Sequences: what the consumers of an ordered job must get, made here with neither workers nor messages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tfsvc import nest
from tfsvc.data.operator import Context, Operator
from tfsvc.execution.program import unpack
from tfsvc.protocol.dealing import deal
from tfsvc.protocol.dispatcher import ordered
from tfsvc.protocol.luck import Luck
from tfsvc.protocol.messages import DatasetDef, OrderDef
from tfsvc.protocol.splits import SplitFeed, Starved

Values = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Element:
    """One element of the sequence: of which run and lane, the how many-th of it, and what it holds.

    ``values`` is empty for an element that fails.
    """

    run: int
    lane: int
    ordinal: int
    values: Values


def sequence(dataset: DatasetDef, order: OrderDef, consumers: int = 1, repetition: int = 0) -> list[list[Values]]:
    """What each consumer gets, in order."""
    every = elements(dataset, order, repetition)
    return [[e.values for e in every if e.lane % consumers == index] for index in range(consumers)]


def elements(dataset: DatasetDef, order: OrderDef, repetition: int = 0) -> list[Element]:
    """All elements of an epoch, in order."""
    program = unpack(dataset.program)
    every = [element for lane in range(order.lanes) for element in _lane(program, dataset, order, lane, repetition)]
    return sorted(every, key=lambda element: (element.run, element.lane, element.ordinal))


def _lane(program: Operator, dataset: DatasetDef, order: OrderDef, lane: int, repetition: int) -> list[Element]:
    seed = ordered.seed(order, repetition)
    feeds = tuple(SplitFeed(provider) for provider in range(len(dataset.plans)))
    luck = Luck(seed, f"lane/{lane}").bits()
    iterator = program.iterator(Context(feeds, luck, (repetition,), repetition, shared_seed=seed, inline=True))
    found: list[Element] = []
    run = 0
    while True:
        try:
            found.append(Element(run, lane, len(found), flat(iterator.next())))
        except StopIteration:
            return found
        except Starved as starved:
            lease, begins = deal(dataset.plans[starved.provider], order, lane, starved.provider, starved.at)
            feeds[starved.provider].add(lease)
            run += begins
        except Exception:
            found.append(Element(run, lane, len(found), ()))


def flat(element: Any) -> Values:
    """All numbers of an element."""
    if isinstance(element, np.generic):
        return (element.item(),)
    leaves = nest.flatten(element) if nest.is_nested(element) else [element]
    return tuple(value for leaf in leaves for value in np.ravel(leaf).tolist())
