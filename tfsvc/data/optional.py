"""``tf.experimental.Optional``: an element that may not be there."""

from __future__ import annotations

from typing import Any

from tfsvc.data.elements import as_element, spec_of_element
from tfsvc.errors import InvalidArgumentError

_NOTHING = object()


class Optional:
    """An element, or none. Made by :meth:`from_value` and :meth:`empty`."""

    def __init__(self, value: Any, element_spec: Any) -> None:
        self._value = value
        self._element_spec = element_spec

    @staticmethod
    def from_value(value: Any) -> Optional:
        """One that has a value, a nest of tensors."""
        element = as_element(value)
        return Optional(element, spec_of_element(element))

    @staticmethod
    def empty(element_spec: Any) -> Optional:
        """One that has none, and would have one of ``element_spec``, a nest of specs."""
        return Optional(_NOTHING, element_spec)

    @property
    def element_spec(self) -> Any:
        """The nest of :class:`TensorSpec` of the value."""
        return self._element_spec

    def has_value(self, name: str | None = None) -> bool:
        """Whether there is a value."""
        return self._value is not _NOTHING

    def get_value(self, name: str | None = None) -> Any:
        """The value.

        Raises:
          InvalidArgumentError: if there is none.
        """
        if not self.has_value():
            raise InvalidArgumentError(message="The optional has no value; ask has_value() first.")
        return self._value

    def __repr__(self) -> str:
        return f"<Optional {self._value!r}>" if self.has_value() else "<Optional without a value>"
