"""Jobs, iterations and readers; datasets and compression decisions."""

from __future__ import annotations

import pytest

from tests.unit.protocol.conftest import Desk
from tfsvc.errors import Code
from tfsvc.protocol import messages as m
from tfsvc.protocol.contract import Note, Woke
from tfsvc.protocol.settings import DispatcherSettings

OFF, DYNAMIC = m.ShardingPolicy.OFF, m.ShardingPolicy.DYNAMIC
SECOND = 1_000_000_000


def job(dataset_id: str, name: str | None = "j", policy: m.ShardingPolicy = OFF, **more) -> m.GetOrCreateJobRequest:
    return m.GetOrCreateJobRequest(dataset_id, m.ProcessingModeDef(policy), name, **more)


def test_version_and_config(desk):
    assert desk.ask(m.GetVersionRequest()) == m.GetVersionResponse(9, 1)
    assert desk.ask(m.GetDataServiceConfigRequest()).config.deployment_mode == m.DeploymentMode.UNSPECIFIED


def test_every_registration_is_a_new_dataset(desk):
    assert [desk.register(), desk.register()] == ["1000", "1001"]


def test_a_dataset_id_names_one_dataset(desk):
    one = m.DataServiceMetadata(b"spec", m.Compression.OFF, 10)
    assert desk.ask(m.GetOrRegisterDatasetRequest(metadata=one, dataset_id="mine")).dataset_id == "mine"
    assert desk.ask(m.GetOrRegisterDatasetRequest(metadata=one, dataset_id="mine")).dataset_id == "mine"
    other = m.DataServiceMetadata(b"spec", m.Compression.OFF, 20)
    error = desk.refused(m.GetOrRegisterDatasetRequest(metadata=other, dataset_id="mine"))
    assert error.code == Code.INVALID_ARGUMENT
    assert "should have the same structure" in error.message
    assert "cardinality is 10, got 20" in error.message


def test_a_number_that_a_user_took_is_not_given_again(desk):
    desk.ask(m.GetOrRegisterDatasetRequest(dataset_id="1000"))
    assert desk.register() == "1001"


@pytest.mark.parametrize(
    "request_",
    [m.GetDatasetDefRequest("x"), m.GetDataServiceMetadataRequest("x"), m.DisableCompressionAtRuntimeRequest("x")],
)
def test_an_unknown_dataset_is_not_found(desk, request_):
    assert desk.refused(request_).code == Code.NOT_FOUND


def test_the_first_decision_on_compression_stands(desk):
    metadata = m.DataServiceMetadata(compression=m.Compression.SNAPPY)
    name = desk.ask(m.GetOrRegisterDatasetRequest(metadata=metadata)).dataset_id
    first = desk.ask(m.DisableCompressionAtRuntimeRequest(name, False))
    assert first == m.DisableCompressionAtRuntimeResponse(compression_disabled_at_runtime=False)
    assert desk.ask(m.DisableCompressionAtRuntimeRequest(name, True)) == first


def test_nothing_to_disable_without_compression(desk):
    metadata = m.DataServiceMetadata(compression=m.Compression.OFF)
    name = desk.ask(m.GetOrRegisterDatasetRequest(metadata=metadata)).dataset_id
    answer = desk.ask(m.DisableCompressionAtRuntimeRequest(name))
    assert answer == m.DisableCompressionAtRuntimeResponse(no_compression_to_disable=True)


def test_a_name_is_one_job_and_no_name_a_new_one(desk):
    name = desk.register()
    assert desk.ask(job(name)).job_id == desk.ask(job(name)).job_id == 5000
    assert desk.ask(job(name, None)).job_id == 5001
    assert desk.ask(job(name, None)).job_id == 5002


@pytest.mark.parametrize(
    ("more", "text"),
    [
        ({"policy": DYNAMIC}, "Existing processing mode: <OFF>; got <DYNAMIC>."),
        ({"use_cross_trainer_cache": True}, "Existing cross-trainer cache: <disabled>; got <enabled>."),
        ({"target_workers": m.TargetWorkers.LOCAL}, "Existing target workers: <UNSPECIFIED>; got <LOCAL>."),
    ],
)
def test_a_named_job_keeps_its_parameters(desk, more, text):
    name = desk.register()
    desk.ask(job(name))
    error = desk.refused(job(name, **more))
    assert error.code == Code.INVALID_ARGUMENT
    assert "but found an existing job with diff" in error.message
    assert text in error.message


