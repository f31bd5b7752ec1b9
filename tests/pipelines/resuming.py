"""Whether a pass that was cut anywhere goes on elsewhere with the same rest."""

from __future__ import annotations

import json
import warnings
from typing import Any

import tfsvc
from tests.pipelines.elements import plain
from tests.pipelines.pipeline import Pipeline

CUTS = 12
"""Elements behind each of which a pass is cut, and up to which it is read."""


def lost_at_cuts(pipeline: Pipeline) -> dict[int, tuple[list[Any], list[Any]]]:
    """For each cut behind which another iterator gives another rest: what it gave, and what it should have given.

    The other iterator is one of a dataset that is built anew, as in another process, and gets the first one's
    ``state_dict`` by way of JSON. The name of an error stands for an element that fails, or for the whole rest.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        iterator = iter(pipeline.build(tfsvc))
        states, expected = [_state(iterator)], []
        while len(expected) < CUTS and (event := _events(iterator, 1)):
            expected += event
            states.append(_state(iterator))
        rests = [_rest(pipeline, state, CUTS - cut) for cut, state in enumerate(states)]
    return {cut: (rest, expected[cut:]) for cut, rest in enumerate(rests) if rest != expected[cut:]}


def _state(iterator: Any) -> str:
    try:
        return json.dumps(iterator.state_dict())
    except Exception as error:
        return json.dumps(f"no state: {error}")


def _rest(pipeline: Pipeline, state: str, limit: int) -> list[Any]:
    iterator = iter(pipeline.build(tfsvc))
    try:
        iterator.load_state_dict(json.loads(state))
    except Exception as error:
        return [f"not resumed: {error}"]
    return _events(iterator, limit)


def _events(iterator: Any, limit: int) -> list[Any]:
    found: list[Any] = []
    while len(found) < limit:
        try:
            found.append(plain(next(iterator)))
        except StopIteration:
            break
        except Exception as error:
            found.append(type(error).__name__)
    return found
