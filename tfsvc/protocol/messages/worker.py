"""What is asked of a worker, and what it answers."""

from __future__ import annotations

from dataclasses import field

from tfsvc.protocol.frames import Frame
from tfsvc.protocol.messages.shared import TaskDef, TaskInfo
from tfsvc.protocol.splits import Checkpoint
from tfsvc.record import record


@record
class ProcessTaskRequest:
    task: TaskDef = field(default_factory=TaskDef)


@record
class ProcessTaskResponse:
    pass


@record
class GetElementRequest:
    task_id: int = 0
    consumer_index: int | None = None
    round_index: int | None = None
    skipped_previous_round: bool = False
    allow_skip: bool = False
    trainer_id: str = ""
    client_id: int = 0
    """*Ours*: the reader; 0 from TensorFlow. Its rounds and its data may end, and a round that was answered into the
    void is answered again."""
    patience_ns: int = 0
    """*Ours*: how long the reader waits for the other consumers of its round; 0 for ever."""
    ordinal: int = 0
    """*Ours*: how many elements of the task the reader has, where trainers share them: what was answered into the void
    is answered again."""


@record
class GetElementResponse:
    """``element`` is the serialized one-of of TensorFlow's message, empty at the end or for a skip."""

    element: bytes = b""
    element_index: int = 0
    end_of_sequence: bool = False
    skip_task: bool = False
    passed_over: int = 0
    """*Ours*: how many elements the trainer missed since they had left the cache."""


@record
class GetFramesRequest:
    """*Ours*: a reader asks for a stream's elements from ``ordinal`` on, and gives back what lies before.

    Attributes:
      lane_id: the lane, or 0 for the part of a task that is this reader's.
      attempt: which life of the lane.
      client_id: the reader.
      ordinal: the first element wanted.
      bytes_max: how much to send at the most, 0 only to give back.
      run: in an ordered lane, what the reader knows already of ``GetFramesResponse.run``.
    """

    task_id: int = 0
    lane_id: int = 0
    attempt: int = 0
    client_id: int = 0
    ordinal: int = 0
    bytes_max: int = 0
    run: int = 0


@record
class GetFramesResponse:
    """*Ours*: frames of a stream.

    Attributes:
      end_of_stream: the frames sent here are the last ones.
      run: in an ordered lane, whatever comes behind these frames is of this run or a later one.
      checkpoint: a place in an ordered lane, no farther than these frames, where it can start again.
    """

    frames: tuple[Frame, ...] = ()
    end_of_stream: bool = False
    run: int = 0
    checkpoint: Checkpoint | None = None


@record
class GetWorkerTasksRequest:
    pass


@record
class GetWorkerTasksResponse:
    tasks: tuple[TaskInfo, ...] = ()
