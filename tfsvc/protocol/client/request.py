"""What a reader is to read, and how it asks the dispatcher for it."""

from __future__ import annotations

from tfsvc.protocol import messages as m
from tfsvc.record import record


@record
class ReadRequest:
    """What to read.

    Attributes:
      job_name: readers with the same name share the elements; ``None`` for a job of one's own.
      repetition: which pass over the job; readers of the same pass share it.
      order: the job's order; without lanes, elements come as soon as they can.
      consumer_index: which of an ordered job's consumers the reader is.
      num_consumers: how many an ordered job has.
      places: where an ordered job's lanes go on; ``None`` for where they have got to.
      made_up: how many elements of it were made up there.
      delivery: how often an element comes whose worker was lost.
      coordinated: whether all consumers read in rounds, the same worker at the same time.
      trainer_id: who reads of the elements that several trainers share; empty where none are shared.
    """

    dataset_id: str
    policy: m.ShardingPolicy
    job_name: str | None = None
    repetition: int = 0
    target_workers: m.TargetWorkers = m.TargetWorkers.AUTO
    order: m.OrderDef = m.OrderDef()
    consumer_index: int = 0
    num_consumers: int | None = None
    places: tuple[m.LanePlace, ...] | None = None
    made_up: int = 0
    delivery: m.Delivery = m.Delivery.EXACTLY_ONCE
    coordinated: bool = False
    trainer_id: str = ""

    def job(self, nonce: str) -> m.GetOrCreateJobRequest:
        """Asks for the job, under a name by which a repetition is known."""
        return m.GetOrCreateJobRequest(
            dataset_id=self.dataset_id,
            processing_mode_def=m.ProcessingModeDef(self.policy),
            job_name=self.job_name,
            num_consumers=self.num_consumers,
            use_cross_trainer_cache=bool(self.trainer_id),
            target_workers=self.target_workers,
            nonce=nonce,
            order=self.order,
            delivery=self.delivery,
        )

    def iteration(self, job_id: int, nonce: str) -> m.GetOrCreateIterationRequest:
        """Asks to take part in the pass over the job."""
        rewinds = self.places is not None
        return m.GetOrCreateIterationRequest(
            job_id, self.repetition, nonce, self.consumer_index, rewinds, self.places or ()
        )
