"""What a reader asks of the service, checked: the arguments that ``distribute`` and ``from_dataset_id`` share."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final

from tfsvc.errors import NotFoundError
from tfsvc.protocol import messages as m
from tfsvc.protocol.ids import MILLISECOND
from tfsvc.service.backend import Service
from tfsvc.service.config import CrossTrainerCache, check_address, split_target
from tfsvc.service.reading import ServiceDataset

DEFAULT_LANES: Final = 16
"""Lanes of a deterministic job."""
TRANSFERS: Final = ("grpc", "tfsvc", "local")
"""The ways from workers to readers that can be asked for: the network alone; that, and memory shared between processes
of one host; both, and direct calls within a process. The last is also what one has who does not ask."""
_TARGETS: Final = {
    "": m.TargetWorkers.AUTO,
    "AUTO": m.TargetWorkers.AUTO,
    "ANY": m.TargetWorkers.ANY,
    "LOCAL": m.TargetWorkers.LOCAL,
}


@dataclass(frozen=True)
class Wishes:
    """How a dataset is to be read.

    Attributes:
      consumer: which of the job's consumers reads, of how many; 0 where each reader is its own.
      streams_max: how many workers are asked at once, ``None`` for all.
    """

    policy: m.ShardingPolicy
    job_name: str | None
    order: m.OrderDef
    consumer: tuple[int, int]
    consumers_timeout_ns: int | None
    dispatcher_timeout_ns: int | None
    delivery: m.Delivery
    trainer_id: str
    streams_max: int | None
    target_workers: m.TargetWorkers
    data_transfer_protocol: str | None

    def dataset(
        self,
        service: Service,
        dataset_id: str,
        element_spec: Any,
        metadata: m.DataServiceMetadata,
        refresh_ns: int | None = None,
    ) -> ServiceDataset:
        """The dataset of that id as it is read from the service."""
        block = max(1, metadata.block)
        return ServiceDataset(
            service.protocol,
            service.address,
            dataset_id,
            self.policy,
            self.job_name,
            element_spec,
            metadata.cardinality,
            self.streams_max,
            self.target_workers,
            refresh_ns,
            metadata.description,
            replace(self.order, block=block) if self.order.lanes else self.order,
            self.consumer,
            self.consumers_timeout_ns,
            self.dispatcher_timeout_ns,
            self.delivery,
            self.trainer_id,
            self.data_transfer_protocol,
            service.security,
        )


def check_wishes(
    processing_mode: Any,
    job_name: Any,
    consumer_index: Any,
    num_consumers: Any,
    max_outstanding_requests: Any,
    cross_trainer_cache: Any,
    target_workers: Any,
    data_transfer_protocol: str | None,
    deterministic: Any,
    seed: Any,
    lanes: Any,
    remainder: Any,
    consumer_timeout_ms: Any,
    dispatcher_timeout_ms: Any,
    delivery: Any,
) -> Wishes:
    """The arguments of ``distribute`` as one value.

    Raises:
      ValueError: for one that cannot be, or two that do not go together.
      NotFoundError: for a way from workers to readers that there is not.
    """
    _check_job_name(job_name)
    policy = _policy(processing_mode)
    check_count("max_outstanding_requests", max_outstanding_requests)
    check_count("consumer_timeout_ms", consumer_timeout_ms)
    check_count("dispatcher_timeout_ms", dispatcher_timeout_ms)
    if num_consumers is not None and job_name is None:
        raise ValueError("`job_name` must be set when setting `num_consumers`")
    order = _order(deterministic, policy, seed, lanes, remainder)
    return Wishes(
        policy,
        job_name,
        order,
        _consumer(order, consumer_index, num_consumers),
        None if consumer_timeout_ms is None else consumer_timeout_ms * MILLISECOND,
        None if dispatcher_timeout_ms is None else dispatcher_timeout_ms * MILLISECOND,
        _delivery(delivery, policy, order),
        _trainer(cross_trainer_cache, order, num_consumers),
        positive(max_outstanding_requests),
        _target(target_workers),
        _transfer(data_transfer_protocol),
    )


def check_count(name: str, value: Any) -> None:
    if not isinstance(value, int | None):
        raise ValueError(f"`{name}` must be a whole number, but it was of type {type(value)}: {value!r}")


def positive(value: int | None) -> int | None:
    """As in TensorFlow, neither 0 nor -1 is a limit: both leave it to the reader."""
    return value if value is not None and value > 0 else None


def parse_service(service: Any) -> tuple[str, str]:
    if isinstance(service, tuple) and len(service) == 2 and isinstance(service[0], str):
        return service[0], check_address(service[1])
    if not isinstance(service, str):
        raise ValueError(f"`service` must be a string, but `service` was of type {type(service)}: {service!r}")
    if not service:
        raise ValueError("`service` must not be empty")
    return split_target(service)


def _check_job_name(job_name: Any) -> None:
    if job_name is None:
        return
    if not isinstance(job_name, str):
        raise ValueError(f"`job_name` must be a string, but `job_name` was of type {type(job_name)}: {job_name!r}")
    if not job_name:
        raise ValueError("`job_name` must not be empty")


def _policy(processing_mode: Any) -> m.ShardingPolicy:
    if isinstance(processing_mode, m.ShardingPolicy):
        policy = processing_mode
    elif processing_mode == "parallel_epochs":
        policy = m.ShardingPolicy.OFF
    elif processing_mode == "distributed_epoch":
        policy = m.ShardingPolicy.DYNAMIC
    else:
        raise ValueError(
            f"tf.data service processing mode must be a `tf.data.experimental.service.ShardingPolicy`, or one of "
            f"'parallel_epochs' or 'distributed_epoch'; got {processing_mode!r}"
        )
    return policy


def _target(target_workers: Any) -> m.TargetWorkers:
    found = _TARGETS.get(target_workers.upper()) if isinstance(target_workers, str) else None
    if found is None:
        raise ValueError(f"Unrecognized target workers {target_workers!r}: use 'AUTO', 'ANY' or 'LOCAL'.")
    return found


def _transfer(data_transfer_protocol: Any) -> str | None:
    if data_transfer_protocol not in (None, "", *TRANSFERS):
        known = ", ".join(repr(name) for name in TRANSFERS)
        raise NotFoundError(
            message=f"Protocol {data_transfer_protocol!r} is not available for the workers of this service; use one of "
            f"{known}, or leave it out."
        )
    return data_transfer_protocol or None


_REMAINDERS = {
    None: m.Remainder.KEEP,
    "drop": m.Remainder.DROP,
    "stop_together": m.Remainder.DROP,
    "pad": m.Remainder.PAD,
    "wrap": m.Remainder.WRAP,
}


def _order(deterministic: Any, policy: m.ShardingPolicy, seed: Any, lanes: Any, remainder: Any) -> m.OrderDef:
    if not isinstance(deterministic, bool | None):
        raise ValueError(f"`deterministic` must be True, False or None; got {deterministic!r}")
    if not isinstance(seed, int) or not 0 <= seed < 2**63:
        raise ValueError(f"`seed` must be a whole number from 0 to 2**63 - 1; got {seed!r}")
    if not isinstance(lanes, int) or lanes < 1:
        raise ValueError(f"`lanes` must be a positive number; got {lanes!r}")
    if remainder not in tuple(_REMAINDERS):
        raise ValueError(f"`remainder` must be 'drop', 'pad', 'wrap', 'stop_together' or None; got {remainder!r}")
    if not deterministic:
        if remainder is not None:
            raise ValueError("`remainder` needs deterministic=True, so that each consumer has elements of its own")
        return m.OrderDef()
    if policy is not m.ShardingPolicy.DYNAMIC:
        raise ValueError(f"deterministic=True needs ShardingPolicy.DYNAMIC, not {policy.name}")
    return m.OrderDef(lanes, seed=seed, remainder=_REMAINDERS[remainder])


def _delivery(delivery: Any, policy: m.ShardingPolicy, order: m.OrderDef) -> m.Delivery:
    try:
        promise = m.Delivery[delivery.upper()]
    except (KeyError, AttributeError):
        raise ValueError(
            f"`delivery` must be 'exactly_once', 'at_most_once' or 'at_least_once'; got {delivery!r}"
        ) from None
    if promise is not m.Delivery.EXACTLY_ONCE and (order.lanes or policy is not m.ShardingPolicy.DYNAMIC):
        raise ValueError(f"delivery={delivery!r} is for ShardingPolicy.DYNAMIC without `deterministic`")
    return promise


def _consumer(order: m.OrderDef, index: int | None, count: int | None) -> tuple[int, int]:
    """Which consumer, of how many; of none where each reader is its own."""
    if index is None and count is None:
        return 0, 1 if order.lanes else 0
    if not isinstance(count, int) or not isinstance(index, int) or not 0 <= index < count:
        raise ValueError(
            "`consumer_index` must be from 0 to `num_consumers` - 1, and both must be given; "
            f"got {index!r} and {count!r}"
        )
    if order.lanes and count > order.lanes:
        raise ValueError(f"`num_consumers` must be at most `lanes`={order.lanes}; got {count}")
    return index, count


def _trainer(cross_trainer_cache: Any, order: m.OrderDef, num_consumers: int | None) -> str:
    if cross_trainer_cache is None:
        return ""
    if not isinstance(cross_trainer_cache, CrossTrainerCache):
        raise ValueError(f"`cross_trainer_cache` must be a CrossTrainerCache; got {cross_trainer_cache!r}")
    if order.lanes or num_consumers is not None:
        raise ValueError(
            "`cross_trainer_cache` shares elements between trainers as they come; it has neither a fixed order nor "
            "rounds"
        )
    return cross_trainer_cache.trainer_id
