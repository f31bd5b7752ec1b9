"""``tf.function``: a Python function on NumPy arrays that knows the specs of its arguments."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from tfsvc import nest
from tfsvc.data.elements import conform
from tfsvc.eager.ops import convert_to_tensor, type_spec_from_value
from tfsvc.eager.symbolic import Symbolic, traced
from tfsvc.specs import TensorSpec


class _Unknown:
    """Stands for output specs that cannot be learned without a call."""

    def __repr__(self) -> str:
        return "UNKNOWN"


UNKNOWN: Final = _Unknown()


class ConcreteFunction:
    """A function for arguments of certain specs.

    Attributes:
      structured_input_signature: the specs of the positional arguments, and an empty dict.
    """

    def __init__(self, python_function: Callable[..., Any], signature: tuple[Any, ...]) -> None:
        self.python_function = python_function
        self.structured_input_signature = (signature, dict[str, Any]())
        self._outputs: Any = None

    @property
    def name(self) -> str:
        return getattr(self.python_function, "__name__", type(self.python_function).__name__)

    @property
    def streams(self) -> bool:
        """Whether it is a generator, whose results come one by one."""
        return inspect.isgeneratorfunction(inspect.unwrap(self.python_function))

    @property
    def structured_outputs(self) -> Any:
        """The nest of specs that it gives; ``UNKNOWN`` if only a call can tell.

        It is learned by one call with values that are not known, in which variables do not change.
        """
        if self._outputs is None:
            self._outputs = (self._learned(),)
        return self._outputs[0]

    def __call__(self, *args: Any) -> Any:
        return as_tensors(self.python_function(*_bound(self.name, args, self.structured_input_signature[0])))

    def _learned(self) -> Any:
        if self.streams:
            return UNKNOWN
        arguments = nest.map_structure(Symbolic, self.structured_input_signature[0])
        try:
            with traced():
                return nest.map_structure(_output_spec, self.python_function(*arguments))
        except Exception:
            # A call will meet the same error, if it is one, and tell it to the caller.
            return UNKNOWN


class Function:
    """What :func:`function` makes: calls like the Python function, with arguments and results as tensors.

    Attributes:
      python_function: the function itself.
      input_signature: the specs of its arguments; ``None`` if it takes any.
    """

    def __init__(self, python_function: Callable[..., Any], input_signature: Iterable[Any] | None = None) -> None:
        self.python_function = python_function
        self._given = None if input_signature is None else tuple(input_signature)
        self.input_signature = None if self._given is None else _named(python_function, self._given)
        self._concrete: ConcreteFunction | None = None
        self.__name__ = getattr(python_function, "__name__", type(python_function).__name__)
        self.__doc__ = python_function.__doc__
        self.__wrapped__ = python_function

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self.input_signature is not None:
            args, kwargs = _bound(self.__name__, self._positional(args, kwargs), self.input_signature), {}
        return as_tensors(self.python_function(*args, **kwargs))

    def get_concrete_function(self, *args: Any) -> ConcreteFunction:
        """The function for arguments of the specs, or of the specs of the values, that are given.

        Raises:
          ValueError: if it has neither an input signature nor such arguments, though it takes some.
        """
        if self.input_signature is not None and not args:
            if self._concrete is None:
                self._concrete = ConcreteFunction(self.python_function, self.input_signature)
            return self._concrete
        if not args and self.takes_arguments:
            raise ValueError(f"{self.__name__} has no input signature; give specs of its arguments")
        specs = nest.map_structure(type_spec_from_value, args)
        return ConcreteFunction(self.python_function, _named(self.python_function, specs))

    @property
    def takes_arguments(self) -> bool:
        """Whether it must be told what it is called with."""
        return bool(_parameters(self.python_function))

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return self
        return Function(types.MethodType(self.python_function, instance), self._given)

    def _positional(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> tuple[Any, ...]:
        if not kwargs:
            return args
        return inspect.signature(self.python_function).bind(*args, **kwargs).args


def function(func: Any = None, input_signature: Iterable[Any] | None = None, **_: Any) -> Any:
    """Makes a :class:`Function`; used plainly, or as a decorator with arguments.

    The function runs as it is, at each call, on NumPy arrays. Registered with a server it is called once beforehand
    with values that are not known, to learn the specs of its results: keep effects other than those on a
    ``tf.Variable`` behind a use of an argument's value, or give its ``output_specs``.

    Args:
      func: a Python function on arrays; a generator gives its results one by one.
      input_signature: the specs of its positional arguments, each a ``TensorSpec`` or a nest of them.
      **_: TensorFlow's options of its compiler, which change nothing here.

    Raises:
      TypeError: if ``input_signature`` has more entries than ``func`` parameters.
    """
    if func is None:
        return lambda found: Function(found, input_signature)
    return Function(func, input_signature)


def as_tensors(result: Any) -> Any:
    """A function's result with tensors as its leaves; ``None`` and generators stay."""
    if inspect.isgenerator(result):
        return result
    return nest.map_structure(lambda leaf: None if leaf is None else convert_to_tensor(leaf), result)