def registered(desk: Desk, description: str, cardinality: int = 9, spec: bytes | None = b"int64") -> str:
    metadata = m.DataServiceMetadata(spec, m.Compression.OFF, cardinality, description)
    return str(desk.ask(m.GetOrRegisterDatasetRequest(metadata=metadata)).dataset_id)


@pytest.mark.parametrize(
    ("description", "cardinality", "spec"),
    [("range(0)", 9, b"int64"), ("range(9)\nmap(f)", 9, b"int64"), ("range(9)", 8, b"int64"), ("range(9)", 9, b"a")],
)
def test_a_job_of_another_dataset_gives_its_own_and_says_so(desk, description, cardinality, spec):
    made_for, other = registered(desk, "range(9)"), registered(desk, description, cardinality, spec)
    first = desk.ask(job(made_for))
    answer = desk.ask(job(other))
    assert answer.job_id == first.job_id
    words = description.replace("\n", " -> ")
    assert "job 'j' was made for dataset 1000 (range(9))" in answer.warning
    assert f"also to a reader of dataset 1001 ({words}). Read another dataset with a job_name" in answer.warning
    assert [word.text for word in desk.words if isinstance(word, Note)] == [answer.warning]


def test_readers_that_each_registered_the_same_dataset_share_a_job_in_silence(desk):
    first = desk.ask(job(registered(desk, "range(9)")))
    assert first.warning == ""
    assert desk.ask(job(registered(desk, "range(9)"))) == first
    assert desk.ask(job(registered(desk, "", 9, None))) == first, "TensorFlow tells nothing of its datasets"
    assert "of cardinality 8" in desk.ask(job(registered(desk, "", 8, None))).warning


def test_a_repeated_call_finds_what_the_first_made(desk):
    name = desk.register()
    made = desk.ask(job(name, None, nonce="n/1"))
    assert desk.ask(job(name, None, nonce="n/1")) == made
    one = desk.ask(m.GetOrCreateIterationRequest(made.job_id, 0, "n/2"))
    assert desk.ask(m.GetOrCreateIterationRequest(made.job_id, 0, "n/2")) == one
    assert desk.ask(m.GetOrCreateIterationRequest(made.job_id, 0, "n/3")) != one


def test_an_unknown_job_or_reader_is_not_found(desk):
    assert desk.refused(m.GetOrCreateIterationRequest(1)).code == Code.NOT_FOUND
    error = desk.refused(m.ClientHeartbeatRequest(3000))
    assert error.code == Code.NOT_FOUND
    assert "Unknown iteration client id" in error.message
    assert desk.refused(m.ReleaseIterationClientRequest(3000)).code == Code.NOT_FOUND


def test_static_sharding_needs_the_workers_to_be_listed(desk):
    made = desk.ask(job(desk.register(), policy=m.ShardingPolicy.FILE))
    error = desk.refused(m.GetOrCreateIterationRequest(made.job_id))
    assert error.code == Code.NOT_FOUND
    assert "not in the workers list" in error.message
    assert "DispatcherConfig.worker_addresses" in error.message


def test_an_iteration_ends_when_all_its_tasks_have(desk):
    desk.worker("w1")
    desk.worker("w2")
    reader = desk.reader(desk.register(), OFF)
    desk.ask(m.WorkerUpdateRequest("w1", (m.TaskProgress(4000, True),)))
    assert not desk.beat(reader).iteration_finished
    desk.ask(m.WorkerUpdateRequest("w2", (m.TaskProgress(4001, True), m.TaskProgress(4001, True))))
    assert desk.beat(reader).iteration_finished


def test_a_task_that_nobody_knows_is_a_race_and_not_an_end(desk):
    desk.worker("w1")
    desk.reader(desk.register(), OFF)
    assert desk.refused(m.WorkerUpdateRequest("w1", (m.TaskProgress(9999, True),))).code == Code.NOT_FOUND
    both = m.WorkerUpdateRequest("w1", (m.TaskProgress(9999, True), m.TaskProgress(4000, True)))
    assert desk.ask(both) == m.WorkerUpdateResponse()
    assert desk.machine.state.tasks[4000].finished


