"""Names of devices and values."""

from __future__ import annotations

import pytest

from tfsvc.protocol.cluster.names import DeviceSpec, Key, Task, parse_device, parse_key, parse_task


@pytest.mark.parametrize(
    ("text", "spec"),
    [
        ("", DeviceSpec()),
        ("/job:ps", DeviceSpec("ps")),
        ("/job:ps/task:3", DeviceSpec("ps", task=3)),
        ("/cpu:0", DeviceSpec(kind="CPU", index=0)),
        ("/device:GPU:*", DeviceSpec(kind="GPU")),
        ("/job:a-b/replica:0/task:1/device:CPU:0", DeviceSpec("a-b", 0, 1, "CPU", 0)),
    ],
)
def test_parts_of_names(text, spec):
    assert parse_device(text) == spec
    assert parse_device(str(spec)) == spec


@pytest.mark.parametrize("text", ["ps", "/job:", "/job:ps/tusk:1", "/job:ps/task:x", "/device:CPU"])
def test_what_is_no_name(text):
    with pytest.raises(ValueError, match="Malformed device specification"):
        parse_device(text)


def test_an_inner_name_decides_and_an_outer_one_fills_in():
    assert str(parse_device("/task:1").over(parse_device("/job:ps/task:0/cpu:0"))) == "/job:ps/task:1/device:CPU:0"


def test_tasks_and_keys_come_back():
    task = Task("ps", 1)
    assert parse_task(task.device) == task
    key = Key(task.device, 255, task.device, "edge_a:0")
    assert parse_key(str(key)) == key
    assert ";00000000000000ff;" in str(key)
    for bad in ("a;b", f"x;0;{task};t;0:0", "/job:ps;0;/job:ps;t;0:0"):
        with pytest.raises(ValueError, match=r"key|device|task"):
            parse_key(bad)
