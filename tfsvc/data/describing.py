"""A dataset in words, one operator a line: by which a resume token knows the dataset again that it was made of.

What an operator is built with is told, not how its functions are written: a function may be mended between two runs.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any, Final
from zlib import crc32

import numpy as np

from tfsvc.data.functions import Wrapper
from tfsvc.data.operator import Operator
from tfsvc.specs import DType

VALUE_MAX: Final = 60
"""A longer value is told by its checksum."""


def describe(operator: Operator) -> tuple[str, ...]:
    """The operators from the sources to the last one, each with what it was built with."""
    told_elsewhere = operator.told_elsewhere()
    if told_elsewhere is not None:
        return (*told_elsewhere, f"{operator.name}()")
    lines = [line for below in operator.inputs for line in describe(below)]
    known = {id(below) for below in operator.inputs}
    told = []
    for field in fields(operator):
        value = getattr(operator, field.name)
        if id(value) in known or (isinstance(value, tuple) and value and all(id(item) in known for item in value)):
            continue
        told.append(f"{field.name}={_tell(value)}")
    return (*lines, f"{operator.name}({', '.join(told)})")


def difference(there: tuple[str, ...], here: tuple[str, ...]) -> str:
    """The first thing that differs between two descriptions, or ``""``."""
    for one, other in zip(there, here, strict=False):
        if one != other:
            return f"{one} there, {other} here"
    if len(there) != len(here):
        longer, where = (there, "there") if len(there) > len(here) else (here, "here")
        return f"{longer[min(len(there), len(here))]} only {where}"
    return ""


def _tell(value: Any) -> str:
    if isinstance(value, (bool, int, float, str, bytes, type(None), DType)):
        text = repr(value)
    elif isinstance(value, (np.ndarray, np.generic)):
        return _tell_array(np.asarray(value))
    elif isinstance(value, dict):
        text = "{" + ", ".join(f"{key!r}: {_tell(item)}" for key, item in value.items()) + "}"
    elif isinstance(value, (tuple, list)):
        text = "(" + ", ".join(map(_tell, value)) + ")"
    elif isinstance(value, Operator):
        text = " > ".join(describe(value))
    elif isinstance(value, Wrapper):
        text = f"{type(value).__name__}({', '.join(_tell(getattr(value, field.name)) for field in fields(value))})"
    elif callable(value):
        text = str(getattr(value, "__qualname__", type(value).__qualname__))
    else:
        text = type(value).__name__
    return text if len(text) <= VALUE_MAX else f"{text[:20]}...#{crc32(text.encode()):08x}"


def _tell_array(array: Any) -> str:
    if array.size == 1 and array.dtype != object:
        return repr(array.ravel()[0].item())
    if array.dtype == object:
        checksum = crc32(b"\0".join(str(item).encode() for item in array.ravel().tolist()))
    else:
        checksum = crc32(np.ascontiguousarray(array).tobytes())
    return f"{array.dtype.name}{list(array.shape)}#{checksum:08x}"
