"""tfsvc: TensorFlow's distributed services without TensorFlow.

``import tfsvc as tf`` gives the names that TensorFlow's documents of these services use.
"""

from tfsvc import data  # isort: skip  (what follows stands on it)
from tfsvc import compat, distribute, errors, math, nest, random, train, trainers
from tfsvc.eager.functions import function
from tfsvc.eager.ops import (
    abs,
    add,
    cast,
    constant,
    convert_to_tensor,
    divide,
    equal,
    exp,
    greater,
    less,
    matmul,
    maximum,
    minimum,
    multiply,
    negative,
    reduce_max,
    reduce_mean,
    reduce_min,
    reduce_sum,
    sqrt,
    square,
    subtract,
    type_spec_from_value,
)
from tfsvc.eager.variables import Variable
from tfsvc.specs import DTYPES, DType, TensorSpec, as_dtype

__version__ = "0.1.0"

float16 = DTYPES["float16"]
float32 = DTYPES["float32"]
float64 = DTYPES["float64"]
bfloat16 = DTYPES["bfloat16"]
int8 = DTYPES["int8"]
int16 = DTYPES["int16"]
int32 = DTYPES["int32"]
int64 = DTYPES["int64"]
uint8 = DTYPES["uint8"]
uint16 = DTYPES["uint16"]
uint32 = DTYPES["uint32"]
uint64 = DTYPES["uint64"]
int4 = DTYPES["int4"]
uint4 = DTYPES["uint4"]
complex64 = DTYPES["complex64"]
complex128 = DTYPES["complex128"]
string = DTYPES["string"]
float8_e5m2 = DTYPES["float8_e5m2"]
float8_e4m3fn = DTYPES["float8_e4m3fn"]
float8_e4m3fnuz = DTYPES["float8_e4m3fnuz"]
float8_e4m3b11fnuz = DTYPES["float8_e4m3b11fnuz"]
float8_e5m2fnuz = DTYPES["float8_e5m2fnuz"]
bool = DTYPES["bool"]
half = float16
double = float64

__all__ = [
    "DType",
    "TensorSpec",
    "Variable",
    "__version__",
    "abs",
    "add",
    "as_dtype",
    "bfloat16",
    "bool",
    "cast",
    "compat",
    "complex64",
    "complex128",
    "constant",
    "convert_to_tensor",
    "data",
    "distribute",
    "divide",
    "double",
    "equal",
    "errors",
    "exp",
    "float8_e4m3b11fnuz",
    "float8_e4m3fn",
    "float8_e4m3fnuz",
    "float8_e5m2",
    "float8_e5m2fnuz",
    "float16",
    "float32",
    "float64",
    "function",
    "greater",
    "half",
    "int4",
    "int8",
    "int16",
    "int32",
    "int64",
    "less",
    "math",
    "matmul",
    "maximum",
    "minimum",
    "multiply",
    "negative",
    "nest",
    "random",
    "reduce_max",
    "reduce_mean",
    "reduce_min",
    "reduce_sum",
    "sqrt",
    "square",
    "string",
    "subtract",
    "train",
    "trainers",
    "type_spec_from_value",
    "uint4",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
]
