"""What an error says: its operator, the line that made that, the element, and the function's own traceback."""

from __future__ import annotations

import inspect
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.unit.data.helpers import plain
from tfsvc.data import Dataset, TextLineDataset
from tfsvc.data.experimental import vectorized
from tfsvc.data.operator import Context
from tfsvc.data.origins import origins, restore_origins, user_traceback
from tfsvc.data.sharding import Share, share_of
from tfsvc.errors import InvalidArgumentError
from tfsvc.execution.program import define, open_program
from tfsvc.protocol.messages import ShardingPolicy


def fails(x: Any) -> Any:
    if x == 3:
        raise ValueError("no threes")
    return x


def here() -> str:
    """The line that calls this."""
    frame = inspect.currentframe()
    assert frame is not None
    assert frame.f_back is not None
    return f"{__file__}:{frame.f_back.f_lineno}"


def notes(dataset: Any, kind: type[Exception] = ValueError) -> list[str]:
    with pytest.raises(kind) as caught:
        list(dataset)
    return list(caught.value.__notes__)


def test_a_note_names_operator_line_function_argument_and_element() -> None:
    dataset, line = Dataset.range(9).map(fails).batch(2), here()
    code = fails.__code__
    assert notes(dataset) == [
        f"In map() at {line}: function 'fails' ({Path(__file__).name}:{code.co_firstlineno}) was called with "
        "np.int64(3), for element 1 of the dataset."
    ]


def test_a_generator_of_flat_map_names_the_line_of_that() -> None:
    def generator(x: Any) -> Any:
        yield fails(x)

    dataset, line = Dataset.range(9).flat_map(generator).batch(2), here()
    assert notes(dataset) == [f"In from_generator() of flat_map() at {line}, for element 1 of the dataset."]


def test_every_link_of_a_chain_has_its_own_line() -> None:
    chain = Dataset.range(9).map(
        fails,
    )
    chain = chain.skip(0)
    lines = [line.rsplit(":", 1)[1] for line in origins(chain.operator)]
    first = int(lines[1])
    assert lines == [str(first + 3), str(first), str(first)]


@pytest.mark.parametrize(
    ("name", "build"),
    [
        ("map", lambda d: d.map(fails, num_parallel_calls=2)),
        ("map", lambda d: d.map(fails, num_parallel_calls=2).map(fails, num_parallel_calls=2)),
        ("map", lambda d: d.map(vectorized(lambda x: x + fails(int(x[-1])))).take(4)),
        ("filter", lambda d: d.filter(lambda x: fails(x) >= 0)),
        ("take_while", lambda d: d.take_while(lambda x: fails(x) >= 0)),
        ("scan", lambda d: d.scan(0, lambda state, x: (state, fails(x)))),
        ("flat_map", lambda d: d.flat_map(lambda x: Dataset.range(fails(x)))),
        ("interleave", lambda d: d.interleave(lambda x: Dataset.range(fails(x)))),
        ("map", lambda d: d.flat_map(lambda x: Dataset.range(5).map(fails))),
        ("group_by_window", lambda d: d.group_by_window(fails, lambda key, group: group, 2)),
        ("from_source", lambda d: Dataset.from_source([0, 1, "x", [1, "x"]], d.element_spec)),
        ("from_generator", lambda d: Dataset.from_generator(lambda: map(fails, range(5)), output_types="int64")),
    ],
)
def test_the_operator_that_failed_is_named(name: str, build: Callable[[Dataset], Dataset]) -> None:
    (note,) = notes(build(Dataset.range(9)).batch(1))
    assert note.startswith(f"In {name}() at {__file__}:")
    assert "for element" in note


def test_what_an_operator_itself_refuses_is_told_too(tmp_path: Path) -> None:
    rows, line = Dataset.range(1, 4).map(lambda x: np.zeros(int(x))).batch(3), here()
    assert notes(rows, InvalidArgumentError) == [f"In batch() at {line}, for element 0 of the dataset."]
    (tmp_path / "text").write_text("a\nb\n")
    names = [str(tmp_path / "text"), str(tmp_path / "missing")]
    (note,) = notes(TextLineDataset(names), Exception)
    assert note.startswith("In TextLineDataset()")
    assert note.endswith("for element 2 of the dataset.")


def test_a_pass_within_a_function_tells_its_own_story() -> None:
    inner = Dataset.range(9).map(fails)
    first, second = notes(Dataset.range(2).map(lambda x: sum(inner)))
    assert "element 3 of the dataset" in first
    assert "element 0 of the dataset" in second


def test_a_failed_element_has_a_number_and_a_note_of_its_own() -> None:
    iterator = iter(Dataset.from_tensor_slices([3, 1, 3]).map(fails))
    found = []
    while True:
        try:
            found.append(plain(next(iterator)))
        except StopIteration:
            break
        except ValueError as error:
            found.append(error.__notes__[0].rsplit("for ", 1)[1])
    assert found == ["element 0 of the dataset.", 1, "element 2 of the dataset."]


def test_a_large_element_is_told_in_short() -> None:
    def refuses(*_: Any) -> Any:
        raise ValueError

    (note,) = notes(Dataset.from_tensors((np.zeros(10**6), "x" * 10**6)).map(refuses))
    assert len(note) < 600


def build() -> Dataset:
    return Dataset.range(5).map(fails).shuffle(3, seed=1)


def test_lines_are_no_part_of_what_a_dataset_is() -> None:
    one = build()
    other = Dataset.range(5).map(fails).shuffle(3, seed=1)
    assert origins(one.operator) != origins(other.operator)
    assert define(one.operator).program == define(other.operator).program
    assert pickle.dumps(one) == pickle.dumps(other)


def test_lines_travel_beside_a_program() -> None:
    selector = Dataset.range(2)
    dataset = Dataset.choose_from_datasets([build(), build().concatenate(build())], selector)
    definition = define(dataset.operator)
    opened = open_program(definition)
    assert origins(opened) == origins(dataset.operator) == definition.origins
    restore_origins(opened, ())
    share = share_of(build().operator, ShardingPolicy.DATA, Share(2, 0))
    assert origins(share)[1:] == origins(build().operator)


def test_the_traceback_shows_the_users_frames_and_causes() -> None:
    def chained(x: Any) -> Any:
        try:
            return fails(x)
        except ValueError as error:
            raise KeyError("chained") from error

    iterator = Dataset.range(9).skip(3).map(chained).operator.iterator(Context())
    with pytest.raises(KeyError) as caught:
        iterator.next()
    text = user_traceback(caught.value)
    assert 'raise KeyError("chained")' in text
    assert "Caused by ValueError: no threes" in text
    assert 'raise ValueError("no threes")' in text
    assert "operator.py" not in text
