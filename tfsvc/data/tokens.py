"""Resume tokens: where an iterator stands, as a small dictionary for the trainer's own checkpoint.

A token says of which dataset it is, and is refused by another. What it holds is data: nothing in it can name code
to be run, whoever wrote it.
"""

from __future__ import annotations

import base64
import binascii
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from tfsvc.data import states
from tfsvc.data.describing import describe, difference
from tfsvc.data.operator import Operator
from tfsvc.errors import InvalidArgumentError

VERSION: Final = 1


@dataclass(frozen=True)
class Position:
    """A part of a state that says where a shared stream stands, and that can be merged with other consumers'."""

    def merge(self, others: Sequence[Any]) -> Position:
        """The position of one who reads what all of them read.

        Raises:
          InvalidArgumentError: if they are not the parts of one whole.
        """
        raise NotImplementedError


def make(operator: Operator, state: Any) -> dict[str, Any]:
    """The token of a state of the operator's iterator; it can be written as JSON.

    Raises:
      InvalidArgumentError: if the state holds what no token may.
    """
    packed = zlib.compress(states.dumps(state))
    return {"tfsvc": VERSION, "dataset": list(describe(operator)), "state": base64.b64encode(packed).decode()}


def read(operator: Operator, token: Any) -> Any:
    """The state in a token.

    Raises:
      InvalidArgumentError: if it is no token, or one of another dataset; the message names the difference.
    """
    if not isinstance(token, Mapping) or not {"tfsvc", "dataset", "state"} <= token.keys():
        raise InvalidArgumentError(message=f"This is no state_dict() of a dataset's iterator: {_short(token)}")
    if token["tfsvc"] != VERSION:
        raise InvalidArgumentError(
            message=f"The state is of version {token['tfsvc']!r}, and this library reads version {VERSION}."
        )
    found = difference(tuple(token["dataset"]), describe(operator))
    if found:
        raise InvalidArgumentError(
            message=f"The state is of another dataset: {found}. Resume with the dataset that it was made of."
        )
    try:
        written = zlib.decompress(base64.b64decode(token["state"], validate=True))
    except (binascii.Error, zlib.error, ValueError, TypeError) as error:
        raise InvalidArgumentError(message=f"The state is damaged: {type(error).__name__}: {error}") from error
    return states.loads(written)


def merge(parts: Sequence[Any], fresh: Any) -> Any:
    """The state of one iterator that takes over from those of several consumers.

    Args:
      parts: theirs; they may differ from a fresh one only in positions.
      fresh: of an iterator that has given nothing yet.

    Raises:
      InvalidArgumentError: if some iterator holds elements, which would be lost, or the positions do not fit.
    """
    blank = _replace(fresh, lambda _: None)
    for number, state in enumerate(parts):
        if states.dumps(_replace(state, lambda _: None)) != states.dumps(blank):
            raise InvalidArgumentError(
                message=f"State {number} holds more than positions: an operator behind `distribute` keeps elements or "
                "counts, which several consumers cannot hand to another number of them. Let such operators (shuffle, "
                "enumerate, take, ...) run before `distribute`."
            )
    found: list[list[Position]] = [[] for _ in parts]
    for state, positions in zip(parts, found, strict=True):
        _replace(state, positions.append)
    merged = iter([first.merge(others) for first, *others in zip(*found, strict=True)])
    return _replace(parts[0], lambda _: next(merged))


def _replace(state: Any, new: Callable[[Position], Any]) -> Any:
    """The state with every position replaced."""
    if isinstance(state, Position):
        return new(state)
    if type(state) in (tuple, list):
        return type(state)(_replace(item, new) for item in state)
    if type(state) is dict:
        return {key: _replace(item, new) for key, item in state.items()}
    return state


def _short(token: Any) -> str:
    text = repr(token)
    return text if len(text) <= 80 else f"{text[:77]}..."
