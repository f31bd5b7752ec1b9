"""Checkpoints: TensorFlow reads ours and we read TensorFlow's, from files and through sessions."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

tf = pytest.importorskip("tensorflow")
import tfsvc  # noqa: E402
from tests.e2e.clusters import Task, new_cluster, serving  # noqa: E402
from tfsvc.storage import tables  # noqa: E402
from tfsvc.storage.checkpoints import read_checkpoint, write_checkpoint  # noqa: E402

pytestmark = [pytest.mark.interop, pytest.mark.xdist_group("tensorflow sessions")]
v1 = tf.compat.v1

TENSORS = {
    "layer/weights": np.arange(12, dtype=np.float32).reshape(3, 4),
    "layer/bias": np.zeros((0, 2), np.float64),
    "step": np.int64(7),
    "small": np.array([1.5, -2], ml_dtypes.bfloat16),
    "flags": np.array([True, False]),
    "texts": np.array([[b"a", b""], [b"\xff" * 300, b"c"]], object),
}


def the_same(found: dict[str, Any], wanted: dict[str, Any]) -> None:
    assert set(found) == set(wanted)
    for name, value in wanted.items():
        assert np.asarray(found[name]).dtype == np.asarray(value).dtype, name
        np.testing.assert_array_equal(found[name], value)


@pytest.fixture(params=[1 << 18, 60], ids=["one block", "many blocks"])
def blocks(request: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "BLOCK_BYTES", request.param)


def test_tensorflow_reads_ours(tmp_path, blocks):
    prefix = str(tmp_path / "model")
    write_checkpoint(prefix, TENSORS)
    reader = tf.train.load_checkpoint(prefix)
    assert reader.get_variable_to_shape_map() == {name: list(np.shape(value)) for name, value in TENSORS.items()}
    the_same({name: reader.get_tensor(name) for name in TENSORS}, TENSORS)
    the_same(read_checkpoint(prefix), TENSORS)


def test_we_read_tensorflows(tmp_path):
    prefix = str(tmp_path / "model")
    names = list(TENSORS)
    tf.raw_ops.SaveV2(
        prefix=prefix,
        tensor_names=names,
        shape_and_slices=[""] * len(names),
        tensors=[tf.constant(v) for v in TENSORS.values()],
    )
    the_same(read_checkpoint(prefix), TENSORS)


def test_damage_and_absence_are_told(tmp_path):
    prefix = tmp_path / "model"
    write_checkpoint(str(prefix), TENSORS)
    with pytest.raises(tfsvc.errors.NotFoundError, match="none not found in checkpoint"):
        read_checkpoint(str(prefix), ["none"])
    with pytest.raises(tfsvc.errors.NotFoundError, match="Failed to find any matching files"):
        read_checkpoint(str(tmp_path / "other"))
    data = Path(f"{prefix}.data-00000-of-00001")
    data.write_bytes(data.read_bytes()[:-1] + b"x")
    with pytest.raises(tfsvc.errors.DataLossError, match="Checksum does not match"):
        read_checkpoint(str(prefix), ["texts"])
    index = Path(f"{prefix}.index")
    index.write_bytes(index.read_bytes()[:-20])
    with pytest.raises(tfsvc.errors.DataLossError, match="bad magic number"):
        read_checkpoint(str(prefix))


@pytest.fixture(scope="module")
def cluster() -> Iterator[dict[str, Task]]:
    with serving(new_cluster(ps=1, worker=1)) as tasks:
        yield tasks


@pytest.mark.parametrize("sharded", [False, True])
def test_a_saver_saves_and_restores_on_our_servers(cluster, tmp_path, sharded):
    target, prefix = cluster["worker0"].target, str(tmp_path / "saved")
    with tf.Graph().as_default():
        with tf.device("/job:ps/task:0"):
            v = v1.get_variable("v", initializer=np.arange(5, dtype=np.float32), use_resource=True)
        w = v1.get_variable("w", initializer=3, use_resource=False)
        saver = v1.train.Saver(sharded=sharded)
        with v1.Session(target) as session:
            session.run(v1.global_variables_initializer())
            assert saver.save(session, prefix, write_meta_graph=False) == prefix
            session.run([v.assign(np.zeros(5, np.float32)), v1.assign(w, 0)])
            saver.restore(session, prefix)
            np.testing.assert_array_equal(session.run(v), np.arange(5))
            assert session.run(w) == 3
        with v1.Session() as session:  # TensorFlow's own runtime has no such job
            reader = tf.train.load_checkpoint(prefix)
            np.testing.assert_array_equal(reader.get_tensor("v"), np.arange(5))


def test_training_goes_on_where_a_monitored_session_was(cluster, tmp_path):
    target = cluster["worker0"].target
    for _ in range(2):
        with tf.Graph().as_default():
            with tf.device("/job:ps/task:0"):
                step = v1.train.get_or_create_global_step()
            add = v1.assign_add(step, 1)
            with v1.train.MonitoredTrainingSession(
                target,
                checkpoint_dir=str(tmp_path),
                save_checkpoint_steps=1,
                save_summaries_steps=None,
                log_step_count_steps=None,
            ) as session:
                counted = [session.run(add) for _ in range(3)]
        v1.Session.reset(target)
    assert counted == [4, 5, 6]
