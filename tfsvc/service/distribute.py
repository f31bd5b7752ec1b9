"""``distribute``, ``register_dataset`` and ``from_dataset_id``: from a dataset to the service and back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from tfsvc.data.dataset import Dataset
from tfsvc.data.describing import describe
from tfsvc.data.trying import try_functions
from tfsvc.errors import NotFoundError, UnimplementedError
from tfsvc.execution.blocks import block_of
from tfsvc.execution.program import define
from tfsvc.protocol import messages as m
from tfsvc.protocol.ids import MILLISECOND, SECOND
from tfsvc.service.backend import backend
from tfsvc.service.config import CrossTrainerCache, check_address, split_target
from tfsvc.service.reading import ServiceDataset
from tfsvc.wire.specs_codec import decode_spec, encode_spec

DEFAULT_LANES = 16
"""Lanes of a deterministic job."""

REGISTER_PATIENCE_NS = 3600 * SECOND
"""How long registration waits for a dispatcher, as TensorFlow does."""

_COMPRESSION = {
    "AUTO": m.Compression.SNAPPY,
    "SNAPPY": m.Compression.FORCED_SNAPPY,
    None: m.Compression.OFF,
}


def distribute(
    processing_mode: str | m.ShardingPolicy,
    service: str | tuple[str, str],
    job_name: str | None = None,
    consumer_index: int | None = None,
    num_consumers: int | None = None,
    max_outstanding_requests: int | None = None,
    data_transfer_protocol: str | None = None,
    compression: str | None = "AUTO",
    cross_trainer_cache: Any = None,
    target_workers: str = "AUTO",
    *,
    task_refresh_interval_hint_ms: int | None = None,
    deterministic: bool | None = None,
    seed: int = 0,
    lanes: int = DEFAULT_LANES,
    remainder: str | None = None,
    consumer_timeout_ms: int | None = None,
    delivery: str = "exactly_once",
) -> Callable[[Dataset], Dataset]:
    """Moves what comes before it to the workers of a data service; for ``Dataset.apply``.

    Args:
      processing_mode: a :class:`ShardingPolicy`; or ``"parallel_epochs"`` for ``OFF`` (every worker gives
        the whole dataset), ``"distributed_epoch"`` for ``DYNAMIC`` (all together give it exactly once). ``FILE``,
        ``DATA``, ``FILE_OR_DATA`` and ``HINT`` divide it by the workers' places in
        ``DispatcherConfig.worker_addresses``: exactly once too, as soon as a worker is back in each place.
      service: ``"protocol://host:port"`` of the dispatcher, or the pair of protocol and address.
      job_name: readers with the same name share the elements; each reads a job of its own when not given.
      max_outstanding_requests: how many workers are asked at once; all when not given.
      data_transfer_protocol: ``"grpc"``: elements always travel over the network. Else workers on the reader's host
        hand over large ones through shared memory.
      compression: for TensorFlow's readers: ``"AUTO"``, ``"SNAPPY"`` or ``None``. Our own are sent plain arrays.
      target_workers: ``"AUTO"`` or ``"ANY"``: all workers.
      cross_trainer_cache: a :class:`CrossTrainerCache`, so that several trainers of one job read the same elements,
        which workers make once and keep for a while.
      task_refresh_interval_hint_ms: how often the dispatcher is asked for news; 1 s when not given.
      deterministic: whether elements come in an order that is a function of the dataset, ``seed`` and the epoch alone,
        for any number of workers and through any crash; then ``iterator.state_dict()`` resumes it. Needs ``DYNAMIC``.
        Else elements come as soon as they can.
      seed: of the luck of a deterministic job, such as shuffles without a seed of their own.
      lanes: how many parts a deterministic job's input is dealt to beforehand; each runs the whole pipeline for itself,
        so ``batch`` may leave a short batch in each, and more workers than lanes are of no use.
      remainder: with ``num_consumers``, whether all consumers get the same number of elements: ``"drop"`` or
        ``"stop_together"``: as many as the one with the fewest has; ``"pad"``: as many as the one with the most has,
        made up with zeros; ``"wrap"``: the same, made up with a consumer's own elements from its first on; ``None``:
        each gets what it has.
      consumer_timeout_ms: how long one consumer waits for others, where all get the same number; 5 min when not given.
        Then ``DeadlineExceededError`` names those that are missing.
      delivery: what becomes of a lost worker's elements under ``DYNAMIC``: ``"exactly_once"``; ``"at_most_once"``: what
        was not taken yet of its splits is given up, as in TensorFlow; ``"at_least_once"``: what came since its last
        checkpoint comes again.

    With ``num_consumers`` alone, reads are coordinated: in each step all consumers get an element of the same worker,
    consecutive ones of its dataset, which may be of the same size; all must read at the same pace.

    With ``deterministic`` and ``num_consumers``, each of that many readers of ``job_name`` reads the lanes that
    ``consumer_index`` gives it, and no other reader can take its place.

    Returns:
      A function from a dataset to the dataset that is read from the service.

    Raises:
      ValueError: for arguments that TensorFlow refuses as well.
      tf.errors.InvalidArgumentError: at ``apply``, if the dataset holds something that cannot be shipped.
      tf.errors.NotFoundError: at ``apply``, for an unknown protocol.
    """
    _check_job_name(job_name)
    policy = _policy(processing_mode)
    _check_compression(compression)
    _check_count("max_outstanding_requests", max_outstanding_requests)
    _check_count("task_refresh_interval_hint_ms", task_refresh_interval_hint_ms)
    order = _order(deterministic, policy, seed, lanes, remainder)
    _refuse_missing(num_consumers, target_workers, job_name)
    consumer = _consumer(order, consumer_index, num_consumers)
    trainer_id = _trainer(cross_trainer_cache, order, num_consumers)
    promise = _delivery(delivery, policy, order)
    _check_count("consumer_timeout_ms", consumer_timeout_ms)
    consumers_timeout_ns = None if consumer_timeout_ms is None else consumer_timeout_ms * MILLISECOND
    protocol, address = _parse_service(service)
    refresh_ms = _positive(task_refresh_interval_hint_ms)

    def apply(dataset: Dataset) -> Dataset:
        dataset_id = register_dataset((protocol, address), dataset, compression)
        return Dataset(
            ServiceDataset(
                protocol,
                address,
                dataset_id,
                policy,
                job_name,
                _known_spec(dataset),
                int(dataset.cardinality()),
                _positive(max_outstanding_requests),
                _target(target_workers),
                None if refresh_ms is None else refresh_ms * MILLISECOND,
                "\n".join(describe(dataset.operator)),
                replace(order, block=block_of(dataset.operator, _known_spec(dataset))) if order.lanes else order,
                consumer,
                consumers_timeout_ns,
                promise,
                trainer_id,
                data_transfer_protocol,
            )
        )

    return apply


def register_dataset(
    service: str | tuple[str, str],
    dataset: Dataset,
    compression: str | None = "AUTO",
    dataset_id: str | None = None,
) -> str:
    """Hands ``dataset`` to the service, to be read with :func:`from_dataset_id` by anybody.

    Args:
      service: as in :func:`distribute`.
      compression: as in :func:`distribute`.
      dataset_id: the id to register under; the dispatcher chooses one when not given.

    Returns:
      The dataset's id.

    Raises:
      tf.errors.InvalidArgumentError: if the dataset holds something that cannot be shipped (the message names
        the way to it), or another dataset has that id.
      TypeError, ValueError: if a function does not give what its operator needs, as a predicate that gives no ``bool``.
      tf.errors.UnavailableError: if there is no dispatcher within an hour.
    """
    _check_compression(compression)
    if not isinstance(dataset, Dataset):
        raise TypeError(f"`dataset` must be a `tf.data.Dataset`. Got {type(dataset)}.")
    if not isinstance(dataset_id, str | None):
        raise ValueError(f"`dataset_id` must be a string, but it was of type {type(dataset_id)}: {dataset_id!r}")
    protocol, address = _parse_service(service)
    spec = _known_spec(dataset)
    try_functions(dataset.operator, deep=True)
    request = m.GetOrRegisterDatasetRequest(
        define(dataset.operator),
        m.DataServiceMetadata(
            encode_spec(spec) if spec is not None else None,
            _COMPRESSION[compression],
            int(dataset.cardinality()),
            "\n".join(describe(dataset.operator)),
            block_of(dataset.operator, spec),
        ),
        dataset_id,
    )
    response = backend(protocol).ask(address, request, REGISTER_PATIENCE_NS)
    assert isinstance(response, m.GetOrRegisterDatasetResponse)
    return response.dataset_id


def from_dataset_id(
    processing_mode: str | m.ShardingPolicy,
    service: str | tuple[str, str],
    dataset_id: str | bytes | int,
    element_spec: Any = None,
    job_name: str | None = None,
    consumer_index: int | None = None,
    num_consumers: int | None = None,
    max_outstanding_requests: int | None = None,
    data_transfer_protocol: str | None = None,
    cross_trainer_cache: Any = None,
    target_workers: str = "AUTO",
    *,
    deterministic: bool | None = None,
    seed: int = 0,
    lanes: int = DEFAULT_LANES,
    remainder: str | None = None,
    consumer_timeout_ms: int | None = None,
    delivery: str = "exactly_once",
) -> Dataset:
    """A registered dataset, read from the service. The arguments are those of :func:`distribute`.

    Args:
      dataset_id: as :func:`register_dataset` gave it.
      element_spec: the nest of specs of an element; asked from the dispatcher when not given.

    Raises:
      ValueError: for arguments that TensorFlow refuses as well.
      tf.errors.NotFoundError: if the dispatcher has no such dataset.
    """
    _check_job_name(job_name)
    policy = _policy(processing_mode)
    _check_count("max_outstanding_requests", max_outstanding_requests)
    order = _order(deterministic, policy, seed, lanes, remainder)
    _refuse_missing(num_consumers, target_workers, job_name)
    consumer = _consumer(order, consumer_index, num_consumers)
    trainer_id = _trainer(cross_trainer_cache, order, num_consumers)
    promise = _delivery(delivery, policy, order)
    _check_count("consumer_timeout_ms", consumer_timeout_ms)
    consumers_timeout_ns = None if consumer_timeout_ms is None else consumer_timeout_ms * MILLISECOND
    protocol, address = _parse_service(service)
    name = dataset_id.decode() if isinstance(dataset_id, bytes) else str(dataset_id)
    metadata = _metadata(protocol, address, name)
    if not element_spec and metadata.element_spec:
        element_spec = decode_spec(metadata.element_spec)
    return Dataset(
        ServiceDataset(
            protocol,
            address,
            name,
            policy,
            None if job_name is None else f"dataset_id=/{name}/{job_name}",
            element_spec,
            metadata.cardinality,
            _positive(max_outstanding_requests),
            _target(target_workers),
            description=metadata.description,
            order=replace(order, block=max(1, metadata.block)) if order.lanes else order,
            consumer=consumer,
            consumers_timeout_ns=consumers_timeout_ns,
            delivery=promise,
            trainer_id=trainer_id,
            data_transfer_protocol=data_transfer_protocol,
        )
    )


def _metadata(protocol: str, address: str, dataset_id: str) -> m.DataServiceMetadata:
    try:
        response = backend(protocol).ask(address, m.GetDataServiceMetadataRequest(dataset_id), REGISTER_PATIENCE_NS)
    except NotFoundError as error:
        raise NotFoundError(
            message=f"Dataset id {dataset_id} not found. It must be registered with `register_dataset` before calling "
            "`from_dataset_id`."
        ) from error
    assert isinstance(response, m.GetDataServiceMetadataResponse)
    return response.metadata


def _known_spec(dataset: Dataset) -> Any:
    """The element spec, or ``None`` where a function cannot be tried in this process."""
    try:
        return dataset.element_spec
    except Exception:
        # Functions may need what only workers have; elements say themselves what they are.
        return None


def _check_compression(compression: Any) -> None:
    if compression not in tuple(_COMPRESSION):
        raise ValueError(f"Invalid `compression` argument: {compression!r}. Must be one of 'AUTO', 'SNAPPY' or None.")


def _check_count(name: str, value: Any) -> None:
    if not isinstance(value, int | None):
        raise ValueError(f"`{name}` must be a whole number, but it was of type {type(value)}: {value!r}")


def _positive(value: int | None) -> int | None:
    """As in TensorFlow, neither 0 nor -1 is a limit: both leave it to the reader."""
    return value if value is not None and value > 0 else None


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


def _parse_service(service: Any) -> tuple[str, str]:
    if isinstance(service, tuple) and len(service) == 2 and isinstance(service[0], str):
        return service[0], check_address(service[1])
    if not isinstance(service, str):
        raise ValueError(f"`service` must be a string, but `service` was of type {type(service)}: {service!r}")
    if not service:
        raise ValueError("`service` must not be empty")
    return split_target(service)


def _target(target_workers: str) -> m.TargetWorkers:
    try:
        return m.TargetWorkers[target_workers.upper() or "AUTO"]
    except (KeyError, AttributeError):
        raise ValueError(f"Unrecognized target workers {target_workers!r}: use 'AUTO', 'ANY' or 'LOCAL'.") from None


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


def _refuse_missing(num_consumers: int | None, target_workers: str, job_name: str | None) -> None:
    """Says clearly what this version lacks, rather than leaving an argument without effect."""
    if num_consumers is not None and job_name is None:
        raise ValueError("`job_name` must be set when setting `num_consumers`")
    if _target(target_workers) is m.TargetWorkers.LOCAL:
        raise UnimplementedError(message="target_workers='LOCAL' is not offered yet; 'AUTO' reads from all workers")