def _bound(name: str, args: tuple[Any, ...], signature: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arguments as tensors of the signature's specs."""
    try:
        if len(args) != len(signature):
            raise TypeError(f"{len(args)} arguments were given for {len(signature)}")
        return tuple(map(_bind, signature, args))
    except (TypeError, ValueError) as error:
        raise TypeError(f"Binding inputs to {name} failed due to `{error}`. Its signature is {signature}.") from error


def _bind(spec: Any, value: Any) -> Any:
    if isinstance(spec, TensorSpec):
        return _conformed(spec, value)
    nest.assert_same_structure(nest.map_structure(_nothing, spec), nest.map_structure(_nothing, value))
    return nest.rebuild(value, list(map(_bind, nest.children(spec), nest.children(value))))


def _nothing(_: Any) -> None:
    return None


def _conformed(spec: TensorSpec, value: Any) -> Any:
    if isinstance(value, Symbolic):
        return value
    if type(value) in (bool, int, float, complex, str, bytes, list):
        return conform(value, spec)
    tensor = convert_to_tensor(value, spec.dtype)
    if not spec.is_compatible_with(tensor):
        raise TypeError(f"{tensor!r} does not fit {spec}")
    return tensor


def _named(python_function: Callable[..., Any], signature: tuple[Any, ...]) -> tuple[Any, ...]:
    """The signature with the parameters' names in its specs, as TensorFlow lists them."""
    names = _parameters(python_function)
    if len(signature) > len(names) and names[-1:] != ["*"]:
        raise TypeError(f"input_signature has {len(signature)} entries, but {python_function} takes {len(names)}")
    names += [f"args_{i}" for i in range(len(names), len(signature))]
    return tuple(_with_name(spec, name) for spec, name in zip(signature, names, strict=False))


def _with_name(spec: Any, name: str) -> Any:
    if isinstance(spec, TensorSpec):
        return TensorSpec(spec.shape, spec.dtype, spec.name or name)
    if isinstance(spec, Mapping):
        return nest.rebuild(spec, [_with_name(spec[key], f"{name}_{key}") for key in sorted(spec)])
    return nest.rebuild(spec, [_with_name(child, name) for child in nest.children(spec)])


def _parameters(python_function: Callable[..., Any]) -> list[str]:
    found = []
    for parameter in inspect.signature(python_function).parameters.values():
        if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
            found.append(parameter.name)
        elif parameter.kind is parameter.VAR_POSITIONAL:
            found.append("*")
    return found


def _output_spec(leaf: Any) -> TensorSpec | None:
    return None if leaf is None else TensorSpec(type_spec_from_value(leaf).shape, type_spec_from_value(leaf).dtype)
