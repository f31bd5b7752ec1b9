"""What a trainer or an operator may tell and ask a whole service: to stop, how it is, how many workers would do."""

from __future__ import annotations

from dataclasses import dataclass

from tfsvc.protocol import messages as m
from tfsvc.protocol.ids import SECOND
from tfsvc.protocol.messages.chronicle import GetChronicleResponse
from tfsvc.protocol.messages.description import ROWS_MAX, Description
from tfsvc.service.arguments import parse_service
from tfsvc.service.backend import Service
from tfsvc.service.security import Security

PATIENCE_NS = 60 * SECOND
"""How long a dispatcher is waited for."""
EXTRA_NS = 30 * SECOND
"""How long a service may take to end, beyond what its workers are given."""


def stop_service(service: str | tuple[str, str], grace: float = 0.0, *, security: Security | None = None) -> None:
    """Ends all workers of a service and then its dispatcher, and returns when they have ended.

    No reader may begin any more. The ``join`` of every server returns, and the commands ``tfsvc dispatcher`` and
    ``tfsvc worker`` end with 0. TensorFlow's workers cannot be told; they are left to whoever started them.

    Args:
      service: as in :func:`distribute`.
      grace: for how many seconds the workers go on, if their readers have not had everything. Readers that have not by
        then are given an error.
      security: as in :func:`distribute`.

    Raises:
      tf.errors.OpError: if the dispatcher cannot be reached.

    Example::

        dispatcher = tf.data.experimental.service.DispatchServer()
        tf.data.experimental.service.stop_service(dispatcher.target)
        dispatcher.join()  # True
    """
    grace_ns = int(grace * 1e9)
    Service(*parse_service(service), security).ask(m.StopServiceRequest(grace_ns), grace_ns + EXTRA_NS)


def drain_worker(
    service: str | tuple[str, str],
    worker_address: str,
    grace: float = 300.0,
    timeout: float = 60.0,
    *,
    security: Security | None = None,
) -> None:
    """Has a worker end as soon as nothing is lost by that, as :meth:`WorkerServer.drain` does; returns when it is told.

    The worker hears of it with its next heartbeat, and its process ends by itself: ``join`` returns, and the command
    ``tfsvc worker`` ends with 0. :func:`describe` tells how far it is.

    Args:
      service: as in :func:`distribute`.
      worker_address: the worker's address, as the dispatcher knows it.
      grace: after how many seconds it ends all the same.
      timeout: for how many seconds the dispatcher is waited for.
      security: as in :func:`distribute`.

    Raises:
      tf.errors.NotFoundError: if there is no such worker.
      tf.errors.FailedPreconditionError: if it is TensorFlow's.
      tf.errors.OpError: if the dispatcher cannot be reached.
    """
    request = m.DrainWorkerRequest(worker_address, int(grace * 1e9))
    Service(*parse_service(service), security).ask(request, int(timeout * 1e9))


def describe(
    service: str | tuple[str, str],
    rows_max: int = ROWS_MAX,
    timeout: float = 60.0,
    *,
    security: Security | None = None,
) -> Description:
    """Asks a dispatcher for a picture of its whole cluster: who is there, what is read by whom, and how far it is.

    It changes nothing, and is answered while workers drain and while the service stops. The result is made of numbers
    and words alone, so that ``json.dumps(dataclasses.asdict(...))`` writes it down.

    Args:
      service: as in :func:`distribute`.
      rows_max: of how many of each kind there is a row at the most; ``Description.census`` has their whole numbers.
      timeout: for how many seconds the dispatcher is waited for.
      security: as in :func:`distribute`.

    Raises:
      tf.errors.UnimplementedError: if the dispatcher is TensorFlow's.
      tf.errors.OpError: if it cannot be reached in that time.

    Example::

        dispatcher = tf.data.experimental.service.DispatchServer()
        tf.data.experimental.service.describe(dispatcher.target).census.workers  # 0
    """
    where = Service(*parse_service(service), security)
    answer = where.ask(m.DescribeServiceRequest(rows_max), int(timeout * 1e9))
    assert isinstance(answer, m.DescribeServiceResponse)
    return answer.description


def chronicle(
    service: str | tuple[str, str], after: int = 0, timeout: float = 60.0, *, security: Security | None = None
) -> GetChronicleResponse:
    """Asks a dispatcher what happened lately, and how fast its cluster was: what the dashboard draws.

    Args:
      service: as in :func:`distribute`.
      after: the number of the last happening that is known already; 0 for all that are kept, a thousand at the most.
      timeout: for how many seconds the dispatcher is waited for.
      security: as in :func:`distribute`.

    Raises:
      tf.errors.OpError: if the dispatcher cannot be reached in that time, or is TensorFlow's.

    Example::

        dispatcher = tf.data.experimental.service.DispatchServer()
        tf.data.experimental.service.chronicle(dispatcher.target).happenings  # ()
    """
    answer = Service(*parse_service(service), security).ask(m.GetChronicleRequest(after), int(timeout * 1e9))
    assert isinstance(answer, GetChronicleResponse)
    return answer


Chronicle = GetChronicleResponse
"""What :func:`chronicle` gives."""


@dataclass(frozen=True)
class Scaling:
    """How many workers a service has, and how many would do.

    Attributes:
      workers: those that are there, and stay.
      recommended: enough that no reader waits, for the iteration that asks for the most; at most four times as many as
        there are, so that each step can be taken back. ``None`` until a reader and a worker have told their speed.
      processing_time_ns: how long a worker takes for an element, by job.
      target_processing_time_ns: between which two elements a reader would never wait, by job.
    """

    workers: int
    recommended: int | None
    processing_time_ns: dict[str, float]
    target_processing_time_ns: dict[str, float]


def recommended_workers(service: str | tuple[str, str], *, security: Security | None = None) -> Scaling:
    """Asks how many workers would keep the readers of a service busy, by TensorFlow's estimate.

    Args:
      service: as in :func:`distribute`.
      security: as there.

    Raises:
      tf.errors.OpError: if the dispatcher cannot be reached, or is TensorFlow's.
    """
    answer = Service(*parse_service(service), security).ask(m.GetScalingRequest(), PATIENCE_NS)
    assert isinstance(answer, m.GetScalingResponse)
    return Scaling(
        answer.workers,
        answer.recommended,
        {asked.job_name: asked.processing_time_nsec for asked in answer.iterations},
        {asked.job_name: asked.target_processing_time_nsec for asked in answer.iterations},
    )
