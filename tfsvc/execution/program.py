"""A dataset's graph as bytes: what a client ships and a worker runs.

Whoever may ship one runs code on the workers, so only workers unpack, and only what came in a call that was let in
(``docs/security.md``). Functions of ``__main__`` and lambdas travel by
value; those of an importable module by name, so the workers need that module.
"""

from __future__ import annotations

import hashlib
import io
from dataclasses import replace
from typing import Any

import cloudpickle

from tfsvc.data.operator import Operator
from tfsvc.data.origins import origins, restore_origins
from tfsvc.data.pickler import Pickler
from tfsvc.errors import InvalidArgumentError, UnimplementedError
from tfsvc.execution.elsewhere import stands_for
from tfsvc.execution.tracing import kind_of, path_to, refusal
from tfsvc.protocol.messages import DatasetDef


def pack(operator: Operator) -> bytes:
    """The graph with all that its functions refer to.

    Raises:
      InvalidArgumentError: if that includes something bound to this process, such as a lock, a socket, an
        open file or a running generator; the message says which, by which path, and the way out.
    """
    buffer = io.BytesIO()
    pickler = _Pickler(buffer)
    try:
        pickler.dump(operator)
    except _RefusedError as refused:
        raise _explain(operator, refused.args[0], None) from None
    except Exception as error:
        raise _explain(operator, pickler.last, error) from error
    return buffer.getvalue()


def define(operator: Operator) -> DatasetDef:
    """The dataset as it is registered: its program and its splits, or why it has none.

    Raises:
      InvalidArgumentError: as :func:`pack`.
    """
    definition = DatasetDef(program=pack(operator), origins=origins(operator))
    try:
        return replace(definition, plans=operator.plans())
    except UnimplementedError as error:
        return replace(definition, unsplittable=error.message)


def open_program(dataset: DatasetDef) -> Operator:
    """The graph again, its operators marked with the lines that made them. Raises as :func:`unpack`."""
    operator = unpack(dataset.program)
    restore_origins(operator, dataset.origins)
    return operator


def unpack(program: bytes) -> Operator:
    """The graph again. It runs code of whoever packed it, so only workers call it.

    Raises:
      InvalidArgumentError: if the bytes hold no graph, or need a module that is not installed here.
    """
    if not program:
        raise InvalidArgumentError(
            message="the dataset is one of TensorFlow's, which no worker of tfsvc can run; start one of TensorFlow's"
        )
    try:
        operator = cloudpickle.loads(program)
    except ModuleNotFoundError as error:
        raise InvalidArgumentError(
            message=f"the dataset uses the module {error.name!r}, which this worker does not have; "
            "install it there, or ship it with cloudpickle.register_pickle_by_value"
        ) from error
    except Exception as error:
        raise InvalidArgumentError(message=f"the dataset cannot be read: {type(error).__name__}: {error}") from error
    if not isinstance(operator, Operator):
        raise InvalidArgumentError(message=f"expected a dataset's graph but got a {type(operator).__name__}")
    return operator


def fingerprint(program: bytes) -> str:
    """A name for the exact bytes: 64 hexadecimal digits.

    The same script gives the same bytes in every process of one Python version, unless a function refers
    to a set of strings, whose order is the process's own.
    """
    return hashlib.sha256(program).hexdigest()


class _RefusedError(Exception):
    """Stops the pickler at an object that must not be shipped."""


class _Pickler(Pickler):
    """Remembers what it is at, so that a failure can be traced to the object behind it."""

    last: Any = None

    def reducer_override(self, obj: Any) -> Any:
        self.last = obj
        # cloudpickle would ship the text of an open file and lose its place.
        if refusal(obj) is not None:
            raise _RefusedError(obj)
        elsewhere = stands_for(obj)
        if elsewhere is not None:
            return elsewhere
        return super().reducer_override(obj)


def _explain(operator: Operator, culprit: Any, error: Exception | None) -> InvalidArgumentError:
    path = path_to(operator, culprit) or "dataset"
    advice = refusal(culprit) or "create it inside the function, or hand over what it is made from"
    reason = "" if error is None else f" ({type(error).__name__}: {error})"
    return InvalidArgumentError(
        message=f"The dataset cannot be shipped to workers: {path} -> {kind_of(culprit)}: {advice}{reason}"
    )
