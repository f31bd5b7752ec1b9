"""ClusterSpec: every form it is made of, every question, every error."""

from __future__ import annotations

import pytest

import tfsvc as tf
from tfsvc.train import ClusterDef, ClusterDeviceFilters, ClusterSpec, JobDef

DENSE = {"ps": ["ps0:2222", "ps1:2222"], "worker": ["w0:2222", "w1:2222", "w2:2222"]}
SPARSE = {"ps": {3: "ps3:2222", 1: "ps1:2222"}}


def test_four_ways_to_one_cluster():
    spec = ClusterSpec(DENSE)
    ways = (DENSE, ClusterDef.FromString(spec.as_cluster_def().SerializeToString()), spec, spec.as_dict())
    assert all(ClusterSpec(way) == spec for way in ways)
    assert {ClusterSpec(way).as_cluster_def().SerializeToString(deterministic=True) for way in ways} == {
        spec.as_cluster_def().SerializeToString(deterministic=True)
    }


def test_a_message_stands_for_itself_and_a_spec_is_copied():
    message = ClusterDef(job=[JobDef(name="a", tasks={0: "x:1"}), JobDef(name="a", tasks={1: "y:2"})])
    assert ClusterSpec(message).as_cluster_def() is message
    assert ClusterSpec(message).as_dict() == {"a": {1: "y:2"}}, "the last job of a name counts"
    spec = ClusterSpec(DENSE)
    assert ClusterSpec(spec).as_cluster_def() is not spec.as_cluster_def()


def test_jobs_keep_their_order_and_messages_are_sorted():
    spec = ClusterSpec({"b": ["x:1"], "a": SPARSE["ps"]})
    assert spec.jobs == ["b", "a"]
    assert str(spec.as_cluster_def()) == (
        'job {\n  name: "a"\n  tasks {\n    key: 1\n    value: "ps1:2222"\n  }\n  tasks {\n    key: 3\n'
        '    value: "ps3:2222"\n  }\n}\njob {\n  name: "b"\n  tasks {\n    key: 0\n    value: "x:1"\n  }\n}\n'
    )
    assert repr(spec) == "ClusterSpec({'a': {1: 'ps1:2222', 3: 'ps3:2222'}, 'b': ['x:1']})"


def test_questions_to_dense_and_sparse_jobs():
    dense, sparse = ClusterSpec(DENSE), ClusterSpec(SPARSE)
    assert dense.num_tasks("worker") == 3
    assert dense.task_indices("worker") == [0, 1, 2]
    assert dense.task_address("worker", 2) == "w2:2222"
    assert dense.job_tasks("ps") == ["ps0:2222", "ps1:2222"]
    assert sparse.num_tasks("ps") == 2
    assert sparse.task_indices("ps") == [1, 3]
    assert sparse.job_tasks("ps") == [None, "ps1:2222", None, "ps3:2222"]
    assert dense.as_dict() == DENSE
    assert sparse.as_dict() == {"ps": {1: "ps1:2222", 3: "ps3:2222"}}
    assert ClusterSpec({"a": {0: "x:1"}}).as_dict() == {"a": ["x:1"]}
    assert ClusterSpec({"a": []}).as_dict() == {"a": {}}


def test_indices_pass_through_int_and_bytes_stay_bytes():
    assert ClusterSpec({"a": {"2": "x:1", 4.7: "y:1", -1: "z:1"}}).task_indices("a") == [-1, 2, 4]
    assert ClusterSpec({"a": [b"x:1"]}).as_dict() == {"a": [b"x:1"]}


def test_truth_and_equality():
    assert not ClusterSpec({})
    assert ClusterSpec({"a": []})
    assert ClusterSpec({"a": ["x:1"]}) == {"a": {0: "x:1"}}
    assert ClusterSpec({"a": ["x:1"]}) != {"a": ["x:1"]}
    assert ClusterSpec({"a": ["x:1"]}) != ClusterSpec({"a": ["x:2"]})
    with pytest.raises(TypeError):
        hash(ClusterSpec({}))


@pytest.mark.parametrize("bad", [None, 5, "x:1", ["x:1"], {"a": "x:1"}, {"a": 3}, {"a": [1]}, {1: ["x:1"]}])
def test_what_is_no_cluster(bad):
    with pytest.raises(TypeError):
        ClusterSpec(bad)


def test_an_index_that_is_no_number():
    with pytest.raises(ValueError, match="'q' of job 'a'"):
        ClusterSpec({"a": {"q": "x:1"}})


@pytest.mark.parametrize(
    ("ask", "text"),
    [
        (lambda s: s.num_tasks("q"), "No such job in cluster: 'q'"),
        (lambda s: s.task_indices("q"), "No such job in cluster: 'q'"),
        (lambda s: s.job_tasks("q"), "No such job in cluster: 'q'"),
        (lambda s: s.task_address("q", 0), "No such job in cluster: 'q'"),
        (lambda s: s.task_address("ps", 5), "No task with index 5 in job 'ps'"),
        (lambda s: s.task_address("ps", "0"), "No task with index '0' in job 'ps'"),
    ],
)
def test_jobs_and_tasks_that_are_not_there(ask, text):
    with pytest.raises(ValueError, match=text):
        ask(ClusterSpec(DENSE))


def test_device_filters():
    filters = ClusterDeviceFilters()
    filters.set_device_filters("ps", 1, ["/job:worker", "/job:ps/task:1"])
    filters.set_device_filters("ps", 0, ["/job:worker"])
    message = filters._as_cluster_device_filters()
    assert [job.name for job in message.jobs] == ["ps"]
    assert list(message.jobs[0].tasks[1].device_filters) == ["/job:worker", "/job:ps/task:1"]
    with pytest.raises(TypeError, match="list of strings"):
        filters.set_device_filters("ps", 0, "/job:worker")


def test_the_names_are_where_tensorflow_has_them():
    assert tf.train.ClusterSpec is ClusterSpec
    assert tf.compat.v1.train.ClusterSpec is ClusterSpec
    assert tf.compat.v1.train.Server is tf.compat.v1.distribute.Server is tf.distribute.Server
