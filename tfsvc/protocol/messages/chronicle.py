"""*Ours*: what happened in a cluster lately, and how fast it was, as its dispatcher tells people and their tools.

As in ``description``, times are nanoseconds before the moment of the answer.
"""

from __future__ import annotations

from tfsvc.protocol.messages.description import Consumption
from tfsvc.record import record


@record
class GetChronicleRequest:
    """``after``: the number of the last happening that is known already; 0 for all that are kept."""

    after: int = 0


@record
class Happening:
    """Something that people want to know of.

    Attributes:
      number: counts them within a life of the dispatcher, from 1.
      kind: ``"worker"`` (one came), ``"lost"`` (one is given up), ``"reader"`` (one came or left), ``"pass"`` (one
        began or was dropped), ``"moved"`` (work went elsewhere), ``"again"`` (a reader passed over what it had
        already), ``"end"`` (a pass was read to its end and nothing is missing), ``"loss"`` (something is missing),
        ``"warning"`` or ``"note"``.
      text: in words.
      job: the name of a job that it is about; empty for none, and for jobs without a name.
      worker: the address of a worker that it is about.
    """

    number: int = 0
    ago_ns: int = 0
    kind: str = ""
    text: str = ""
    job: str = ""
    worker: str = ""


@record
class Sample:
    """How far the cluster was at a moment; what only grows begins with this life of the dispatcher."""

    ago_ns: int = 0
    workers: int = 0
    readers: int = 0
    elements: int = 0
    bytes: int = 0
    waited_ns: int = 0
    discarded: int = 0
    splits_again: int = 0


@record
class Recent:
    """What a reader did in the last minute, or since it came, of which ``over_ns`` were measured."""

    reader_id: int = 0
    over_ns: int = 0
    elements: int = 0
    bytes: int = 0
    waited_ns: int = 0


@record
class JobTotal:
    """What all readers of a job took in this life of the dispatcher, those that are gone included.

    Attributes:
      name: empty for all jobs without a name together; ``None`` for those behind the first hundred names.
    """

    name: str | None = None
    consumption: Consumption = Consumption()


@record
class GetChronicleResponse:
    """What happened of late.

    Attributes:
      happenings: in the order in which they came.
      samples: how far the work was, now and then.
      recent: what was read of late.
      jobs: totals of each job.
      left_out: how many happenings are not kept any more behind ``after``.
    """

    happenings: tuple[Happening, ...] = ()
    samples: tuple[Sample, ...] = ()
    recent: tuple[Recent, ...] = ()
    jobs: tuple[JobTotal, ...] = ()
    left_out: int = 0
