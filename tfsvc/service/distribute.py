"""``distribute``, ``register_dataset`` and ``from_dataset_id``: from a dataset to the service and back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from tfsvc import nest
from tfsvc.data.dataset import Dataset
from tfsvc.data.describing import describe
from tfsvc.data.trying import try_functions
from tfsvc.errors import InvalidArgumentError, NotFoundError
from tfsvc.execution.blocks import block_of
from tfsvc.execution.program import define
from tfsvc.protocol import messages as m
from tfsvc.protocol.ids import MILLISECOND, SECOND
from tfsvc.protocol.placement import target_of
from tfsvc.service.arguments import DEFAULT_LANES, Wishes, check_count, check_wishes, parse_service, positive
from tfsvc.service.backend import Service
from tfsvc.service.kinds import is_ours
from tfsvc.service.security import Security
from tfsvc.wire.carriers import carry
from tfsvc.wire.specs_codec import decode_spec, encode_spec

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
    dispatcher_timeout_ms: int | None = None,
    delivery: str = "exactly_once",
    security: Security | None = None,
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
      data_transfer_protocol: how elements travel. ``"grpc"``: over the network. ``"tfsvc"``: workers on the reader's
        host hand over large ones through shared memory. ``"local"``, and when not given: workers of the reader's own
        process are called directly too.
      compression: for TensorFlow's readers: ``"AUTO"``, ``"SNAPPY"`` or ``None``. Our own are sent plain arrays.
      target_workers: ``"AUTO"``: all workers but those with the tag ``"COLOCATED"`` in other processes; ``"ANY"``: all;
        ``"LOCAL"``: those of the reader's own process. Where a reader passes workers by, what OFF and static sharding
        give there is not for it.
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
      dispatcher_timeout_ms: how long a dispatcher that does not answer is waited for; 1 h when not given. Then a reader
        that has all that its workers had of a dataset which each gives whole has its end, with a warning, and any other
        ``UnavailableError``.
      consumer_timeout_ms: how long one consumer waits for others, where all get the same number; 5 min when not given.
        Then ``DeadlineExceededError`` names those that are missing.
      delivery: what becomes of a lost worker's elements under ``DYNAMIC``: ``"exactly_once"``; ``"at_most_once"``: what
        was not taken yet of its splits is given up, as in TensorFlow; ``"at_least_once"``: what came since its last
        checkpoint comes again.
      security: how the reader shows who it is, and whom it trusts; as the environment says when not given.

    With ``num_consumers`` alone, reads are coordinated: in each step all consumers get an element of the same worker,
    consecutive ones of its dataset, which may be of the same size; all must read at the same pace.

    With ``deterministic`` and ``num_consumers``, each of that many readers of ``job_name`` reads the lanes that
    ``consumer_index`` gives it, and no other reader can take its place.

    Returns:
      A function from a dataset to the dataset that is read from the service.

    Raises:
      ValueError: for arguments that TensorFlow refuses as well.
      tf.errors.InvalidArgumentError: at ``apply``, if the dataset holds something that cannot be shipped.
      tf.errors.NotFoundError: for an unknown ``data_transfer_protocol``; at ``apply``, for an unknown protocol.
    """
    wishes = check_wishes(
        processing_mode,
        job_name,
        consumer_index,
        num_consumers,
        max_outstanding_requests,
        cross_trainer_cache,
        target_workers,
        data_transfer_protocol,
        deterministic,
        seed,
        lanes,
        remainder,
        consumer_timeout_ms,
        dispatcher_timeout_ms,
        delivery,
    )
    _check_compression(compression)
    check_count("task_refresh_interval_hint_ms", task_refresh_interval_hint_ms)
    refresh_ms = positive(task_refresh_interval_hint_ms)
    where = Service(*parse_service(service), security)

    def apply(dataset: Dataset) -> Dataset:
        refresh_ns = None if refresh_ms is None else refresh_ms * MILLISECOND
        dataset_id, spec, metadata = _register(where, dataset, compression)
        return Dataset(_placed(wishes, where).dataset(where, dataset_id, spec, metadata, refresh_ns))

    return apply