def test_nothing_ends_before_there_is_a_worker(desk):
    assert not desk.beat(desk.reader(desk.register(), OFF)).iteration_finished
    assert not desk.beat(desk.reader(desk.register(), DYNAMIC)).iteration_finished


def test_a_silent_reader_is_released(desk):
    desk.worker("w1")
    reader = desk.reader(desk.register(), OFF)
    desk.beat(reader)
    desk.now += 301 * SECOND
    desk.worker("w1")
    desk.machine.handle(Woke(), desk.now)
    assert desk.refused(m.ClientHeartbeatRequest(reader)).code == Code.NOT_FOUND


def test_a_tensorflow_reader_may_take_its_time_before_it_begins(desk):
    reader = desk.reader(desk.register(), OFF)
    desk.now += 3000 * SECOND
    desk.machine.handle(Woke(), desk.now)
    assert desk.ask(m.ClientHeartbeatRequest(reader))


@pytest.mark.parametrize(
    ("policy", "also_dynamic", "gone"), [(OFF, False, True), (DYNAMIC, False, False), (DYNAMIC, True, True)]
)
def test_what_nobody_reads_is_collected(policy, also_dynamic, gone):
    desk = Desk(DispatcherSettings(gc_interval_ns=SECOND, gc_dynamic_sharding_jobs=also_dynamic))
    desk.worker("w1")
    name = desk.register()
    reader = desk.reader(name, policy, "j")
    desk.beat(reader)
    desk.ask(m.ReleaseIterationClientRequest(reader))
    desk.now += 302 * SECOND
    desk.worker("w1", current_tasks=(4000,))
    desk.machine.handle(Woke(), desk.now)
    assert desk.worker("w1", current_tasks=(4000,)).tasks_to_delete == ((4000,) if gone else ())
    again = desk.reader(name, policy, "j")
    assert desk.machine.state.clients[again] == (2001 if gone else 2000)


def test_the_worker_of_a_dispatcher_cannot_be_asked_as_one(desk):
    assert desk.refused(m.GetElementRequest(1)).code == Code.UNIMPLEMENTED


@pytest.mark.parametrize("policy", [OFF, DYNAMIC])
def test_what_was_read_to_its_end_stays_so_for_those_who_come_later(desk, policy):
    desk.worker("w1")
    dataset_id = desk.register(count=2)
    first = desk.reader(dataset_id, policy, "job")
    beat = desk.beat(first)
    if policy is DYNAMIC:
        desk.ask(m.OpenLaneRequest(beat.lanes[0].lane_id, 1, "w1", 2))
        desk.beat(first, m.LaneProgress(beat.lanes[0].lane_id, 2, True))
    else:
        desk.ask(m.WorkerUpdateRequest("w1", (m.TaskProgress(beat.task_info[0].task_id, True),)))
    assert desk.beat(first).iteration_finished
    desk.ask(m.ReleaseIterationClientRequest(first))
    assert not desk.machine.state.iterations
    assert not desk.machine.state.tasks
    for _ in range(2):
        late = desk.reader(dataset_id, policy, "job")
        desk.worker("w2")
        beat = desk.beat(late)
        assert (beat.iteration_finished, beat.task_info, beat.lanes) == (True, (), ())
        desk.ask(m.ReleaseIterationClientRequest(late))
    assert not desk.beat(desk.reader(dataset_id, policy, "job", 1)).iteration_finished


def test_nothing_is_left_of_a_job_without_a_name(desk):
    desk.worker("w1")
    reader = desk.reader(desk.register(), OFF)
    desk.ask(m.ReleaseIterationClientRequest(reader))
    state = desk.machine.state
    assert [*state.jobs, *state.jobs_by_name, *state.iterations, *state.tasks, *state.clients] == []
    assert desk.worker("w1", current_tasks=(4000,)).tasks_to_delete == (4000,)


def test_a_worker_that_tells_late_of_what_is_forgotten_is_believed(desk):
    desk.worker("w1")
    reader = desk.reader(desk.register(), OFF)
    desk.ask(m.ReleaseIterationClientRequest(reader))
    assert desk.ask(m.WorkerUpdateRequest("w1", (m.TaskProgress(4000, True),))) == m.WorkerUpdateResponse()
    assert desk.ask(m.GetSplitRequest(2000)).end_of_splits
