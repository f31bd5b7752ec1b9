"""Placeholders, random numbers, shapes and parts of tensors, and the order in which operations run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import numpy as np

from tfsvc.compat.v1.building import FLOAT32, INT32, convert_to_tensor, make, make_one, shape_of, together
from tfsvc.compat.v1.graph import Operation, Tensor, get_default_graph
from tfsvc.compat.v1.math import add, multiply
from tfsvc.specs import as_dtype


def placeholder(dtype: Any, shape: Any = None, name: str = "Placeholder") -> Tensor:
    """A tensor that every step must feed.

    Args:
      dtype: its data type.
      shape: with ``None`` for unknown dimensions; wholly unknown when not given.
      name: of the operation.
    """
    kind, known = as_dtype(dtype), shape_of(shape)
    tensor = make_one("Placeholder", (), kind, name, dtype=kind, shape=known)
    tensor.shape = known
    return tensor


def placeholder_with_default(input: Any, shape: Any, name: str = "PlaceholderWithDefault") -> Tensor:
    """A tensor that a step may feed, and that is ``input`` otherwise."""
    value, known = convert_to_tensor(input), shape_of(shape)
    tensor = make_one("PlaceholderWithDefault", (value,), value.dtype, name, dtype=value.dtype, shape=known)
    tensor.shape = known
    return tensor


def _vector(value: Any) -> Tensor:
    return value if isinstance(value, Tensor) else convert_to_tensor(np.asarray(value, np.int32))


def fill(dims: Any, value: Any, name: str | None = None) -> Tensor:
    """A tensor that holds ``value`` everywhere."""
    sizes, x = _vector(dims), convert_to_tensor(value)
    return make_one("Fill", (sizes, x), x.dtype, name, T=x.dtype, index_type=sizes.dtype)


def zeros(shape: Any, dtype: Any = FLOAT32, name: str | None = None) -> Tensor:
    """Zeros."""
    return fill(shape, as_dtype(dtype).numpy.type(0), name or "zeros")


def ones(shape: Any, dtype: Any = FLOAT32, name: str | None = None) -> Tensor:
    """Ones."""
    return fill(shape, as_dtype(dtype).numpy.type(1), name or "ones")


def zeros_like(x: Any, name: str | None = None) -> Tensor:
    """Zeros in the shape of ``x``."""
    x = convert_to_tensor(x)
    return make_one("ZerosLike", (x,), x.dtype, name, T=x.dtype)


def ones_like(x: Any, name: str | None = None) -> Tensor:
    """Ones in the shape of ``x``."""
    x = convert_to_tensor(x)
    return make_one("OnesLike", (x,), x.dtype, name, T=x.dtype)


def shape(input: Any, out_type: Any = INT32, name: str | None = None) -> Tensor:
    """The shape, as a vector."""
    x, kind = convert_to_tensor(input), as_dtype(out_type)
    return make_one("Shape", (x,), kind, name, T=x.dtype, out_type=kind)


def size(input: Any, out_type: Any = INT32, name: str | None = None) -> Tensor:
    """How many elements there are."""
    x, kind = convert_to_tensor(input), as_dtype(out_type)
    return make_one("Size", (x,), kind, name, T=x.dtype, out_type=kind)


def reshape(tensor: Any, shape: Any, name: str | None = None) -> Tensor:
    """The same elements in another shape; one dimension may be -1."""
    x, dims = convert_to_tensor(tensor), _vector(shape)
    return make_one("Reshape", (x, dims), x.dtype, name, T=x.dtype, Tshape=dims.dtype)


def transpose(a: Any, perm: Sequence[int] | None = None, name: str | None = None) -> Tensor:
    """Dimensions in another order, reversed when none is given.

    Raises:
      ValueError: if neither the order nor the rank is known.
    """
    x = convert_to_tensor(a)
    if perm is None:
        if x.shape is None:
            raise ValueError("The rank of the tensor is not known here; give `perm`.")
        perm = tuple(reversed(range(len(x.shape))))
    order = _vector(perm)
    return make_one("Transpose", (x, order), x.dtype, name, T=x.dtype, Tperm=order.dtype)


def expand_dims(input: Any, axis: int, name: str | None = None) -> Tensor:
    """With one more dimension of size 1."""
    x = convert_to_tensor(input)
    return make_one("ExpandDims", (x, _vector(axis)), x.dtype, name, T=x.dtype, Tdim=INT32)


def squeeze(input: Any, axis: Sequence[int] | int | None = None, name: str | None = None) -> Tensor:
    """Without dimensions of size 1, or without those that are named."""
    x = convert_to_tensor(input)
    axes = [] if axis is None else [axis] if isinstance(axis, int) else list(axis)
    return make_one("Squeeze", (x,), x.dtype, name, T=x.dtype, squeeze_dims=axes)


def concat(values: Sequence[Any], axis: int, name: str | None = None) -> Tensor:
    """Tensors one behind the other along a dimension."""
    found = together(values)
    inputs = (*found, _vector(axis))
    return make_one("ConcatV2", inputs, found[0].dtype, name or "concat", T=found[0].dtype, N=len(found), Tidx=INT32)


def stack(values: Sequence[Any], axis: int = 0, name: str | None = None) -> Tensor:
    """Tensors side by side along a new dimension."""
    found = together(values)
    return make_one("Pack", found, found[0].dtype, name or "stack", T=found[0].dtype, N=len(found), axis=axis)


def unstack(value: Any, num: int, axis: int = 0, name: str | None = None) -> list[Tensor]:
    """The ``num`` slices along a dimension."""
    x = convert_to_tensor(value)
    made = make("Unpack", (x,), (x.dtype,) * num, name or "unstack", T=x.dtype, num=num, axis=axis)
    return list(made.outputs)


def gather(params: Any, indices: Any, axis: int = 0, name: str | None = None) -> Tensor:
    """Slices of ``params`` at ``indices`` along a dimension."""
    x, at = convert_to_tensor(params), convert_to_tensor(indices)
    kinds = {"Tparams": x.dtype, "Tindices": at.dtype, "Taxis": INT32}
    return make_one("GatherV2", (x, at, _vector(axis)), x.dtype, name, **kinds)


def slice(input_: Any, begin: Any, size: Any, name: str | None = None) -> Tensor:
    """The part that begins at ``begin`` and has ``size``, where -1 is all that is left."""
    x = convert_to_tensor(input_)
    return make_one("Slice", (x, _vector(begin), _vector(size)), x.dtype, name, T=x.dtype, Index=INT32)


def tile(input: Any, multiples: Any, name: str | None = None) -> Tensor:
    """Repeated along each dimension."""
    x = convert_to_tensor(input)
    return make_one("Tile", (x, _vector(multiples)), x.dtype, name, T=x.dtype, Tmultiples=INT32)


def one_hot(indices: Any, depth: int, dtype: Any = FLOAT32, name: str | None = None) -> Tensor:
    """Rows that are 1 at an index and 0 elsewhere."""
    at, kind = convert_to_tensor(indices), as_dtype(dtype)
    on, off = convert_to_tensor(kind.numpy.type(1)), convert_to_tensor(kind.numpy.type(0))
    return make_one("OneHot", (at, _vector(depth), on, off), kind, name, T=kind, TI=at.dtype)


def _random(op: str, shape: Any, dtype: Any, seed: int | None, name: str | None) -> Tensor:
    sizes, kind = _vector(shape), as_dtype(dtype)
    return make_one(op, (sizes,), kind, name, dtype=kind, T=sizes.dtype, seed=seed or 0, seed2=0 if seed is None else 1)


def random_uniform(
    shape: Any, minval: Any = 0, maxval: Any = 1, dtype: Any = FLOAT32, seed: int | None = None, name: str | None = None
) -> Tensor:
    """Floats drawn evenly between two bounds, anew in every step."""
    drawn = _random("RandomUniform", shape, dtype, seed, name)
    return add(multiply(drawn, maxval - minval), minval)


def random_normal(
    shape: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: Any = FLOAT32,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Floats of a normal distribution, anew in every step."""
    return add(multiply(_random("RandomStandardNormal", shape, dtype, seed, name), stddev), mean)


# --- order ---


def no_op(name: str | None = None) -> Operation:
    """An operation that does nothing, after those that it depends on."""
    return make("NoOp", (), (), name)


def group(*inputs: Any, name: str = "group_deps") -> Operation:
    """An operation that has run when all ``inputs`` have."""
    flat = [each for part in inputs for each in (part if isinstance(part, list | tuple) else (part,))]
    with get_default_graph().control_dependencies(flat):
        return no_op(name)


def control_dependencies(inputs: Sequence[Any] | None) -> AbstractContextManager[None]:
    """Operations made within run after ``inputs``."""
    return get_default_graph().control_dependencies(inputs)


def device(name: str | None) -> AbstractContextManager[None]:
    """Operations made within are placed there, such as ``"/job:ps/task:0"``."""
    return get_default_graph().device(name)


def container(name: str) -> AbstractContextManager[None]:
    """Variables made within live in a container of that name."""
    return get_default_graph().container(name)


@contextmanager
def name_scope(name: str) -> Iterator[str]:
    """Names of operations made within begin with ``name`` and a slash."""
    with get_default_graph().name_scope(name) as scope:
        yield scope
