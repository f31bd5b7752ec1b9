"""Graphs are shipped by value, and what cannot be shipped is named by its path."""

from __future__ import annotations

import functools
import os
import socket
import sqlite3
import subprocess
import sys
import threading
import traceback
from pathlib import Path
from typing import Any

import cloudpickle
import pytest

from tfsvc.data import Dataset, TextLineDataset
from tfsvc.data.functions import describe
from tfsvc.data.operator import Context
from tfsvc.errors import InvalidArgumentError
from tfsvc.execution.program import fingerprint, pack, unpack

GLOBAL_LOCK = threading.Lock()


def uses_a_global(x: Any) -> Any:
    with GLOBAL_LOCK:
        return x


class Tokenizer:
    def __init__(self, resource: Any) -> None:
        self.resource = resource

    def __call__(self, x: Any) -> Any:
        return x

    def tokenize(self, x: Any) -> Any:
        return x


def refused(function: Any) -> str:
    with pytest.raises(InvalidArgumentError) as caught:
        pack(Dataset.range(3).map(function).batch(2).operator)
    return str(caught.value)


def test_a_graph_comes_back() -> None:
    factor = 3
    dataset = Dataset.zip(Dataset.range(3).map(lambda x: x * factor), Dataset.from_tensor_slices(["a", "b", "c"]))
    assert list(Dataset(unpack(pack(dataset.operator)))) == [(0, b"a"), (3, b"b"), (6, b"c")]
    assert len(pack(TextLineDataset(["a"]).operator)) < 2000


def test_equal_graphs_have_equal_bytes_whatever_was_asked_of_them() -> None:
    dataset = Dataset.range(3).map(lambda x: x + 1).unbatch()
    before = pack(dataset.operator)
    with pytest.raises(ValueError):
        _ = dataset.element_spec
    assert fingerprint(pack(dataset.operator)) == fingerprint(before)
    assert len(fingerprint(before)) == 64


def test_datasets_inside_functions_are_shipped_without_their_past() -> None:
    inner = Dataset.range(2)
    outer = Dataset.range(2).flat_map(lambda x: inner.map(lambda y: y + x))
    program = pack(outer.operator)
    list(inner)
    assert pack(outer.operator) == program
    operator = unpack(program)
    assert list(Dataset(operator)) == [0, 1, 1, 2]


def test_a_closure_variable() -> None:
    lock = threading.Lock()

    def tokenize(x: Any) -> Any:
        with lock:
            return x

    line = tokenize.__code__.co_firstlineno
    assert (
        f"map function 'tokenize' (test_program.py:{line}) -> closure variable 'lock' -> threading.Lock: "
        "create it inside the function"
    ) in refused(tokenize)


def test_a_variable_of_a_helper() -> None:
    event = threading.Event()

    def helper() -> Any:
        return event

    assert "closure variable 'helper' -> closure variable 'event' -> threading.Event" in refused(lambda x: helper())


def test_attributes_arguments_and_items() -> None:
    lock = threading.RLock()
    assert "map function 'Tokenizer' -> attribute 'resource' of Tokenizer -> threading.RLock" in refused(
        Tokenizer(lock)
    )
    assert "the object of a method -> attribute 'resource'" in refused(Tokenizer(lock).tokenize)
    partial = functools.partial(lambda table, x: x, {"k": [lock]})
    assert "argument 0 of a partial -> key 'k' -> item 0 -> threading.RLock" in refused(partial)
    assert "default argument 0 -> threading.RLock" in refused(lambda x, lock=lock: x)


def test_what_belongs_to_this_process(tmp_path: Path) -> None:
    generator = (i for i in range(3))
    assert "'generator' -> generator: pass the function that makes the generator" in refused(lambda x: next(generator))
    thread = threading.Thread()
    assert "threading.Thread: start it inside" in refused(lambda x: thread)
    with socket.socket() as connection:
        assert "socket.socket: connect inside" in refused(lambda x: connection)
    (tmp_path / "f").touch()
    with open(tmp_path / "f") as file:
        assert "closure variable 'file' -> io.TextIOWrapper: pass its path and open it inside" in refused(
            lambda x: file.read()
        )
    database = sqlite3.connect(":memory:")
    assert "closure variable 'database' -> sqlite3.Connection" in refused(lambda x: database)
    database.close()


def test_functions_of_importable_modules_travel_by_name() -> None:
    """Their globals stay behind, so a lock among them does no harm."""
    program = pack(Dataset.range(2).map(describe).operator)
    assert len(program) < 500
    assert list(Dataset(unpack(program)).take(1)) == [b"function 'int64'"]


def test_bytes_that_hold_no_graph() -> None:
    with pytest.raises(InvalidArgumentError, match="cannot be read"):
        unpack(b"garbage")
    with pytest.raises(InvalidArgumentError, match="expected a dataset's graph but got a int"):
        unpack(cloudpickle.dumps(3))


def test_a_module_that_the_worker_does_not_have() -> None:
    with pytest.raises(InvalidArgumentError, match="module 'no_such_module', which this worker does not have"):
        unpack(b"cno_such_module\nthing\n.")


SCRIPT = """
from tfsvc.data import Dataset
from tfsvc.execution.program import fingerprint, pack

table = {"b": 1, "a": 2}
dataset = Dataset.range(3).filter(lambda x: "q" in {"q", "r", "s"}).map(lambda x: x + table["a"])
assert list(dataset) == [2, 3, 4]
print(fingerprint(pack(dataset.operator)))
"""


def test_a_script_gives_the_same_bytes_in_every_process() -> None:
    names = set()
    for seed in ("1", "2", "3"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)}
        command = [sys.executable, "-c", SCRIPT]
        names.add(subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout)
    assert len(names) == 1


def test_a_traceback_names_the_file_of_a_shipped_function():
    def fails(x):
        raise ValueError(x)

    operator = unpack(pack(Dataset.range(1).map(fails).operator))
    with pytest.raises(ValueError, match="0") as caught:
        operator.iterator(Context()).next()
    assert traceback.extract_tb(caught.value.__traceback__)[-1].filename == __file__