def register_dataset(
    service: str | tuple[str, str],
    dataset: Dataset,
    compression: str | None = "AUTO",
    dataset_id: str | None = None,
    *,
    security: Security | None = None,
) -> str:
    """Hands ``dataset`` to the service, to be read with :func:`from_dataset_id` by anybody.

    Args:
      service: as in :func:`distribute`.
      compression: as in :func:`distribute`.
      dataset_id: the id to register under; the dispatcher chooses one when not given.
      security: as in :func:`distribute`.

    Returns:
      The dataset's id.

    Raises:
      tf.errors.InvalidArgumentError: if the dataset holds something that cannot be shipped (the message names
        the way to it), or another dataset has that id.
      TypeError, ValueError: if a function does not give what its operator needs, as a predicate that gives no ``bool``.
      tf.errors.UnavailableError: if there is no dispatcher within an hour.
    """
    _check_compression(compression)
    if not isinstance(dataset_id, str | None):
        raise ValueError(f"`dataset_id` must be a string, but it was of type {type(dataset_id)}: {dataset_id!r}")
    return _register(Service(*parse_service(service), security), dataset, compression, dataset_id)[0]


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
    dispatcher_timeout_ms: int | None = None,
    delivery: str = "exactly_once",
    security: Security | None = None,
) -> Dataset:
    """A registered dataset, read from the service. The arguments are those of :func:`distribute`.

    Args:
      dataset_id: as :func:`register_dataset` gave it.
      element_spec: the nest of specs of an element; asked from the dispatcher when not given.

    Raises:
      ValueError: for arguments that TensorFlow refuses as well.
      tf.errors.InvalidArgumentError: if the dataset was registered with another ``element_spec``; TensorFlow fails
        at the first element, or gives elements of another kind.
      tf.errors.NotFoundError: if the dispatcher has no such dataset.
    """
    name = dataset_id.decode() if isinstance(dataset_id, bytes) else str(dataset_id)
    wishes = check_wishes(
        processing_mode,
        job_name,
        consumer_index,
        num_consumers,
        max_outstanding_requests,
        cross_trainer_cache,
        target_workers,
        data_transfer_protocol,
        deterministic,
        seed,
        lanes,
        remainder,
        consumer_timeout_ms,
        dispatcher_timeout_ms,
        delivery,
    )
    if job_name is not None:
        wishes = replace(wishes, job_name=f"dataset_id=/{name}/{job_name}")
    where = Service(*parse_service(service), security)
    metadata = _metadata(where, name)
    element_spec = _agreed_spec(element_spec, metadata, name)
    return Dataset(_placed(wishes, where).dataset(where, name, element_spec, metadata))


def _agreed_spec(given: Any, metadata: m.DataServiceMetadata, dataset_id: str) -> Any:
    """What the reader says of elements, or else what the dispatcher knows of them."""
    if not metadata.element_spec:
        return given
    registered = decode_spec(metadata.element_spec)
    if not given:
        return registered
    try:
        nest.assert_same_structure(registered, given)
        fits = all(
            type(one) is type(other) and one.is_compatible_with(other)
            for one, other in zip(nest.flatten(registered), nest.flatten(given), strict=True)
        )
    except (TypeError, ValueError):
        fits = False
    if not fits:
        raise InvalidArgumentError(
            message=f"`element_spec` is {given}, but dataset {dataset_id} was registered with {registered}. Leave "
            "`element_spec` out: the dispatcher knows it."
        )
    return given


def _placed(wishes: Wishes, where: Service) -> Wishes:
    """The same wishes with the target that is meant where the service's workers live."""
    if not wishes.policy.static or wishes.target_workers is not m.TargetWorkers.AUTO:
        return wishes
    answer = where.ask(m.GetDataServiceConfigRequest(), REGISTER_PATIENCE_NS)
    assert isinstance(answer, m.GetDataServiceConfigResponse)
    target = target_of(wishes.target_workers, wishes.policy, answer.config.deployment_mode)
    return replace(wishes, target_workers=target)


def _register(
    where: Service, dataset: Dataset, compression: str | None, dataset_id: str | None = None
) -> tuple[str, Any, m.DataServiceMetadata]:
    """Hands the dataset to the service: its id there, its element spec if known, and what readers must know of it."""
    if not isinstance(dataset, Dataset):
        raise TypeError(f"`dataset` must be a `tf.data.Dataset`. Got {type(dataset)}.")
    try_functions(dataset.operator, deep=True)
    spec = _known_spec(dataset)
    metadata = _describe(dataset, spec, compression)
    definition = define(dataset.operator)
    if not is_ours(where):
        definition = carry(definition, metadata.compression is not m.Compression.OFF)
    request = m.GetOrRegisterDatasetRequest(definition, metadata, dataset_id)
    response = where.ask(request, REGISTER_PATIENCE_NS)
    assert isinstance(response, m.GetOrRegisterDatasetResponse)
    return response.dataset_id, spec, metadata


def _describe(dataset: Dataset, spec: Any, compression: str | None) -> m.DataServiceMetadata:
    """What a reader must know of a dataset, here or from the dispatcher."""
    return m.DataServiceMetadata(
        encode_spec(spec) if spec is not None else None,
        _COMPRESSION[compression],
        int(dataset.cardinality()),
        "\n".join(describe(dataset.operator)),
        block_of(dataset.operator, spec),
    )


def _metadata(where: Service, dataset_id: str) -> m.DataServiceMetadata:
    try:
        response = where.ask(m.GetDataServiceMetadataRequest(dataset_id), REGISTER_PATIENCE_NS)
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
