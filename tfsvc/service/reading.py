"""A dataset that is read from the service: a source like any other in the operator graph."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import count, islice, repeat
from operator import length_hint
from typing import Any, Final
from weakref import WeakKeyDictionary, WeakMethod

from tfsvc import nest
from tfsvc.columns import Columns
from tfsvc.data.elements import zero_element, zero_examples
from tfsvc.data.operator import INFINITE, UNKNOWN, Context, Operator, OperatorIterator, RowsIterator, SourceOperator
from tfsvc.errors import FailedPreconditionError, InvalidArgumentError, UnimplementedError, to_exception
from tfsvc.execution.encoding import decode_body
from tfsvc.protocol.client.request import ReadRequest
from tfsvc.protocol.messages import Delivery, LanePlace, OrderDef, Remainder, ShardingPolicy, TargetWorkers
from tfsvc.protocol.reading import Batch, EndOfData, MakeUp, Taken
from tfsvc.protocol.settings import ClientSettings
from tfsvc.protocol.splits import SplitPlan
from tfsvc.record import but
from tfsvc.service.backend import Reader, backend
from tfsvc.service.position import ServicePosition, trim
from tfsvc.service.security import Security

_log = logging.getLogger("tfsvc")

ROWS_MAX: Final = 4096
"""Elements that are taken apart together; they are views of the batch."""

_epochs: WeakKeyDictionary[Operator, Iterator[int]] = WeakKeyDictionary()
"""Counts the passes over each dataset of this process, as TensorFlow's iteration counter."""


@dataclass(frozen=True, eq=False)
class ServiceDataset(SourceOperator):
    """The elements of a registered dataset, as the service's workers make them.

    Attributes:
      protocol: how the service is reached.
      address: where its dispatcher is.
      element_spec: the nest of specs of an element, ``None`` where nobody said.
      registered_cardinality: of the registered dataset.
      description: the registered dataset in words.
      order: of an ordered job; without lanes, elements come as soon as they can.
      consumer: which of the job's consumers reads, of how many; 0 where it has none.
    """

    name = "distribute"

    protocol: str
    address: str
    dataset_id: str
    policy: ShardingPolicy
    job_name: str | None
    element_spec: Any
    registered_cardinality: int
    streams_max: int | None = None
    target_workers: TargetWorkers = TargetWorkers.AUTO
    refresh_ns: int | None = None
    description: str = ""
    order: OrderDef = OrderDef()
    consumer: tuple[int, int] = (0, 0)
    consumers_timeout_ns: int | None = None
    dispatcher_timeout_ns: int | None = None
    delivery: Delivery = Delivery.EXACTLY_ONCE
    trainer_id: str = ""
    data_transfer_protocol: str | None = None
    security: Security | None = None

    def cardinality(self) -> int:
        """TensorFlow's rule: what the workers make together is mostly unknown."""
        if self.consumer[1] and not self.order.lanes:
            return INFINITE
        if self.registered_cardinality == 0:
            return 0
        endless = self.registered_cardinality == INFINITE
        whole = self.policy in (ShardingPolicy.OFF, ShardingPolicy.DYNAMIC, ShardingPolicy.DATA)
        return INFINITE if endless and whole else UNKNOWN

    def plans(self) -> tuple[SplitPlan, ...]:
        raise UnimplementedError(
            message="Cannot create split providers for dataset of type DataServiceDataset: it is divided among its own "
            "workers already. Distribute the whole pipeline once, after its last operator."
        )

    def iterator(self, context: Context) -> OperatorIterator:
        if context.numbered:
            return _ServiceIterator(self, context.turn, from_start=True)
        return _ServiceIterator(self, self.next_epoch())

    @property
    def may_be_taken_by_others(self) -> bool:
        return self.job_name is not None and self.registered_cardinality != 0

    @property
    def may_read_ahead(self) -> bool:
        # What is taken counts as read: should this reader die, nobody reads it again.
        return False

    @property
    def fetches_ahead(self) -> bool:
        return True

    def told_elsewhere(self) -> tuple[str, ...] | None:
        return tuple(self.description.splitlines())

    def next_epoch(self) -> int:
        """The number of the next pass."""
        return next(_epochs.setdefault(self, count()))

    def open(
        self, epoch: int, places: tuple[LanePlace, ...] | None = None, made_up: int = 0, suffix: str = ""
    ) -> Reader:
        """A reader of a pass, which goes on at ``places`` where they are given.

        With a ``suffix`` to the job's name it reads the same elements once more.
        """
        index, consumers = self.consumer
        self._check_placement()
        request = ReadRequest(
            self.dataset_id,
            self.policy,
            self.job_name if self.job_name is None else self.job_name + suffix,
            epoch,
            self.target_workers,
            replace(self.order, remainder=Remainder.KEEP) if suffix else self.order,
            index,
            (consumers if consumers > 1 else None) if self.order.lanes else (consumers or None),
            places,
            made_up,
            self.delivery,
            coordinated=consumers > 0 and not self.order.lanes,
            trainer_id=self.trainer_id,
        )
        settings = ClientSettings(self.address, streams_max=self.streams_max)
        if self.refresh_ns is not None:
            settings = replace(settings, refresh_ns=self.refresh_ns)
        if self.dispatcher_timeout_ns is not None:
            settings = replace(settings, dispatcher_timeout_ns=self.dispatcher_timeout_ns)
        if self.consumers_timeout_ns is not None:
            settings = replace(settings, consumers_timeout_ns=self.consumers_timeout_ns)
        return backend(self.protocol, self.security).open_reader(request, settings, self.data_transfer_protocol)

    def _check_placement(self) -> None:
        """Refuses to wait for workers that cannot come.

        Raises:
          InvalidArgumentError: if only workers of this process are to be read from, and that cannot be.
        """
        if self.target_workers is not TargetWorkers.LOCAL:
            return
        if self.consumer[1] and not self.order.lanes:
            raise InvalidArgumentError(
                message='Coordinated reads require non-local workers, but `target_workers` is "LOCAL"; all consumers '
                "read from the same worker in each round."
            )
        if not backend(self.protocol, self.security).nearby():
            wanted = (
                f"Static sharding policy <{self.policy.name}> requires" if self.policy.static else "Local reads require"
            )
            raise InvalidArgumentError(
                message=f"{wanted} local tf.data workers, but no local worker is found. You need to run local tf.data "
                'service workers in your training workers, or read with `target_workers="ANY"`.'
            )

    @property
    def spec_is_given(self) -> bool:
        return self.element_spec is not None

    def _make_spec(self) -> Any:
        if self.element_spec is None:
            raise ValueError(f"the element spec of dataset {self.dataset_id} is not known; pass `element_spec`")
        return self.element_spec

    def _make_examples(self) -> tuple[Any, ...]:
        return zero_examples(self.spec())


