"""What the functions of drawn pipelines are made of: the same calls on NumPy's arrays and on TensorFlow's tensors."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import ml_dtypes
import numpy as np

from tfsvc.errors import InvalidArgumentError

Point = namedtuple("Point", "x y")


class OnArrays:
    """The functions for ``tfsvc``."""

    def __init__(self, tf: Any) -> None:
        self._tf = tf

    def cast(self, x: Any, dtype: str) -> Any:
        return np.asarray(x).astype(dtype)[()]

    def size(self, x: Any) -> Any:
        return np.int32(np.size(x))

    def length(self, text: bytes) -> Any:
        return np.int32(len(text))

    def flat(self, x: Any) -> Any:
        return np.reshape(_array(x), -1)

    def twice(self, x: Any) -> Any:
        return np.stack([_array(x), _array(x)])

    def fill(self, count: Any, value: Any) -> Any:
        return np.full(int(count), value, _array(value).dtype)

    def unless(self, condition: Any, x: Any) -> Any:
        """``x``, or an error where the condition holds."""
        if condition:
            raise InvalidArgumentError(message="the condition holds")
        return x

    def options(self, deterministic: bool) -> Any:
        options = self._tf.data.Options()
        options.deterministic = deterministic
        return options


class OnTensors:
    """The functions for TensorFlow."""

    def __init__(self, tf: Any) -> None:
        self._tf = tf

    def cast(self, x: Any, dtype: str) -> Any:
        return self._tf.cast(x, dtype)

    def size(self, x: Any) -> Any:
        return self._tf.size(x)

    def length(self, text: Any) -> Any:
        return self._tf.strings.length(text)

    def flat(self, x: Any) -> Any:
        return self._tf.reshape(x, [-1])

    def twice(self, x: Any) -> Any:
        return self._tf.stack([x, x])

    def fill(self, count: Any, value: Any) -> Any:
        return self._tf.fill([count], value)

    def unless(self, condition: Any, x: Any) -> Any:
        """``x``, or an error where the condition holds."""
        with self._tf.control_dependencies([self._tf.debugging.Assert(~condition, ["the condition holds"])]):
            return self._tf.identity(x)

    def options(self, deterministic: bool) -> Any:
        options = self._tf.data.Options()
        options.deterministic = deterministic
        return options


def _array(x: Any) -> Any:
    return np.asarray(x, object if isinstance(x, bytes) else None)


def names(tf: Any) -> dict[str, Any]:
    """What the code of a pipeline may name, for ``tfsvc`` or ``tensorflow``."""
    functions = OnTensors(tf) if tf.__name__ == "tensorflow" else OnArrays(tf)
    return {"tf": tf, "np": np, "ml_dtypes": ml_dtypes, "f": functions, "Point": Point, "files": _of_files}


def _of_files(tf: Any, place: int) -> Any:
    """One of the datasets of files, for ``tfsvc`` alone."""
    from tests.properties.files import datasets_of_files

    found = datasets_of_files()
    return found[place % len(found)]
