"""Resume tokens of local datasets, and what is refused."""

from __future__ import annotations

import base64
import json
import pickle
import zlib
from collections import OrderedDict, defaultdict, namedtuple

import ml_dtypes
import numpy as np
import pytest

from tests.pipelines.elements import plain
from tfsvc.data import Dataset, states, tokens
from tfsvc.data.describing import describe, difference
from tfsvc.errors import FailedPreconditionError, InvalidArgumentError


def double(x):
    return x * 2


def pipeline(stop: int = 100) -> Dataset:
    return Dataset.range(stop).map(double).shuffle(10, seed=3).batch(4)


def test_a_token_goes_on_where_the_iterator_stood_and_is_json():
    whole = [batch.tolist() for batch in pipeline()]
    iterator = iter(pipeline())
    got = [next(iterator).tolist() for _ in range(7)]
    token = json.loads(json.dumps(iterator.state_dict()))
    again = iter(pipeline())
    again.load_state_dict(token)
    held, loaded = (tokens.read(pipeline().operator, each) for each in (token, again.state_dict()))
    assert repr(held) == repr(loaded)
    assert got + [batch.tolist() for batch in again] == whole


def test_a_token_of_the_end_is_of_the_end():
    iterator = iter(pipeline(8))
    list(iterator)
    again = iter(pipeline(8))
    again.load_state_dict(iterator.state_dict())
    assert list(again) == []


def test_a_token_of_another_dataset_is_refused_with_the_difference():
    token = iter(pipeline(100)).state_dict()
    with pytest.raises(InvalidArgumentError, match=r"range\(.*stop=100.* there, range\(.*stop=101.* here"):
        iter(pipeline(101)).load_state_dict(token)
    with pytest.raises(InvalidArgumentError, match=r"batch\(.*\) only there"):
        iter(Dataset.range(100).map(double).shuffle(10, seed=3)).load_state_dict(token)


def test_an_iterator_that_has_begun_takes_no_token():
    iterator = iter(pipeline())
    token = iterator.state_dict()
    next(iterator)
    with pytest.raises(FailedPreconditionError, match="into a new one"):
        iterator.load_state_dict(token)


@pytest.mark.parametrize("token", [None, 3, {}, {"tfsvc": 1}, "state", []])
def test_what_is_no_token_is_refused(token):
    with pytest.raises(InvalidArgumentError):
        iter(pipeline()).load_state_dict(token)


def test_a_damaged_token_or_one_of_another_version_is_refused():
    token = iter(pipeline()).state_dict()
    for state in (token["state"][:-8], "%%%", token["state"][4:]):
        with pytest.raises(InvalidArgumentError, match="damaged"):
            iter(pipeline()).load_state_dict({**token, "state": state})
    with pytest.raises(InvalidArgumentError, match="version 2"):
        iter(pipeline()).load_state_dict({**token, "tfsvc": 2})


class Mischief:
    def __reduce__(self):
        return print, ("code of a token ran",)


def test_a_token_runs_no_code(capsys):
    packed = base64.b64encode(zlib.compress(pickle.dumps(Mischief()))).decode()
    with pytest.raises(InvalidArgumentError, match="damaged"):
        iter(pipeline()).load_state_dict({**iter(pipeline()).state_dict(), "state": packed})
    assert capsys.readouterr().out == ""


def test_named_tuples_go_on_as_what_they_are():
    def points():
        # A type that nobody can import.
        Point = namedtuple("Point", "x y")
        return Dataset.range(9).map(lambda x: Point(x, x)).shuffle(4, seed=1).map(lambda p: p.x + p.y)

    iterator = iter(points())
    next(iterator)
    again = iter(points())
    again.load_state_dict(json.loads(json.dumps(iterator.state_dict())))
    assert list(again) == list(iterator)


Pair = namedtuple("Pair", "x y")


@pytest.mark.parametrize(
    "element",
    [
        Pair(np.int64(1), np.zeros(2)),
        OrderedDict(b=b"b", a=np.float32(1)),
        defaultdict(list, a=np.bool_(True)),
        {"a": (ml_dtypes.bfloat16(1), np.array([b"a", b""], object))},
    ],
)
def test_elements_keep_their_types(element):
    found = states.loads(states.dumps([element]))[0]
    assert type(found) is type(element)
    assert plain(found) == plain(element)


def test_windows_can_be_written_down():
    def windows():
        return Dataset.range(20).window(3).shuffle(4, seed=1).flat_map(lambda w: w)

    iterator = iter(windows())
    next(iterator)
    again = iter(windows())
    again.load_state_dict(json.loads(json.dumps(iterator.state_dict())))
    assert list(again) == list(iterator)


def test_a_state_that_cannot_be_written_down_is_an_error_when_it_is_saved():
    iterator = iter(Dataset.range(9).window(2).map(lambda w: w.map(lambda x: x)).shuffle(4, seed=1))
    next(iterator)
    with pytest.raises(InvalidArgumentError, match="Let elements be"):
        iterator.state_dict()


def test_a_dataset_is_told_operator_by_operator():
    dataset = Dataset.zip(Dataset.range(3), Dataset.from_tensor_slices(np.arange(3.0))).map(lambda a, b: a + b).take(2)
    lines = describe(dataset.operator)
    assert lines[0] == "range(start=0, stop=3, step=1, dtype=tf.int64)"
    assert lines[1].startswith("from_tensor_slices(element=float64[3]#")
    assert [line.split("(")[0] for line in lines] == ["range", "from_tensor_slices", "zip", "map", "take"]
    assert difference(lines, lines) == ""


def test_a_function_may_be_mended_but_data_may_not_change():
    mended = describe(Dataset.range(3).map(lambda x: x + 1).operator)
    assert mended == describe(Dataset.range(3).map(lambda x: x + 2).operator)
    one, other = (describe(Dataset.from_tensor_slices(np.array(a)).operator) for a in ([1, 2], [1, 3]))
    assert difference(one, other)


def test_the_states_of_consumers_merge_only_where_nothing_else_is_held():
    with pytest.raises(InvalidArgumentError, match="holds more than positions"):
        tokens.merge([(1, ())], (0, ()))


def test_what_was_read_ahead_is_in_the_token():
    """Also functions that ran ahead of the reader, at any element."""
    whole = [int(x) for x in Dataset.range(300).map(double)]
    iterator = iter(Dataset.range(300).map(double))
    for given in range(300):
        again = iter(Dataset.range(300).map(double))
        again.load_state_dict(json.loads(json.dumps(iterator.state_dict())))
        assert [int(x) for x in again] == whole[given:]
        assert next(iterator) == whole[given]


def test_an_unseeded_order_goes_on_through_later_repetitions_and_epochs():
    dataset = Dataset.range(10).shuffle(10).repeat(3)
    iterator = iter(dataset)
    for _ in range(4):
        next(iterator)
    token = iterator.state_dict()
    again = iter(Dataset.range(10).shuffle(10).repeat(3))
    again.load_state_dict(token)
    assert list(again) == list(iterator)


def test_the_dataset_of_a_loaded_iterator_counts_on():
    first = Dataset.range(10).shuffle(10, seed=1)
    passes = [[int(x) for x in first] for _ in range(2)]
    iterator = iter(first)
    begun = [int(next(iterator)) for _ in range(3)]
    token, third = iterator.state_dict(), begun + [int(x) for x in iterator]
    second = Dataset.range(10).shuffle(10, seed=1)
    again = iter(second)
    again.load_state_dict(token)
    assert begun + [int(x) for x in again] == third
    assert third not in passes
    assert list(second) == list(first)