class _ServiceIterator(RowsIterator):
    """Takes elements from batches, and reports exactly what it has given.

    The reader of an ordered job is opened for the first element, since a state may be loaded before.

    Args:
      dataset: what is read.
      epoch: which pass over it.
      from_start: whether an ordered job is read from the beginning of the pass, whoever has read of it.
      once_more: whether the same elements are read that another iterator of this pass reads.
    """

    def __init__(self, dataset: ServiceDataset, epoch: int, from_start: bool = False, once_more: bool = False) -> None:
        self._dataset = dataset
        self._epoch = epoch
        self._places: dict[int, LanePlace] = {}
        self._loaded: tuple[LanePlace, ...] | None = () if from_start else None
        self._made_up = 0
        self._again: _ServiceIterator | None = None
        self._rows: Iterator[Any] = iter(())
        self._behind: Iterator[Any] = iter(())
        self._behind_count = 0
        self._rows_max = ROWS_MAX
        self._batch: Batch | None = None
        self._given: tuple[int, int] | None = None
        """The stream of the elements that are given, and the ordinal behind the last of them."""
        self._columns: Columns | None = None
        self._stop = 0
        self._taken: dict[int, int] = {}
        self._over: EndOfData | None = None
        self._reader: Reader | None = None
        if once_more:
            self._read(dataset.open(epoch, (), suffix=f"/wrap-{dataset.consumer[0]}"))
        elif not dataset.order.lanes:
            self._read(dataset.open(self._epoch))

    @property
    def _left(self) -> int:
        """How many elements of the batch were not given; in another thread at least as many.

        That is why rows are there before they count as no longer behind.
        """
        return self._behind_count + length_hint(self._rows)

    def next(self) -> Any:
        return next(self.rows())

    def rows(self) -> Iterator[Any]:
        while not length_hint(self._rows):
            rows = list(islice(self._behind, self._rows_max))
            if rows:
                self._rows = iter(rows)
                self._behind_count -= len(rows)
            else:
                self._advance()
        return self._rows

    def block(self, limit: int) -> Columns | None:
        if self._left == 0:
            self._advance()
        columns = self._columns
        if columns is None:
            return None
        start = self._stop - self._left
        stop = min(self._stop, start + limit)
        self._hold(columns.elements(stop), self._stop - stop)
        if start == 0 and stop == columns.count:
            return columns
        return Columns(columns.structure, tuple(leaf[start:stop] for leaf in columns.leaves), stop - start)

    def _hold(self, elements: Iterator[Any], count: int, rows_max: int = ROWS_MAX) -> None:
        """Gives ``count`` elements next, of which so many may be made before they are asked for."""
        self._behind, self._behind_count = islice(elements, count), count
        self._rows = iter(())
        self._rows_max = rows_max

    def save(self) -> Any:
        order = self._dataset.order
        if not order.lanes:
            raise FailedPreconditionError(
                message="Only a service's dataset in a fixed order can be resumed: distribute it with "
                "deterministic=True."
            )
        self._note_place()
        index, consumers = self._dataset.consumer
        places = trim(sorted(self._places.values(), key=lambda place: place.index))
        made_up = self._made_up - (self._left if self._batch is None else 0)
        return ServicePosition(self._epoch, order.lanes, order.block, order.seed, index, consumers, places, made_up)

    def load(self, state: Any) -> None:
        if not isinstance(state, ServicePosition):
            raise InvalidArgumentError(message="The state is not of a service's dataset.")
        state.fits(self._dataset.order, *self._dataset.consumer)
        index, consumers = self._dataset.consumer
        self._loaded = tuple(place for place in state.places if place.index % consumers == index)
        self._places = {place.index: place for place in self._loaded}
        self._epoch = state.epoch
        self._made_up = state.made_up
        _epochs[self._dataset] = count(state.epoch + 1)

    def close(self, *, wait: bool = True) -> None:
        """Gives back what was not taken; the iterator is over."""
        self._over = self._over or EndOfData()
        if self._reader is not None:
            self._reader.close(self._progress(), wait=wait)
        if self._again is not None:
            self._again.close(wait=wait)

    def __del__(self) -> None:
        if hasattr(self, "_over"):
            self.close(wait=False)

    def _advance(self) -> None:
        """Fetches the next batch; what came before it is all taken.

        Raises:
          StopIteration: at the end.
          OpError: the error that stands in the place of the next element, or that ended it all.
        """
        if self._over is not None:
            raise StopIteration
        reader = self._reader or self._read(self._dataset.open(self._epoch, self._loaded, self._made_up))
        got = reader.next_batch(self._progress())
        self._note_place()
        if isinstance(got, EndOfData):
            self.close(wait=False)
            self._over = got
            if got.warning:
                _log.warning("%s", got.warning)
            raise StopIteration
        if isinstance(got, MakeUp):
            self._batch = None
            self._made_up += got.count
            self._columns = None
            self._hold(self._made_up_elements(got.first), got.count, rows_max=1)
            return
        self._batch = got
        if got.frame.error is not None:
            self._columns = None
            self._hold(iter(()), 0)
            raise to_exception(got.frame.error.prefixed(f"Failed to get element from worker {got.worker}"))
        self._columns = decode_body(got.frame.body, got.encoding, self._structure(got))
        self._stop = self._columns.count if got.stop is None else got.stop
        self._hold(self._columns.elements(got.skip), self._stop - got.skip)
        self._given = got.stream, self._end_of_batch()

    def _read(self, reader: Reader) -> Reader:
        """Reads from ``reader``, which may look how far that has come without keeping the iterator alive."""
        self._reader = reader
        reader.look(partial(_look, WeakMethod(self._seen)))
        return reader

    def _seen(self) -> tuple[Taken, ...]:
        """How much of the batch was given, and never more; asked by other threads while it is."""
        given = self._given  # it is written when what is left of it can be told
        return () if given is None else (Taken(given[0], given[1] - self._left),)

    def _end_of_batch(self) -> int:
        """The ordinal behind the last element of the batch."""
        assert self._batch is not None
        frame, stop = self._batch.frame, self._batch.stop
        return frame.end if stop is None else frame.start + stop

    def _made_up_elements(self, done: int) -> Iterator[Any]:
        """Elements beyond the consumer's own, of which it was given some already."""
        if self._dataset.order.remainder is Remainder.PAD:
            return repeat(zero_element(self._dataset.spec()))
        if self._again is None:
            self._again = _ServiceIterator(self._dataset, self._epoch, once_more=True)
            for _ in range(done):
                self._again.next()
        return iter(self._again.next, object())

    def _note_place(self) -> None:
        """Where the lane of the last batch would go on now."""
        if self._batch is None:
            return
        place = but(self._batch.place, ordinal=self._end_of_batch() - self._left)
        known = self._places.get(place.index)
        if known is not None and known.checkpoint.ordinal > place.checkpoint.ordinal:
            # What the lane was resumed from lies further on than all that its worker has said since.
            place = but(place, checkpoint=known.checkpoint)
        self._places[place.index] = place

    def _progress(self) -> tuple[Taken, ...]:
        if self._batch is not None:
            self._taken[self._batch.stream] = self._end_of_batch() - self._left
        return tuple(Taken(stream, ordinal) for stream, ordinal in self._taken.items())

    def _structure(self, batch: Batch) -> Any:
        spec = self._dataset.element_spec
        return 0 if spec is None else nest.map_structure(lambda _: 0, spec)


def _look(seen: WeakMethod[Callable[[], tuple[Taken, ...]]]) -> tuple[Taken, ...]:
    look = seen()
    return () if look is None else look()
