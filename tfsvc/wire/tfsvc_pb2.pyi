from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class DataType(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    DT_INVALID: _ClassVar[DataType]
    DT_FLOAT: _ClassVar[DataType]
    DT_DOUBLE: _ClassVar[DataType]
    DT_INT32: _ClassVar[DataType]
    DT_UINT8: _ClassVar[DataType]
    DT_INT16: _ClassVar[DataType]
    DT_INT8: _ClassVar[DataType]
    DT_STRING: _ClassVar[DataType]
    DT_COMPLEX64: _ClassVar[DataType]
    DT_INT64: _ClassVar[DataType]
    DT_BOOL: _ClassVar[DataType]
    DT_QINT8: _ClassVar[DataType]
    DT_QUINT8: _ClassVar[DataType]
    DT_QINT32: _ClassVar[DataType]
    DT_BFLOAT16: _ClassVar[DataType]
    DT_QINT16: _ClassVar[DataType]
    DT_QUINT16: _ClassVar[DataType]
    DT_UINT16: _ClassVar[DataType]
    DT_COMPLEX128: _ClassVar[DataType]
    DT_HALF: _ClassVar[DataType]
    DT_RESOURCE: _ClassVar[DataType]
    DT_VARIANT: _ClassVar[DataType]
    DT_UINT32: _ClassVar[DataType]
    DT_UINT64: _ClassVar[DataType]
    DT_FLOAT8_E5M2: _ClassVar[DataType]
    DT_FLOAT8_E4M3FN: _ClassVar[DataType]
    DT_FLOAT8_E4M3FNUZ: _ClassVar[DataType]
    DT_FLOAT8_E4M3B11FNUZ: _ClassVar[DataType]
    DT_FLOAT8_E5M2FNUZ: _ClassVar[DataType]
    DT_INT4: _ClassVar[DataType]
    DT_UINT4: _ClassVar[DataType]
    DT_INT2: _ClassVar[DataType]
    DT_UINT2: _ClassVar[DataType]
    DT_FLOAT4_E2M1FN: _ClassVar[DataType]

class Code(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    OK: _ClassVar[Code]
    CANCELLED: _ClassVar[Code]
    UNKNOWN: _ClassVar[Code]
    INVALID_ARGUMENT: _ClassVar[Code]
    DEADLINE_EXCEEDED: _ClassVar[Code]
    NOT_FOUND: _ClassVar[Code]
    ALREADY_EXISTS: _ClassVar[Code]
    PERMISSION_DENIED: _ClassVar[Code]
    UNAUTHENTICATED: _ClassVar[Code]
    RESOURCE_EXHAUSTED: _ClassVar[Code]
    FAILED_PRECONDITION: _ClassVar[Code]
    ABORTED: _ClassVar[Code]
    OUT_OF_RANGE: _ClassVar[Code]
    UNIMPLEMENTED: _ClassVar[Code]
    INTERNAL: _ClassVar[Code]
    UNAVAILABLE: _ClassVar[Code]
    DATA_LOSS: _ClassVar[Code]

class DeploymentMode(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    DEPLOYMENT_MODE_UNSPECIFIED: _ClassVar[DeploymentMode]
    DEPLOYMENT_MODE_COLOCATED: _ClassVar[DeploymentMode]
    DEPLOYMENT_MODE_REMOTE: _ClassVar[DeploymentMode]
    DEPLOYMENT_MODE_HYBRID: _ClassVar[DeploymentMode]

class TargetWorkers(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    TARGET_WORKERS_UNSPECIFIED: _ClassVar[TargetWorkers]
    TARGET_WORKERS_AUTO: _ClassVar[TargetWorkers]
    TARGET_WORKERS_ANY: _ClassVar[TargetWorkers]
    TARGET_WORKERS_LOCAL: _ClassVar[TargetWorkers]
DT_INVALID: DataType
DT_FLOAT: DataType
DT_DOUBLE: DataType
DT_INT32: DataType
DT_UINT8: DataType
DT_INT16: DataType
DT_INT8: DataType
DT_STRING: DataType
DT_COMPLEX64: DataType
DT_INT64: DataType
DT_BOOL: DataType
DT_QINT8: DataType
DT_QUINT8: DataType
DT_QINT32: DataType
DT_BFLOAT16: DataType
DT_QINT16: DataType
DT_QUINT16: DataType
DT_UINT16: DataType
DT_COMPLEX128: DataType
DT_HALF: DataType
DT_RESOURCE: DataType
DT_VARIANT: DataType
DT_UINT32: DataType
DT_UINT64: DataType
DT_FLOAT8_E5M2: DataType
DT_FLOAT8_E4M3FN: DataType
DT_FLOAT8_E4M3FNUZ: DataType
DT_FLOAT8_E4M3B11FNUZ: DataType
DT_FLOAT8_E5M2FNUZ: DataType
DT_INT4: DataType
DT_UINT4: DataType
DT_INT2: DataType
DT_UINT2: DataType
DT_FLOAT4_E2M1FN: DataType
OK: Code
CANCELLED: Code
UNKNOWN: Code
INVALID_ARGUMENT: Code
DEADLINE_EXCEEDED: Code
NOT_FOUND: Code
ALREADY_EXISTS: Code
PERMISSION_DENIED: Code
UNAUTHENTICATED: Code
RESOURCE_EXHAUSTED: Code
FAILED_PRECONDITION: Code
ABORTED: Code
OUT_OF_RANGE: Code
UNIMPLEMENTED: Code
INTERNAL: Code
UNAVAILABLE: Code
DATA_LOSS: Code
DEPLOYMENT_MODE_UNSPECIFIED: DeploymentMode
DEPLOYMENT_MODE_COLOCATED: DeploymentMode
DEPLOYMENT_MODE_REMOTE: DeploymentMode
DEPLOYMENT_MODE_HYBRID: DeploymentMode
TARGET_WORKERS_UNSPECIFIED: TargetWorkers
TARGET_WORKERS_AUTO: TargetWorkers
TARGET_WORKERS_ANY: TargetWorkers
TARGET_WORKERS_LOCAL: TargetWorkers

class TensorShapeProto(_message.Message):
    __slots__ = ("dim", "unknown_rank")
    class Dim(_message.Message):
        __slots__ = ("size", "name")
        SIZE_FIELD_NUMBER: _ClassVar[int]
        NAME_FIELD_NUMBER: _ClassVar[int]
        size: int
        name: str
        def __init__(self, size: _Optional[int] = ..., name: _Optional[str] = ...) -> None: ...
    DIM_FIELD_NUMBER: _ClassVar[int]
    UNKNOWN_RANK_FIELD_NUMBER: _ClassVar[int]
    dim: _containers.RepeatedCompositeFieldContainer[TensorShapeProto.Dim]
    unknown_rank: bool
    def __init__(self, dim: _Optional[_Iterable[_Union[TensorShapeProto.Dim, _Mapping]]] = ..., unknown_rank: bool = ...) -> None: ...

class ResourceHandleProto(_message.Message):
    __slots__ = ("device", "container", "name", "hash_code", "maybe_type_name", "dtypes_and_shapes")
    class DtypeAndShape(_message.Message):
        __slots__ = ("dtype", "shape")
        DTYPE_FIELD_NUMBER: _ClassVar[int]
        SHAPE_FIELD_NUMBER: _ClassVar[int]
        dtype: DataType
        shape: TensorShapeProto
        def __init__(self, dtype: _Optional[_Union[DataType, str]] = ..., shape: _Optional[_Union[TensorShapeProto, _Mapping]] = ...) -> None: ...
    DEVICE_FIELD_NUMBER: _ClassVar[int]
    CONTAINER_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    HASH_CODE_FIELD_NUMBER: _ClassVar[int]
    MAYBE_TYPE_NAME_FIELD_NUMBER: _ClassVar[int]
    DTYPES_AND_SHAPES_FIELD_NUMBER: _ClassVar[int]
    device: str
    container: str
    name: str
    hash_code: int
    maybe_type_name: str
    dtypes_and_shapes: _containers.RepeatedCompositeFieldContainer[ResourceHandleProto.DtypeAndShape]
    def __init__(self, device: _Optional[str] = ..., container: _Optional[str] = ..., name: _Optional[str] = ..., hash_code: _Optional[int] = ..., maybe_type_name: _Optional[str] = ..., dtypes_and_shapes: _Optional[_Iterable[_Union[ResourceHandleProto.DtypeAndShape, _Mapping]]] = ...) -> None: ...

class TensorProto(_message.Message):
    __slots__ = ("dtype", "tensor_shape", "version_number", "tensor_content", "half_val", "float_val", "double_val", "int_val", "string_val", "scomplex_val", "int64_val", "bool_val", "dcomplex_val", "resource_handle_val", "variant_val", "uint32_val", "uint64_val", "float8_val")
    DTYPE_FIELD_NUMBER: _ClassVar[int]
    TENSOR_SHAPE_FIELD_NUMBER: _ClassVar[int]
    VERSION_NUMBER_FIELD_NUMBER: _ClassVar[int]
    TENSOR_CONTENT_FIELD_NUMBER: _ClassVar[int]
    HALF_VAL_FIELD_NUMBER: _ClassVar[int]
    FLOAT_VAL_FIELD_NUMBER: _ClassVar[int]
    DOUBLE_VAL_FIELD_NUMBER: _ClassVar[int]
    INT_VAL_FIELD_NUMBER: _ClassVar[int]
    STRING_VAL_FIELD_NUMBER: _ClassVar[int]
    SCOMPLEX_VAL_FIELD_NUMBER: _ClassVar[int]
    INT64_VAL_FIELD_NUMBER: _ClassVar[int]
    BOOL_VAL_FIELD_NUMBER: _ClassVar[int]
    DCOMPLEX_VAL_FIELD_NUMBER: _ClassVar[int]
    RESOURCE_HANDLE_VAL_FIELD_NUMBER: _ClassVar[int]
    VARIANT_VAL_FIELD_NUMBER: _ClassVar[int]
    UINT32_VAL_FIELD_NUMBER: _ClassVar[int]
    UINT64_VAL_FIELD_NUMBER: _ClassVar[int]
    FLOAT8_VAL_FIELD_NUMBER: _ClassVar[int]
    dtype: DataType
    tensor_shape: TensorShapeProto
    version_number: int
    tensor_content: bytes
    half_val: _containers.RepeatedScalarFieldContainer[int]
    float_val: _containers.RepeatedScalarFieldContainer[float]
    double_val: _containers.RepeatedScalarFieldContainer[float]
    int_val: _containers.RepeatedScalarFieldContainer[int]
    string_val: _containers.RepeatedScalarFieldContainer[bytes]
    scomplex_val: _containers.RepeatedScalarFieldContainer[float]
    int64_val: _containers.RepeatedScalarFieldContainer[int]
    bool_val: _containers.RepeatedScalarFieldContainer[bool]
    dcomplex_val: _containers.RepeatedScalarFieldContainer[float]
    resource_handle_val: _containers.RepeatedCompositeFieldContainer[ResourceHandleProto]
    variant_val: _containers.RepeatedCompositeFieldContainer[VariantTensorDataProto]
    uint32_val: _containers.RepeatedScalarFieldContainer[int]
    uint64_val: _containers.RepeatedScalarFieldContainer[int]
    float8_val: bytes
    def __init__(self, dtype: _Optional[_Union[DataType, str]] = ..., tensor_shape: _Optional[_Union[TensorShapeProto, _Mapping]] = ..., version_number: _Optional[int] = ..., tensor_content: _Optional[bytes] = ..., half_val: _Optional[_Iterable[int]] = ..., float_val: _Optional[_Iterable[float]] = ..., double_val: _Optional[_Iterable[float]] = ..., int_val: _Optional[_Iterable[int]] = ..., string_val: _Optional[_Iterable[bytes]] = ..., scomplex_val: _Optional[_Iterable[float]] = ..., int64_val: _Optional[_Iterable[int]] = ..., bool_val: _Optional[_Iterable[bool]] = ..., dcomplex_val: _Optional[_Iterable[float]] = ..., resource_handle_val: _Optional[_Iterable[_Union[ResourceHandleProto, _Mapping]]] = ..., variant_val: _Optional[_Iterable[_Union[VariantTensorDataProto, _Mapping]]] = ..., uint32_val: _Optional[_Iterable[int]] = ..., uint64_val: _Optional[_Iterable[int]] = ..., float8_val: _Optional[bytes] = ...) -> None: ...

class VariantTensorDataProto(_message.Message):
    __slots__ = ("type_name", "metadata", "tensors")
    TYPE_NAME_FIELD_NUMBER: _ClassVar[int]
    METADATA_FIELD_NUMBER: _ClassVar[int]
    TENSORS_FIELD_NUMBER: _ClassVar[int]
    type_name: str
    metadata: bytes
    tensors: _containers.RepeatedCompositeFieldContainer[TensorProto]
    def __init__(self, type_name: _Optional[str] = ..., metadata: _Optional[bytes] = ..., tensors: _Optional[_Iterable[_Union[TensorProto, _Mapping]]] = ...) -> None: ...

class NamedTensorProto(_message.Message):
    __slots__ = ("name", "tensor")
    NAME_FIELD_NUMBER: _ClassVar[int]
    TENSOR_FIELD_NUMBER: _ClassVar[int]
    name: str
    tensor: TensorProto
    def __init__(self, name: _Optional[str] = ..., tensor: _Optional[_Union[TensorProto, _Mapping]] = ...) -> None: ...

class StatusProto(_message.Message):
    __slots__ = ("code", "message", "payload")
    class PayloadEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: bytes
        def __init__(self, key: _Optional[str] = ..., value: _Optional[bytes] = ...) -> None: ...
    CODE_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    PAYLOAD_FIELD_NUMBER: _ClassVar[int]
    code: Code
    message: str
    payload: _containers.ScalarMap[str, bytes]
    def __init__(self, code: _Optional[_Union[Code, str]] = ..., message: _Optional[str] = ..., payload: _Optional[_Mapping[str, bytes]] = ...) -> None: ...

class StructuredValue(_message.Message):
    __slots__ = ("none_value", "float64_value", "int64_value", "string_value", "bool_value", "tensor_shape_value", "tensor_dtype_value", "tensor_spec_value", "type_spec_value", "bounded_tensor_spec_value", "list_value", "tuple_value", "dict_value", "named_tuple_value", "tensor_value", "numpy_value")
    NONE_VALUE_FIELD_NUMBER: _ClassVar[int]
    FLOAT64_VALUE_FIELD_NUMBER: _ClassVar[int]
    INT64_VALUE_FIELD_NUMBER: _ClassVar[int]
    STRING_VALUE_FIELD_NUMBER: _ClassVar[int]
    BOOL_VALUE_FIELD_NUMBER: _ClassVar[int]
    TENSOR_SHAPE_VALUE_FIELD_NUMBER: _ClassVar[int]
    TENSOR_DTYPE_VALUE_FIELD_NUMBER: _ClassVar[int]
    TENSOR_SPEC_VALUE_FIELD_NUMBER: _ClassVar[int]
    TYPE_SPEC_VALUE_FIELD_NUMBER: _ClassVar[int]
    BOUNDED_TENSOR_SPEC_VALUE_FIELD_NUMBER: _ClassVar[int]
    LIST_VALUE_FIELD_NUMBER: _ClassVar[int]
    TUPLE_VALUE_FIELD_NUMBER: _ClassVar[int]
    DICT_VALUE_FIELD_NUMBER: _ClassVar[int]
    NAMED_TUPLE_VALUE_FIELD_NUMBER: _ClassVar[int]
    TENSOR_VALUE_FIELD_NUMBER: _ClassVar[int]
    NUMPY_VALUE_FIELD_NUMBER: _ClassVar[int]
    none_value: NoneValue
    float64_value: float
    int64_value: int
    string_value: str
    bool_value: bool
    tensor_shape_value: TensorShapeProto
    tensor_dtype_value: DataType
    tensor_spec_value: TensorSpecProto
    type_spec_value: TypeSpecProto
    bounded_tensor_spec_value: BoundedTensorSpecProto
    list_value: ListValue
    tuple_value: TupleValue
    dict_value: DictValue
    named_tuple_value: NamedTupleValue
    tensor_value: TensorProto
    numpy_value: TensorProto
    def __init__(self, none_value: _Optional[_Union[NoneValue, _Mapping]] = ..., float64_value: _Optional[float] = ..., int64_value: _Optional[int] = ..., string_value: _Optional[str] = ..., bool_value: bool = ..., tensor_shape_value: _Optional[_Union[TensorShapeProto, _Mapping]] = ..., tensor_dtype_value: _Optional[_Union[DataType, str]] = ..., tensor_spec_value: _Optional[_Union[TensorSpecProto, _Mapping]] = ..., type_spec_value: _Optional[_Union[TypeSpecProto, _Mapping]] = ..., bounded_tensor_spec_value: _Optional[_Union[BoundedTensorSpecProto, _Mapping]] = ..., list_value: _Optional[_Union[ListValue, _Mapping]] = ..., tuple_value: _Optional[_Union[TupleValue, _Mapping]] = ..., dict_value: _Optional[_Union[DictValue, _Mapping]] = ..., named_tuple_value: _Optional[_Union[NamedTupleValue, _Mapping]] = ..., tensor_value: _Optional[_Union[TensorProto, _Mapping]] = ..., numpy_value: _Optional[_Union[TensorProto, _Mapping]] = ...) -> None: ...

class NoneValue(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ListValue(_message.Message):
    __slots__ = ("values",)
    VALUES_FIELD_NUMBER: _ClassVar[int]
    values: _containers.RepeatedCompositeFieldContainer[StructuredValue]
    def __init__(self, values: _Optional[_Iterable[_Union[StructuredValue, _Mapping]]] = ...) -> None: ...

class TupleValue(_message.Message):
    __slots__ = ("values",)
    VALUES_FIELD_NUMBER: _ClassVar[int]
    values: _containers.RepeatedCompositeFieldContainer[StructuredValue]
    def __init__(self, values: _Optional[_Iterable[_Union[StructuredValue, _Mapping]]] = ...) -> None: ...

class DictValue(_message.Message):
    __slots__ = ("fields",)
    class FieldsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: StructuredValue
        def __init__(self, key: _Optional[str] = ..., value: _Optional[_Union[StructuredValue, _Mapping]] = ...) -> None: ...
    FIELDS_FIELD_NUMBER: _ClassVar[int]
    fields: _containers.MessageMap[str, StructuredValue]
    def __init__(self, fields: _Optional[_Mapping[str, StructuredValue]] = ...) -> None: ...

class PairValue(_message.Message):
    __slots__ = ("key", "value")
    KEY_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    key: str
    value: StructuredValue
    def __init__(self, key: _Optional[str] = ..., value: _Optional[_Union[StructuredValue, _Mapping]] = ...) -> None: ...

class NamedTupleValue(_message.Message):
    __slots__ = ("name", "values")
    NAME_FIELD_NUMBER: _ClassVar[int]
    VALUES_FIELD_NUMBER: _ClassVar[int]
    name: str
    values: _containers.RepeatedCompositeFieldContainer[PairValue]
    def __init__(self, name: _Optional[str] = ..., values: _Optional[_Iterable[_Union[PairValue, _Mapping]]] = ...) -> None: ...

class TensorSpecProto(_message.Message):
    __slots__ = ("name", "shape", "dtype")
    NAME_FIELD_NUMBER: _ClassVar[int]
    SHAPE_FIELD_NUMBER: _ClassVar[int]
    DTYPE_FIELD_NUMBER: _ClassVar[int]
    name: str
    shape: TensorShapeProto
    dtype: DataType
    def __init__(self, name: _Optional[str] = ..., shape: _Optional[_Union[TensorShapeProto, _Mapping]] = ..., dtype: _Optional[_Union[DataType, str]] = ...) -> None: ...

class BoundedTensorSpecProto(_message.Message):
    __slots__ = ("name", "shape", "dtype", "minimum", "maximum")
    NAME_FIELD_NUMBER: _ClassVar[int]
    SHAPE_FIELD_NUMBER: _ClassVar[int]
    DTYPE_FIELD_NUMBER: _ClassVar[int]
    MINIMUM_FIELD_NUMBER: _ClassVar[int]
    MAXIMUM_FIELD_NUMBER: _ClassVar[int]
    name: str
    shape: TensorShapeProto
    dtype: DataType
    minimum: TensorProto
    maximum: TensorProto
    def __init__(self, name: _Optional[str] = ..., shape: _Optional[_Union[TensorShapeProto, _Mapping]] = ..., dtype: _Optional[_Union[DataType, str]] = ..., minimum: _Optional[_Union[TensorProto, _Mapping]] = ..., maximum: _Optional[_Union[TensorProto, _Mapping]] = ...) -> None: ...

class TypeSpecProto(_message.Message):
    __slots__ = ("type_spec_class", "type_state", "type_spec_class_name", "num_flat_components")
    class TypeSpecClass(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        UNKNOWN: _ClassVar[TypeSpecProto.TypeSpecClass]
        SPARSE_TENSOR_SPEC: _ClassVar[TypeSpecProto.TypeSpecClass]
        INDEXED_SLICES_SPEC: _ClassVar[TypeSpecProto.TypeSpecClass]
        RAGGED_TENSOR_SPEC: _ClassVar[TypeSpecProto.TypeSpecClass]
        TENSOR_ARRAY_SPEC: _ClassVar[TypeSpecProto.TypeSpecClass]
        DATA_DATASET_SPEC: _ClassVar[TypeSpecProto.TypeSpecClass]
        DATA_ITERATOR_SPEC: _ClassVar[TypeSpecProto.TypeSpecClass]
        OPTIONAL_SPEC: _ClassVar[TypeSpecProto.TypeSpecClass]
        PER_REPLICA_SPEC: _ClassVar[TypeSpecProto.TypeSpecClass]
        VARIABLE_SPEC: _ClassVar[TypeSpecProto.TypeSpecClass]
        ROW_PARTITION_SPEC: _ClassVar[TypeSpecProto.TypeSpecClass]
        REGISTERED_TYPE_SPEC: _ClassVar[TypeSpecProto.TypeSpecClass]
        EXTENSION_TYPE_SPEC: _ClassVar[TypeSpecProto.TypeSpecClass]
    UNKNOWN: TypeSpecProto.TypeSpecClass
    SPARSE_TENSOR_SPEC: TypeSpecProto.TypeSpecClass
    INDEXED_SLICES_SPEC: TypeSpecProto.TypeSpecClass
    RAGGED_TENSOR_SPEC: TypeSpecProto.TypeSpecClass
    TENSOR_ARRAY_SPEC: TypeSpecProto.TypeSpecClass
    DATA_DATASET_SPEC: TypeSpecProto.TypeSpecClass
    DATA_ITERATOR_SPEC: TypeSpecProto.TypeSpecClass
    OPTIONAL_SPEC: TypeSpecProto.TypeSpecClass
    PER_REPLICA_SPEC: TypeSpecProto.TypeSpecClass
    VARIABLE_SPEC: TypeSpecProto.TypeSpecClass
    ROW_PARTITION_SPEC: TypeSpecProto.TypeSpecClass
    REGISTERED_TYPE_SPEC: TypeSpecProto.TypeSpecClass
    EXTENSION_TYPE_SPEC: TypeSpecProto.TypeSpecClass
    TYPE_SPEC_CLASS_FIELD_NUMBER: _ClassVar[int]
    TYPE_STATE_FIELD_NUMBER: _ClassVar[int]
    TYPE_SPEC_CLASS_NAME_FIELD_NUMBER: _ClassVar[int]
    NUM_FLAT_COMPONENTS_FIELD_NUMBER: _ClassVar[int]
    type_spec_class: TypeSpecProto.TypeSpecClass
    type_state: StructuredValue
    type_spec_class_name: str
    num_flat_components: int
    def __init__(self, type_spec_class: _Optional[_Union[TypeSpecProto.TypeSpecClass, str]] = ..., type_state: _Optional[_Union[StructuredValue, _Mapping]] = ..., type_spec_class_name: _Optional[str] = ..., num_flat_components: _Optional[int] = ...) -> None: ...

class GraphDef(_message.Message):
    __slots__ = ("node", "versions", "library")
    NODE_FIELD_NUMBER: _ClassVar[int]
    VERSIONS_FIELD_NUMBER: _ClassVar[int]
    LIBRARY_FIELD_NUMBER: _ClassVar[int]
    node: _containers.RepeatedCompositeFieldContainer[NodeDef]
    versions: VersionDef
    library: FunctionDefLibrary
    def __init__(self, node: _Optional[_Iterable[_Union[NodeDef, _Mapping]]] = ..., versions: _Optional[_Union[VersionDef, _Mapping]] = ..., library: _Optional[_Union[FunctionDefLibrary, _Mapping]] = ...) -> None: ...

class VersionDef(_message.Message):
    __slots__ = ("producer", "min_consumer", "bad_consumers")
    PRODUCER_FIELD_NUMBER: _ClassVar[int]
    MIN_CONSUMER_FIELD_NUMBER: _ClassVar[int]
    BAD_CONSUMERS_FIELD_NUMBER: _ClassVar[int]
    producer: int
    min_consumer: int
    bad_consumers: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, producer: _Optional[int] = ..., min_consumer: _Optional[int] = ..., bad_consumers: _Optional[_Iterable[int]] = ...) -> None: ...

class NodeDef(_message.Message):
    __slots__ = ("name", "op", "input", "device", "attr")
    class AttrEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: AttrValue
        def __init__(self, key: _Optional[str] = ..., value: _Optional[_Union[AttrValue, _Mapping]] = ...) -> None: ...
    NAME_FIELD_NUMBER: _ClassVar[int]
    OP_FIELD_NUMBER: _ClassVar[int]
    INPUT_FIELD_NUMBER: _ClassVar[int]
    DEVICE_FIELD_NUMBER: _ClassVar[int]
    ATTR_FIELD_NUMBER: _ClassVar[int]
    name: str
    op: str
    input: _containers.RepeatedScalarFieldContainer[str]
    device: str
    attr: _containers.MessageMap[str, AttrValue]
    def __init__(self, name: _Optional[str] = ..., op: _Optional[str] = ..., input: _Optional[_Iterable[str]] = ..., device: _Optional[str] = ..., attr: _Optional[_Mapping[str, AttrValue]] = ...) -> None: ...

class AttrValue(_message.Message):
    __slots__ = ("s", "i", "f", "b", "type", "shape", "tensor", "list", "func", "placeholder")
    class ListValue(_message.Message):
        __slots__ = ("s", "i", "f", "b", "type", "shape", "tensor", "func")
        S_FIELD_NUMBER: _ClassVar[int]
        I_FIELD_NUMBER: _ClassVar[int]
        F_FIELD_NUMBER: _ClassVar[int]
        B_FIELD_NUMBER: _ClassVar[int]
        TYPE_FIELD_NUMBER: _ClassVar[int]
        SHAPE_FIELD_NUMBER: _ClassVar[int]
        TENSOR_FIELD_NUMBER: _ClassVar[int]
        FUNC_FIELD_NUMBER: _ClassVar[int]
        s: _containers.RepeatedScalarFieldContainer[bytes]
        i: _containers.RepeatedScalarFieldContainer[int]
        f: _containers.RepeatedScalarFieldContainer[float]
        b: _containers.RepeatedScalarFieldContainer[bool]
        type: _containers.RepeatedScalarFieldContainer[DataType]
        shape: _containers.RepeatedCompositeFieldContainer[TensorShapeProto]
        tensor: _containers.RepeatedCompositeFieldContainer[TensorProto]
        func: _containers.RepeatedCompositeFieldContainer[NameAttrList]
        def __init__(self, s: _Optional[_Iterable[bytes]] = ..., i: _Optional[_Iterable[int]] = ..., f: _Optional[_Iterable[float]] = ..., b: _Optional[_Iterable[bool]] = ..., type: _Optional[_Iterable[_Union[DataType, str]]] = ..., shape: _Optional[_Iterable[_Union[TensorShapeProto, _Mapping]]] = ..., tensor: _Optional[_Iterable[_Union[TensorProto, _Mapping]]] = ..., func: _Optional[_Iterable[_Union[NameAttrList, _Mapping]]] = ...) -> None: ...
    S_FIELD_NUMBER: _ClassVar[int]
    I_FIELD_NUMBER: _ClassVar[int]
    F_FIELD_NUMBER: _ClassVar[int]
    B_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    SHAPE_FIELD_NUMBER: _ClassVar[int]
    TENSOR_FIELD_NUMBER: _ClassVar[int]
    LIST_FIELD_NUMBER: _ClassVar[int]
    FUNC_FIELD_NUMBER: _ClassVar[int]
    PLACEHOLDER_FIELD_NUMBER: _ClassVar[int]
    s: bytes
    i: int
    f: float
    b: bool
    type: DataType
    shape: TensorShapeProto
    tensor: TensorProto
    list: AttrValue.ListValue
    func: NameAttrList
    placeholder: str
    def __init__(self, s: _Optional[bytes] = ..., i: _Optional[int] = ..., f: _Optional[float] = ..., b: bool = ..., type: _Optional[_Union[DataType, str]] = ..., shape: _Optional[_Union[TensorShapeProto, _Mapping]] = ..., tensor: _Optional[_Union[TensorProto, _Mapping]] = ..., list: _Optional[_Union[AttrValue.ListValue, _Mapping]] = ..., func: _Optional[_Union[NameAttrList, _Mapping]] = ..., placeholder: _Optional[str] = ...) -> None: ...

class NameAttrList(_message.Message):
    __slots__ = ("name", "attr")
    class AttrEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: AttrValue
        def __init__(self, key: _Optional[str] = ..., value: _Optional[_Union[AttrValue, _Mapping]] = ...) -> None: ...
    NAME_FIELD_NUMBER: _ClassVar[int]
    ATTR_FIELD_NUMBER: _ClassVar[int]
    name: str
    attr: _containers.MessageMap[str, AttrValue]
    def __init__(self, name: _Optional[str] = ..., attr: _Optional[_Mapping[str, AttrValue]] = ...) -> None: ...

class FunctionDefLibrary(_message.Message):
    __slots__ = ("function",)
    FUNCTION_FIELD_NUMBER: _ClassVar[int]
    function: _containers.RepeatedCompositeFieldContainer[FunctionDef]
    def __init__(self, function: _Optional[_Iterable[_Union[FunctionDef, _Mapping]]] = ...) -> None: ...

class FunctionDef(_message.Message):
    __slots__ = ("signature", "attr", "node_def", "ret", "control_ret")
    class AttrEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: AttrValue
        def __init__(self, key: _Optional[str] = ..., value: _Optional[_Union[AttrValue, _Mapping]] = ...) -> None: ...
    class RetEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    class ControlRetEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    SIGNATURE_FIELD_NUMBER: _ClassVar[int]
    ATTR_FIELD_NUMBER: _ClassVar[int]
    NODE_DEF_FIELD_NUMBER: _ClassVar[int]
    RET_FIELD_NUMBER: _ClassVar[int]
    CONTROL_RET_FIELD_NUMBER: _ClassVar[int]
    signature: bytes
    attr: _containers.MessageMap[str, AttrValue]
    node_def: _containers.RepeatedCompositeFieldContainer[NodeDef]
    ret: _containers.ScalarMap[str, str]
    control_ret: _containers.ScalarMap[str, str]
    def __init__(self, signature: _Optional[bytes] = ..., attr: _Optional[_Mapping[str, AttrValue]] = ..., node_def: _Optional[_Iterable[_Union[NodeDef, _Mapping]]] = ..., ret: _Optional[_Mapping[str, str]] = ..., control_ret: _Optional[_Mapping[str, str]] = ...) -> None: ...

class ProcessingModeDef(_message.Message):
    __slots__ = ("sharding_policy",)
    class ShardingPolicy(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        OFF: _ClassVar[ProcessingModeDef.ShardingPolicy]
        DYNAMIC: _ClassVar[ProcessingModeDef.ShardingPolicy]
        FILE: _ClassVar[ProcessingModeDef.ShardingPolicy]
        DATA: _ClassVar[ProcessingModeDef.ShardingPolicy]
        FILE_OR_DATA: _ClassVar[ProcessingModeDef.ShardingPolicy]
        HINT: _ClassVar[ProcessingModeDef.ShardingPolicy]
    OFF: ProcessingModeDef.ShardingPolicy
    DYNAMIC: ProcessingModeDef.ShardingPolicy
    FILE: ProcessingModeDef.ShardingPolicy
    DATA: ProcessingModeDef.ShardingPolicy
    FILE_OR_DATA: ProcessingModeDef.ShardingPolicy
    HINT: ProcessingModeDef.ShardingPolicy
    SHARDING_POLICY_FIELD_NUMBER: _ClassVar[int]
    sharding_policy: ProcessingModeDef.ShardingPolicy
    def __init__(self, sharding_policy: _Optional[_Union[ProcessingModeDef.ShardingPolicy, str]] = ...) -> None: ...

class DataServiceMetadata(_message.Message):
    __slots__ = ("element_spec", "compression", "cardinality", "description", "block")
    class Compression(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        COMPRESSION_UNSPECIFIED: _ClassVar[DataServiceMetadata.Compression]
        COMPRESSION_OFF: _ClassVar[DataServiceMetadata.Compression]
        COMPRESSION_SNAPPY: _ClassVar[DataServiceMetadata.Compression]
        COMPRESSION_FORCED_SNAPPY: _ClassVar[DataServiceMetadata.Compression]
    COMPRESSION_UNSPECIFIED: DataServiceMetadata.Compression
    COMPRESSION_OFF: DataServiceMetadata.Compression
    COMPRESSION_SNAPPY: DataServiceMetadata.Compression
    COMPRESSION_FORCED_SNAPPY: DataServiceMetadata.Compression
    ELEMENT_SPEC_FIELD_NUMBER: _ClassVar[int]
    COMPRESSION_FIELD_NUMBER: _ClassVar[int]
    CARDINALITY_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    BLOCK_FIELD_NUMBER: _ClassVar[int]
    element_spec: bytes
    compression: DataServiceMetadata.Compression
    cardinality: int
    description: str
    block: int
    def __init__(self, element_spec: _Optional[bytes] = ..., compression: _Optional[_Union[DataServiceMetadata.Compression, str]] = ..., cardinality: _Optional[int] = ..., description: _Optional[str] = ..., block: _Optional[int] = ...) -> None: ...

class CrossTrainerCacheOptions(_message.Message):
    __slots__ = ("trainer_id",)
    TRAINER_ID_FIELD_NUMBER: _ClassVar[int]
    trainer_id: str
    def __init__(self, trainer_id: _Optional[str] = ...) -> None: ...

class DataServiceConfig(_message.Message):
    __slots__ = ("deployment_mode",)
    DEPLOYMENT_MODE_FIELD_NUMBER: _ClassVar[int]
    deployment_mode: DeploymentMode
    def __init__(self, deployment_mode: _Optional[_Union[DeploymentMode, str]] = ...) -> None: ...

class SnapshotRecord(_message.Message):
    __slots__ = ("tensor",)
    TENSOR_FIELD_NUMBER: _ClassVar[int]
    tensor: _containers.RepeatedCompositeFieldContainer[TensorProto]
    def __init__(self, tensor: _Optional[_Iterable[_Union[TensorProto, _Mapping]]] = ...) -> None: ...

class SnapshotMetadataRecord(_message.Message):
    __slots__ = ("graph_hash", "run_id", "creation_timestamp", "version", "dtype", "num_elements", "finalized")
    GRAPH_HASH_FIELD_NUMBER: _ClassVar[int]
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    CREATION_TIMESTAMP_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    DTYPE_FIELD_NUMBER: _ClassVar[int]
    NUM_ELEMENTS_FIELD_NUMBER: _ClassVar[int]
    FINALIZED_FIELD_NUMBER: _ClassVar[int]
    graph_hash: str
    run_id: str
    creation_timestamp: int
    version: int
    dtype: _containers.RepeatedScalarFieldContainer[DataType]
    num_elements: int
    finalized: bool
    def __init__(self, graph_hash: _Optional[str] = ..., run_id: _Optional[str] = ..., creation_timestamp: _Optional[int] = ..., version: _Optional[int] = ..., dtype: _Optional[_Iterable[_Union[DataType, str]]] = ..., num_elements: _Optional[int] = ..., finalized: bool = ...) -> None: ...

class TensorMetadata(_message.Message):
    __slots__ = ("tensor_shape", "tensor_size_bytes")
    TENSOR_SHAPE_FIELD_NUMBER: _ClassVar[int]
    TENSOR_SIZE_BYTES_FIELD_NUMBER: _ClassVar[int]
    tensor_shape: TensorShapeProto
    tensor_size_bytes: int
    def __init__(self, tensor_shape: _Optional[_Union[TensorShapeProto, _Mapping]] = ..., tensor_size_bytes: _Optional[int] = ...) -> None: ...

class SnapshotTensorMetadata(_message.Message):
    __slots__ = ("tensor_metadata",)
    TENSOR_METADATA_FIELD_NUMBER: _ClassVar[int]
    tensor_metadata: _containers.RepeatedCompositeFieldContainer[TensorMetadata]
    def __init__(self, tensor_metadata: _Optional[_Iterable[_Union[TensorMetadata, _Mapping]]] = ...) -> None: ...

class DistributedSnapshotMetadata(_message.Message):
    __slots__ = ("element_spec", "compression")
    ELEMENT_SPEC_FIELD_NUMBER: _ClassVar[int]
    COMPRESSION_FIELD_NUMBER: _ClassVar[int]
    element_spec: bytes
    compression: str
    def __init__(self, element_spec: _Optional[bytes] = ..., compression: _Optional[str] = ...) -> None: ...

class DatasetDef(_message.Message):
    __slots__ = ("graph", "program", "plans", "unsplittable", "origins", "compressed")
    GRAPH_FIELD_NUMBER: _ClassVar[int]
    PROGRAM_FIELD_NUMBER: _ClassVar[int]
    PLANS_FIELD_NUMBER: _ClassVar[int]
    UNSPLITTABLE_FIELD_NUMBER: _ClassVar[int]
    ORIGINS_FIELD_NUMBER: _ClassVar[int]
    COMPRESSED_FIELD_NUMBER: _ClassVar[int]
    graph: bytes
    program: bytes
    plans: _containers.RepeatedCompositeFieldContainer[SplitPlanDef]
    unsplittable: str
    origins: _containers.RepeatedScalarFieldContainer[str]
    compressed: bool
    def __init__(self, graph: _Optional[bytes] = ..., program: _Optional[bytes] = ..., plans: _Optional[_Iterable[_Union[SplitPlanDef, _Mapping]]] = ..., unsplittable: _Optional[str] = ..., origins: _Optional[_Iterable[str]] = ..., compressed: bool = ...) -> None: ...

class IterationKeyDef(_message.Message):
    __slots__ = ("name", "iteration")
    NAME_FIELD_NUMBER: _ClassVar[int]
    ITERATION_FIELD_NUMBER: _ClassVar[int]
    name: str
    iteration: int
    def __init__(self, name: _Optional[str] = ..., iteration: _Optional[int] = ...) -> None: ...

class TaskDef(_message.Message):
    __slots__ = ("dataset_def", "path", "dataset_id", "task_id", "iteration_id", "num_split_providers", "worker_address", "processing_mode_def", "num_consumers", "num_workers", "worker_index", "use_cross_trainer_cache", "compressed", "seed", "repetition", "endless")
    DATASET_DEF_FIELD_NUMBER: _ClassVar[int]
    PATH_FIELD_NUMBER: _ClassVar[int]
    DATASET_ID_FIELD_NUMBER: _ClassVar[int]
    TASK_ID_FIELD_NUMBER: _ClassVar[int]
    ITERATION_ID_FIELD_NUMBER: _ClassVar[int]
    NUM_SPLIT_PROVIDERS_FIELD_NUMBER: _ClassVar[int]
    WORKER_ADDRESS_FIELD_NUMBER: _ClassVar[int]
    PROCESSING_MODE_DEF_FIELD_NUMBER: _ClassVar[int]
    NUM_CONSUMERS_FIELD_NUMBER: _ClassVar[int]
    NUM_WORKERS_FIELD_NUMBER: _ClassVar[int]
    WORKER_INDEX_FIELD_NUMBER: _ClassVar[int]
    USE_CROSS_TRAINER_CACHE_FIELD_NUMBER: _ClassVar[int]
    COMPRESSED_FIELD_NUMBER: _ClassVar[int]
    SEED_FIELD_NUMBER: _ClassVar[int]
    REPETITION_FIELD_NUMBER: _ClassVar[int]
    ENDLESS_FIELD_NUMBER: _ClassVar[int]
    dataset_def: DatasetDef
    path: str
    dataset_id: str
    task_id: int
    iteration_id: int
    num_split_providers: int
    worker_address: str
    processing_mode_def: ProcessingModeDef
    num_consumers: int
    num_workers: int
    worker_index: int
    use_cross_trainer_cache: bool
    compressed: bool
    seed: int
    repetition: int
    endless: bool
    def __init__(self, dataset_def: _Optional[_Union[DatasetDef, _Mapping]] = ..., path: _Optional[str] = ..., dataset_id: _Optional[str] = ..., task_id: _Optional[int] = ..., iteration_id: _Optional[int] = ..., num_split_providers: _Optional[int] = ..., worker_address: _Optional[str] = ..., processing_mode_def: _Optional[_Union[ProcessingModeDef, _Mapping]] = ..., num_consumers: _Optional[int] = ..., num_workers: _Optional[int] = ..., worker_index: _Optional[int] = ..., use_cross_trainer_cache: bool = ..., compressed: bool = ..., seed: _Optional[int] = ..., repetition: _Optional[int] = ..., endless: bool = ...) -> None: ...

class TaskInfo(_message.Message):
    __slots__ = ("worker_address", "transfer_servers", "worker_tags", "task_id", "iteration_id", "worker_uid", "starting_round", "finished", "lost")
    WORKER_ADDRESS_FIELD_NUMBER: _ClassVar[int]
    TRANSFER_SERVERS_FIELD_NUMBER: _ClassVar[int]
    WORKER_TAGS_FIELD_NUMBER: _ClassVar[int]
    TASK_ID_FIELD_NUMBER: _ClassVar[int]
    ITERATION_ID_FIELD_NUMBER: _ClassVar[int]
    WORKER_UID_FIELD_NUMBER: _ClassVar[int]
    STARTING_ROUND_FIELD_NUMBER: _ClassVar[int]
    FINISHED_FIELD_NUMBER: _ClassVar[int]
    LOST_FIELD_NUMBER: _ClassVar[int]
    worker_address: str
    transfer_servers: _containers.RepeatedCompositeFieldContainer[DataTransferServerInfo]
    worker_tags: _containers.RepeatedScalarFieldContainer[str]
    task_id: int
    iteration_id: int
    worker_uid: int
    starting_round: int
    finished: bool
    lost: bool
    def __init__(self, worker_address: _Optional[str] = ..., transfer_servers: _Optional[_Iterable[_Union[DataTransferServerInfo, _Mapping]]] = ..., worker_tags: _Optional[_Iterable[str]] = ..., task_id: _Optional[int] = ..., iteration_id: _Optional[int] = ..., worker_uid: _Optional[int] = ..., starting_round: _Optional[int] = ..., finished: bool = ..., lost: bool = ...) -> None: ...

class SnapshotTaskDef(_message.Message):
    __slots__ = ("base_path", "stream_index", "num_sources", "metadata", "lane_id", "attempt")
    BASE_PATH_FIELD_NUMBER: _ClassVar[int]
    STREAM_INDEX_FIELD_NUMBER: _ClassVar[int]
    NUM_SOURCES_FIELD_NUMBER: _ClassVar[int]
    METADATA_FIELD_NUMBER: _ClassVar[int]
    LANE_ID_FIELD_NUMBER: _ClassVar[int]
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    base_path: str
    stream_index: int
    num_sources: int
    metadata: DistributedSnapshotMetadata
    lane_id: int
    attempt: int
    def __init__(self, base_path: _Optional[str] = ..., stream_index: _Optional[int] = ..., num_sources: _Optional[int] = ..., metadata: _Optional[_Union[DistributedSnapshotMetadata, _Mapping]] = ..., lane_id: _Optional[int] = ..., attempt: _Optional[int] = ...) -> None: ...

class SnapshotTaskProgress(_message.Message):
    __slots__ = ("snapshot_task", "completed", "status")
    SNAPSHOT_TASK_FIELD_NUMBER: _ClassVar[int]
    COMPLETED_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    snapshot_task: SnapshotTaskDef
    completed: bool
    status: StatusProto
    def __init__(self, snapshot_task: _Optional[_Union[SnapshotTaskDef, _Mapping]] = ..., completed: bool = ..., status: _Optional[_Union[StatusProto, _Mapping]] = ...) -> None: ...

class SnapshotStreamInfo(_message.Message):
    __slots__ = ("index", "state", "worker_address", "chunks", "elements")
    class State(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        UNSPECIFIED: _ClassVar[SnapshotStreamInfo.State]
        ASSIGNED: _ClassVar[SnapshotStreamInfo.State]
        ORPHAN: _ClassVar[SnapshotStreamInfo.State]
        UNKNOWN: _ClassVar[SnapshotStreamInfo.State]
        DONE: _ClassVar[SnapshotStreamInfo.State]
    UNSPECIFIED: SnapshotStreamInfo.State
    ASSIGNED: SnapshotStreamInfo.State
    ORPHAN: SnapshotStreamInfo.State
    UNKNOWN: SnapshotStreamInfo.State
    DONE: SnapshotStreamInfo.State
    INDEX_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    WORKER_ADDRESS_FIELD_NUMBER: _ClassVar[int]
    CHUNKS_FIELD_NUMBER: _ClassVar[int]
    ELEMENTS_FIELD_NUMBER: _ClassVar[int]
    index: int
    state: SnapshotStreamInfo.State
    worker_address: str
    chunks: int
    elements: int
    def __init__(self, index: _Optional[int] = ..., state: _Optional[_Union[SnapshotStreamInfo.State, str]] = ..., worker_address: _Optional[str] = ..., chunks: _Optional[int] = ..., elements: _Optional[int] = ...) -> None: ...

class DataTransferServerInfo(_message.Message):
    __slots__ = ("protocol", "address", "compatibility_info", "fall_back_to_grpc_at_client_creation_time", "fall_back_to_grpc_at_get_element_time")
    PROTOCOL_FIELD_NUMBER: _ClassVar[int]
    ADDRESS_FIELD_NUMBER: _ClassVar[int]
    COMPATIBILITY_INFO_FIELD_NUMBER: _ClassVar[int]
    FALL_BACK_TO_GRPC_AT_CLIENT_CREATION_TIME_FIELD_NUMBER: _ClassVar[int]
    FALL_BACK_TO_GRPC_AT_GET_ELEMENT_TIME_FIELD_NUMBER: _ClassVar[int]
    protocol: str
    address: str
    compatibility_info: bytes
    fall_back_to_grpc_at_client_creation_time: bool
    fall_back_to_grpc_at_get_element_time: bool
    def __init__(self, protocol: _Optional[str] = ..., address: _Optional[str] = ..., compatibility_info: _Optional[bytes] = ..., fall_back_to_grpc_at_client_creation_time: bool = ..., fall_back_to_grpc_at_get_element_time: bool = ...) -> None: ...

class ActiveTask(_message.Message):
    __slots__ = ("task_id", "processing_time_nsec")
    TASK_ID_FIELD_NUMBER: _ClassVar[int]
    PROCESSING_TIME_NSEC_FIELD_NUMBER: _ClassVar[int]
    task_id: int
    processing_time_nsec: float
    def __init__(self, task_id: _Optional[int] = ..., processing_time_nsec: _Optional[float] = ...) -> None: ...

class WorkerHeartbeatRequest(_message.Message):
    __slots__ = ("worker_address", "transfer_servers", "worker_tags", "worker_uid", "current_tasks", "snapshot_task_progress", "active_tasks", "incarnation", "interval_ns", "leaving", "draining")
    class SnapshotTaskProgressEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: SnapshotTaskProgress
        def __init__(self, key: _Optional[str] = ..., value: _Optional[_Union[SnapshotTaskProgress, _Mapping]] = ...) -> None: ...
    WORKER_ADDRESS_FIELD_NUMBER: _ClassVar[int]
    TRANSFER_SERVERS_FIELD_NUMBER: _ClassVar[int]
    WORKER_TAGS_FIELD_NUMBER: _ClassVar[int]
    WORKER_UID_FIELD_NUMBER: _ClassVar[int]
    CURRENT_TASKS_FIELD_NUMBER: _ClassVar[int]
    SNAPSHOT_TASK_PROGRESS_FIELD_NUMBER: _ClassVar[int]
    ACTIVE_TASKS_FIELD_NUMBER: _ClassVar[int]
    INCARNATION_FIELD_NUMBER: _ClassVar[int]
    INTERVAL_NS_FIELD_NUMBER: _ClassVar[int]
    LEAVING_FIELD_NUMBER: _ClassVar[int]
    DRAINING_FIELD_NUMBER: _ClassVar[int]
    worker_address: str
    transfer_servers: _containers.RepeatedCompositeFieldContainer[DataTransferServerInfo]
    worker_tags: _containers.RepeatedScalarFieldContainer[str]
    worker_uid: int
    current_tasks: _containers.RepeatedScalarFieldContainer[int]
    snapshot_task_progress: _containers.MessageMap[str, SnapshotTaskProgress]
    active_tasks: _containers.RepeatedCompositeFieldContainer[ActiveTask]
    incarnation: int
    interval_ns: int
    leaving: bool
    draining: bool
    def __init__(self, worker_address: _Optional[str] = ..., transfer_servers: _Optional[_Iterable[_Union[DataTransferServerInfo, _Mapping]]] = ..., worker_tags: _Optional[_Iterable[str]] = ..., worker_uid: _Optional[int] = ..., current_tasks: _Optional[_Iterable[int]] = ..., snapshot_task_progress: _Optional[_Mapping[str, SnapshotTaskProgress]] = ..., active_tasks: _Optional[_Iterable[_Union[ActiveTask, _Mapping]]] = ..., incarnation: _Optional[int] = ..., interval_ns: _Optional[int] = ..., leaving: bool = ..., draining: bool = ...) -> None: ...

class WorkerHeartbeatResponse(_message.Message):
    __slots__ = ("new_tasks", "tasks_to_delete", "snapshot_tasks", "drained", "stop", "interval_ns")
    NEW_TASKS_FIELD_NUMBER: _ClassVar[int]
    TASKS_TO_DELETE_FIELD_NUMBER: _ClassVar[int]
    SNAPSHOT_TASKS_FIELD_NUMBER: _ClassVar[int]
    DRAINED_FIELD_NUMBER: _ClassVar[int]
    STOP_FIELD_NUMBER: _ClassVar[int]
    INTERVAL_NS_FIELD_NUMBER: _ClassVar[int]
    new_tasks: _containers.RepeatedCompositeFieldContainer[TaskDef]
    tasks_to_delete: _containers.RepeatedScalarFieldContainer[int]
    snapshot_tasks: _containers.RepeatedCompositeFieldContainer[SnapshotTaskDef]
    drained: bool
    stop: bool
    interval_ns: int
    def __init__(self, new_tasks: _Optional[_Iterable[_Union[TaskDef, _Mapping]]] = ..., tasks_to_delete: _Optional[_Iterable[int]] = ..., snapshot_tasks: _Optional[_Iterable[_Union[SnapshotTaskDef, _Mapping]]] = ..., drained: bool = ..., stop: bool = ..., interval_ns: _Optional[int] = ...) -> None: ...

class TaskProgress(_message.Message):
    __slots__ = ("task_id", "completed")
    TASK_ID_FIELD_NUMBER: _ClassVar[int]
    COMPLETED_FIELD_NUMBER: _ClassVar[int]
    task_id: int
    completed: bool
    def __init__(self, task_id: _Optional[int] = ..., completed: bool = ...) -> None: ...

class WorkerUpdateRequest(_message.Message):
    __slots__ = ("worker_address", "updates")
    WORKER_ADDRESS_FIELD_NUMBER: _ClassVar[int]
    UPDATES_FIELD_NUMBER: _ClassVar[int]
    worker_address: str
    updates: _containers.RepeatedCompositeFieldContainer[TaskProgress]
    def __init__(self, worker_address: _Optional[str] = ..., updates: _Optional[_Iterable[_Union[TaskProgress, _Mapping]]] = ...) -> None: ...

class WorkerUpdateResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class GetDatasetDefRequest(_message.Message):
    __slots__ = ("dataset_id",)
    DATASET_ID_FIELD_NUMBER: _ClassVar[int]
    dataset_id: str
    def __init__(self, dataset_id: _Optional[str] = ...) -> None: ...

class GetDatasetDefResponse(_message.Message):
    __slots__ = ("dataset_def",)
    DATASET_DEF_FIELD_NUMBER: _ClassVar[int]
    dataset_def: DatasetDef
    def __init__(self, dataset_def: _Optional[_Union[DatasetDef, _Mapping]] = ...) -> None: ...

class GetSplitRequest(_message.Message):
    __slots__ = ("iteration_id", "repetition", "split_provider_index")
    ITERATION_ID_FIELD_NUMBER: _ClassVar[int]
    REPETITION_FIELD_NUMBER: _ClassVar[int]
    SPLIT_PROVIDER_INDEX_FIELD_NUMBER: _ClassVar[int]
    iteration_id: int
    repetition: int
    split_provider_index: int
    def __init__(self, iteration_id: _Optional[int] = ..., repetition: _Optional[int] = ..., split_provider_index: _Optional[int] = ...) -> None: ...

class GetSplitResponse(_message.Message):
    __slots__ = ("split", "end_of_splits")
    SPLIT_FIELD_NUMBER: _ClassVar[int]
    END_OF_SPLITS_FIELD_NUMBER: _ClassVar[int]
    split: TensorProto
    end_of_splits: bool
    def __init__(self, split: _Optional[_Union[TensorProto, _Mapping]] = ..., end_of_splits: bool = ...) -> None: ...

class GetVersionRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class GetVersionResponse(_message.Message):
    __slots__ = ("version", "incarnation")
    VERSION_FIELD_NUMBER: _ClassVar[int]
    INCARNATION_FIELD_NUMBER: _ClassVar[int]
    version: int
    incarnation: int
    def __init__(self, version: _Optional[int] = ..., incarnation: _Optional[int] = ...) -> None: ...

class GetOrRegisterDatasetRequest(_message.Message):
    __slots__ = ("dataset", "metadata", "dataset_id")
    DATASET_FIELD_NUMBER: _ClassVar[int]
    METADATA_FIELD_NUMBER: _ClassVar[int]
    DATASET_ID_FIELD_NUMBER: _ClassVar[int]
    dataset: DatasetDef
    metadata: DataServiceMetadata
    dataset_id: str
    def __init__(self, dataset: _Optional[_Union[DatasetDef, _Mapping]] = ..., metadata: _Optional[_Union[DataServiceMetadata, _Mapping]] = ..., dataset_id: _Optional[str] = ...) -> None: ...

class GetOrRegisterDatasetResponse(_message.Message):
    __slots__ = ("dataset_id",)
    DATASET_ID_FIELD_NUMBER: _ClassVar[int]
    dataset_id: str
    def __init__(self, dataset_id: _Optional[str] = ...) -> None: ...

class GetDataServiceMetadataRequest(_message.Message):
    __slots__ = ("dataset_id",)
    DATASET_ID_FIELD_NUMBER: _ClassVar[int]
    dataset_id: str
    def __init__(self, dataset_id: _Optional[str] = ...) -> None: ...

class GetDataServiceMetadataResponse(_message.Message):
    __slots__ = ("metadata",)
    METADATA_FIELD_NUMBER: _ClassVar[int]
    metadata: DataServiceMetadata
    def __init__(self, metadata: _Optional[_Union[DataServiceMetadata, _Mapping]] = ...) -> None: ...

class GetDataServiceConfigRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class GetDataServiceConfigResponse(_message.Message):
    __slots__ = ("config",)
    CONFIG_FIELD_NUMBER: _ClassVar[int]
    config: DataServiceConfig
    def __init__(self, config: _Optional[_Union[DataServiceConfig, _Mapping]] = ...) -> None: ...

class GetOrCreateJobRequest(_message.Message):
    __slots__ = ("dataset_id", "processing_mode_def", "job_name", "num_consumers", "use_cross_trainer_cache", "target_workers", "nonce", "order", "delivery")
    DATASET_ID_FIELD_NUMBER: _ClassVar[int]
    PROCESSING_MODE_DEF_FIELD_NUMBER: _ClassVar[int]
    JOB_NAME_FIELD_NUMBER: _ClassVar[int]
    NUM_CONSUMERS_FIELD_NUMBER: _ClassVar[int]
    USE_CROSS_TRAINER_CACHE_FIELD_NUMBER: _ClassVar[int]
    TARGET_WORKERS_FIELD_NUMBER: _ClassVar[int]
    NONCE_FIELD_NUMBER: _ClassVar[int]
    ORDER_FIELD_NUMBER: _ClassVar[int]
    DELIVERY_FIELD_NUMBER: _ClassVar[int]
    dataset_id: str
    processing_mode_def: ProcessingModeDef
    job_name: str
    num_consumers: int
    use_cross_trainer_cache: bool
    target_workers: TargetWorkers
    nonce: str
    order: OrderDef
    delivery: int
    def __init__(self, dataset_id: _Optional[str] = ..., processing_mode_def: _Optional[_Union[ProcessingModeDef, _Mapping]] = ..., job_name: _Optional[str] = ..., num_consumers: _Optional[int] = ..., use_cross_trainer_cache: bool = ..., target_workers: _Optional[_Union[TargetWorkers, str]] = ..., nonce: _Optional[str] = ..., order: _Optional[_Union[OrderDef, _Mapping]] = ..., delivery: _Optional[int] = ...) -> None: ...

class GetOrCreateJobResponse(_message.Message):
    __slots__ = ("job_id", "warning")
    JOB_ID_FIELD_NUMBER: _ClassVar[int]
    WARNING_FIELD_NUMBER: _ClassVar[int]
    job_id: int
    warning: str
    def __init__(self, job_id: _Optional[int] = ..., warning: _Optional[str] = ...) -> None: ...

class GetOrCreateIterationRequest(_message.Message):
    __slots__ = ("job_id", "repetition", "nonce", "consumer_index", "resumes", "places")
    JOB_ID_FIELD_NUMBER: _ClassVar[int]
    REPETITION_FIELD_NUMBER: _ClassVar[int]
    NONCE_FIELD_NUMBER: _ClassVar[int]
    CONSUMER_INDEX_FIELD_NUMBER: _ClassVar[int]
    RESUMES_FIELD_NUMBER: _ClassVar[int]
    PLACES_FIELD_NUMBER: _ClassVar[int]
    job_id: int
    repetition: int
    nonce: str
    consumer_index: int
    resumes: bool
    places: _containers.RepeatedCompositeFieldContainer[LanePlace]
    def __init__(self, job_id: _Optional[int] = ..., repetition: _Optional[int] = ..., nonce: _Optional[str] = ..., consumer_index: _Optional[int] = ..., resumes: bool = ..., places: _Optional[_Iterable[_Union[LanePlace, _Mapping]]] = ...) -> None: ...

class GetOrCreateIterationResponse(_message.Message):
    __slots__ = ("iteration_client_id", "has_lanes")
    ITERATION_CLIENT_ID_FIELD_NUMBER: _ClassVar[int]
    HAS_LANES_FIELD_NUMBER: _ClassVar[int]
    iteration_client_id: int
    has_lanes: bool
    def __init__(self, iteration_client_id: _Optional[int] = ..., has_lanes: bool = ...) -> None: ...

class MaybeRemoveTaskRequest(_message.Message):
    __slots__ = ("task_id", "consumer_index", "round")
    TASK_ID_FIELD_NUMBER: _ClassVar[int]
    CONSUMER_INDEX_FIELD_NUMBER: _ClassVar[int]
    ROUND_FIELD_NUMBER: _ClassVar[int]
    task_id: int
    consumer_index: int
    round: int
    def __init__(self, task_id: _Optional[int] = ..., consumer_index: _Optional[int] = ..., round: _Optional[int] = ...) -> None: ...

class MaybeRemoveTaskResponse(_message.Message):
    __slots__ = ("removed",)
    REMOVED_FIELD_NUMBER: _ClassVar[int]
    removed: bool
    def __init__(self, removed: bool = ...) -> None: ...

class ReleaseIterationClientRequest(_message.Message):
    __slots__ = ("iteration_client_id", "progress", "consumption")
    ITERATION_CLIENT_ID_FIELD_NUMBER: _ClassVar[int]
    PROGRESS_FIELD_NUMBER: _ClassVar[int]
    CONSUMPTION_FIELD_NUMBER: _ClassVar[int]
    iteration_client_id: int
    progress: _containers.RepeatedCompositeFieldContainer[LaneProgress]
    consumption: Consumption
    def __init__(self, iteration_client_id: _Optional[int] = ..., progress: _Optional[_Iterable[_Union[LaneProgress, _Mapping]]] = ..., consumption: _Optional[_Union[Consumption, _Mapping]] = ...) -> None: ...

class ReleaseIterationClientResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ClientHeartbeatRequest(_message.Message):
    __slots__ = ("iteration_client_id", "current_round", "blocked_round", "target_processing_time_nsec", "reads_lanes", "progress", "complaints", "ready", "total", "nearby", "consumption")
    ITERATION_CLIENT_ID_FIELD_NUMBER: _ClassVar[int]
    CURRENT_ROUND_FIELD_NUMBER: _ClassVar[int]
    BLOCKED_ROUND_FIELD_NUMBER: _ClassVar[int]
    TARGET_PROCESSING_TIME_NSEC_FIELD_NUMBER: _ClassVar[int]
    READS_LANES_FIELD_NUMBER: _ClassVar[int]
    PROGRESS_FIELD_NUMBER: _ClassVar[int]
    COMPLAINTS_FIELD_NUMBER: _ClassVar[int]
    READY_FIELD_NUMBER: _ClassVar[int]
    TOTAL_FIELD_NUMBER: _ClassVar[int]
    NEARBY_FIELD_NUMBER: _ClassVar[int]
    CONSUMPTION_FIELD_NUMBER: _ClassVar[int]
    iteration_client_id: int
    current_round: int
    blocked_round: int
    target_processing_time_nsec: float
    reads_lanes: bool
    progress: _containers.RepeatedCompositeFieldContainer[LaneProgress]
    complaints: _containers.RepeatedCompositeFieldContainer[LaneComplaint]
    ready: int
    total: int
    nearby: _containers.RepeatedScalarFieldContainer[str]
    consumption: Consumption
    def __init__(self, iteration_client_id: _Optional[int] = ..., current_round: _Optional[int] = ..., blocked_round: _Optional[int] = ..., target_processing_time_nsec: _Optional[float] = ..., reads_lanes: bool = ..., progress: _Optional[_Iterable[_Union[LaneProgress, _Mapping]]] = ..., complaints: _Optional[_Iterable[_Union[LaneComplaint, _Mapping]]] = ..., ready: _Optional[int] = ..., total: _Optional[int] = ..., nearby: _Optional[_Iterable[str]] = ..., consumption: _Optional[_Union[Consumption, _Mapping]] = ...) -> None: ...

class ClientHeartbeatResponse(_message.Message):
    __slots__ = ("task_info", "block_round", "iteration_finished", "deployment_mode", "lanes", "warning", "level")
    TASK_INFO_FIELD_NUMBER: _ClassVar[int]
    BLOCK_ROUND_FIELD_NUMBER: _ClassVar[int]
    ITERATION_FINISHED_FIELD_NUMBER: _ClassVar[int]
    DEPLOYMENT_MODE_FIELD_NUMBER: _ClassVar[int]
    LANES_FIELD_NUMBER: _ClassVar[int]
    WARNING_FIELD_NUMBER: _ClassVar[int]
    LEVEL_FIELD_NUMBER: _ClassVar[int]
    task_info: _containers.RepeatedCompositeFieldContainer[TaskInfo]
    block_round: int
    iteration_finished: bool
    deployment_mode: DeploymentMode
    lanes: _containers.RepeatedCompositeFieldContainer[LaneInfo]
    warning: str
    level: Level
    def __init__(self, task_info: _Optional[_Iterable[_Union[TaskInfo, _Mapping]]] = ..., block_round: _Optional[int] = ..., iteration_finished: bool = ..., deployment_mode: _Optional[_Union[DeploymentMode, str]] = ..., lanes: _Optional[_Iterable[_Union[LaneInfo, _Mapping]]] = ..., warning: _Optional[str] = ..., level: _Optional[_Union[Level, _Mapping]] = ...) -> None: ...

class WorkerInfo(_message.Message):
    __slots__ = ("address",)
    ADDRESS_FIELD_NUMBER: _ClassVar[int]
    address: str
    def __init__(self, address: _Optional[str] = ...) -> None: ...

class GetWorkersRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class GetWorkersResponse(_message.Message):
    __slots__ = ("workers",)
    WORKERS_FIELD_NUMBER: _ClassVar[int]
    workers: _containers.RepeatedCompositeFieldContainer[WorkerInfo]
    def __init__(self, workers: _Optional[_Iterable[_Union[WorkerInfo, _Mapping]]] = ...) -> None: ...

class GetScalingRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class IterationScaling(_message.Message):
    __slots__ = ("iteration_id", "job_name", "workers", "recommended", "processing_time_nsec", "target_processing_time_nsec")
    ITERATION_ID_FIELD_NUMBER: _ClassVar[int]
    JOB_NAME_FIELD_NUMBER: _ClassVar[int]
    WORKERS_FIELD_NUMBER: _ClassVar[int]
    RECOMMENDED_FIELD_NUMBER: _ClassVar[int]
    PROCESSING_TIME_NSEC_FIELD_NUMBER: _ClassVar[int]
    TARGET_PROCESSING_TIME_NSEC_FIELD_NUMBER: _ClassVar[int]
    iteration_id: int
    job_name: str
    workers: int
    recommended: int
    processing_time_nsec: float
    target_processing_time_nsec: float
    def __init__(self, iteration_id: _Optional[int] = ..., job_name: _Optional[str] = ..., workers: _Optional[int] = ..., recommended: _Optional[int] = ..., processing_time_nsec: _Optional[float] = ..., target_processing_time_nsec: _Optional[float] = ...) -> None: ...

class GetScalingResponse(_message.Message):
    __slots__ = ("workers", "recommended", "iterations")
    WORKERS_FIELD_NUMBER: _ClassVar[int]
    RECOMMENDED_FIELD_NUMBER: _ClassVar[int]
    ITERATIONS_FIELD_NUMBER: _ClassVar[int]
    workers: int
    recommended: int
    iterations: _containers.RepeatedCompositeFieldContainer[IterationScaling]
    def __init__(self, workers: _Optional[int] = ..., recommended: _Optional[int] = ..., iterations: _Optional[_Iterable[_Union[IterationScaling, _Mapping]]] = ...) -> None: ...

class DescribeServiceRequest(_message.Message):
    __slots__ = ("rows_max",)
    ROWS_MAX_FIELD_NUMBER: _ClassVar[int]
    rows_max: int
    def __init__(self, rows_max: _Optional[int] = ...) -> None: ...

class Census(_message.Message):
    __slots__ = ("workers", "datasets", "jobs", "iterations", "tasks", "lanes", "readers", "snapshots")
    WORKERS_FIELD_NUMBER: _ClassVar[int]
    DATASETS_FIELD_NUMBER: _ClassVar[int]
    JOBS_FIELD_NUMBER: _ClassVar[int]
    ITERATIONS_FIELD_NUMBER: _ClassVar[int]
    TASKS_FIELD_NUMBER: _ClassVar[int]
    LANES_FIELD_NUMBER: _ClassVar[int]
    READERS_FIELD_NUMBER: _ClassVar[int]
    SNAPSHOTS_FIELD_NUMBER: _ClassVar[int]
    workers: int
    datasets: int
    jobs: int
    iterations: int
    tasks: int
    lanes: int
    readers: int
    snapshots: int
    def __init__(self, workers: _Optional[int] = ..., datasets: _Optional[int] = ..., jobs: _Optional[int] = ..., iterations: _Optional[int] = ..., tasks: _Optional[int] = ..., lanes: _Optional[int] = ..., readers: _Optional[int] = ..., snapshots: _Optional[int] = ...) -> None: ...

class Tally(_message.Message):
    __slots__ = ("leases", "splits", "moves", "splits_again", "workers_lost", "readers_lost", "elements", "bytes", "discarded", "missed", "waited_ns")
    LEASES_FIELD_NUMBER: _ClassVar[int]
    SPLITS_FIELD_NUMBER: _ClassVar[int]
    MOVES_FIELD_NUMBER: _ClassVar[int]
    SPLITS_AGAIN_FIELD_NUMBER: _ClassVar[int]
    WORKERS_LOST_FIELD_NUMBER: _ClassVar[int]
    READERS_LOST_FIELD_NUMBER: _ClassVar[int]
    ELEMENTS_FIELD_NUMBER: _ClassVar[int]
    BYTES_FIELD_NUMBER: _ClassVar[int]
    DISCARDED_FIELD_NUMBER: _ClassVar[int]
    MISSED_FIELD_NUMBER: _ClassVar[int]
    WAITED_NS_FIELD_NUMBER: _ClassVar[int]
    leases: int
    splits: int
    moves: int
    splits_again: int
    workers_lost: int
    readers_lost: int
    elements: int
    bytes: int
    discarded: int
    missed: int
    waited_ns: int
    def __init__(self, leases: _Optional[int] = ..., splits: _Optional[int] = ..., moves: _Optional[int] = ..., splits_again: _Optional[int] = ..., workers_lost: _Optional[int] = ..., readers_lost: _Optional[int] = ..., elements: _Optional[int] = ..., bytes: _Optional[int] = ..., discarded: _Optional[int] = ..., missed: _Optional[int] = ..., waited_ns: _Optional[int] = ...) -> None: ...

class TransferServer(_message.Message):
    __slots__ = ("protocol", "address")
    PROTOCOL_FIELD_NUMBER: _ClassVar[int]
    ADDRESS_FIELD_NUMBER: _ClassVar[int]
    protocol: str
    address: str
    def __init__(self, protocol: _Optional[str] = ..., address: _Optional[str] = ...) -> None: ...

class WorkerDescription(_message.Message):
    __slots__ = ("address", "incarnation", "native", "state", "tags", "transfer_servers", "silent_ns", "interval_ns", "tasks", "lanes", "leased")
    ADDRESS_FIELD_NUMBER: _ClassVar[int]
    INCARNATION_FIELD_NUMBER: _ClassVar[int]
    NATIVE_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    TAGS_FIELD_NUMBER: _ClassVar[int]
    TRANSFER_SERVERS_FIELD_NUMBER: _ClassVar[int]
    SILENT_NS_FIELD_NUMBER: _ClassVar[int]
    INTERVAL_NS_FIELD_NUMBER: _ClassVar[int]
    TASKS_FIELD_NUMBER: _ClassVar[int]
    LANES_FIELD_NUMBER: _ClassVar[int]
    LEASED_FIELD_NUMBER: _ClassVar[int]
    address: str
    incarnation: int
    native: bool
    state: str
    tags: _containers.RepeatedScalarFieldContainer[str]
    transfer_servers: _containers.RepeatedCompositeFieldContainer[TransferServer]
    silent_ns: int
    interval_ns: int
    tasks: int
    lanes: int
    leased: int
    def __init__(self, address: _Optional[str] = ..., incarnation: _Optional[int] = ..., native: bool = ..., state: _Optional[str] = ..., tags: _Optional[_Iterable[str]] = ..., transfer_servers: _Optional[_Iterable[_Union[TransferServer, _Mapping]]] = ..., silent_ns: _Optional[int] = ..., interval_ns: _Optional[int] = ..., tasks: _Optional[int] = ..., lanes: _Optional[int] = ..., leased: _Optional[int] = ...) -> None: ...

class DatasetDescription(_message.Message):
    __slots__ = ("id", "native", "cardinality", "sources", "splits", "operators")
    ID_FIELD_NUMBER: _ClassVar[int]
    NATIVE_FIELD_NUMBER: _ClassVar[int]
    CARDINALITY_FIELD_NUMBER: _ClassVar[int]
    SOURCES_FIELD_NUMBER: _ClassVar[int]
    SPLITS_FIELD_NUMBER: _ClassVar[int]
    OPERATORS_FIELD_NUMBER: _ClassVar[int]
    id: str
    native: bool
    cardinality: int
    sources: int
    splits: int
    operators: str
    def __init__(self, id: _Optional[str] = ..., native: bool = ..., cardinality: _Optional[int] = ..., sources: _Optional[int] = ..., splits: _Optional[int] = ..., operators: _Optional[str] = ...) -> None: ...

class JobDescription(_message.Message):
    __slots__ = ("id", "name", "anonymous", "dataset_id", "sharding_policy", "mode", "delivery", "target_workers", "num_consumers", "finished")
    ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    ANONYMOUS_FIELD_NUMBER: _ClassVar[int]
    DATASET_ID_FIELD_NUMBER: _ClassVar[int]
    SHARDING_POLICY_FIELD_NUMBER: _ClassVar[int]
    MODE_FIELD_NUMBER: _ClassVar[int]
    DELIVERY_FIELD_NUMBER: _ClassVar[int]
    TARGET_WORKERS_FIELD_NUMBER: _ClassVar[int]
    NUM_CONSUMERS_FIELD_NUMBER: _ClassVar[int]
    FINISHED_FIELD_NUMBER: _ClassVar[int]
    id: int
    name: str
    anonymous: bool
    dataset_id: str
    sharding_policy: str
    mode: str
    delivery: str
    target_workers: str
    num_consumers: int
    finished: int
    def __init__(self, id: _Optional[int] = ..., name: _Optional[str] = ..., anonymous: bool = ..., dataset_id: _Optional[str] = ..., sharding_policy: _Optional[str] = ..., mode: _Optional[str] = ..., delivery: _Optional[str] = ..., target_workers: _Optional[str] = ..., num_consumers: _Optional[int] = ..., finished: _Optional[int] = ...) -> None: ...

class IterationDescription(_message.Message):
    __slots__ = ("id", "job_id", "repetition", "finished", "readers", "tasks", "tasks_lost", "shards", "shards_lost", "lanes", "splits", "splits_again", "splits_given_up", "repeated", "recommended", "processing_time_nsec", "target_processing_time_nsec")
    ID_FIELD_NUMBER: _ClassVar[int]
    JOB_ID_FIELD_NUMBER: _ClassVar[int]
    REPETITION_FIELD_NUMBER: _ClassVar[int]
    FINISHED_FIELD_NUMBER: _ClassVar[int]
    READERS_FIELD_NUMBER: _ClassVar[int]
    TASKS_FIELD_NUMBER: _ClassVar[int]
    TASKS_LOST_FIELD_NUMBER: _ClassVar[int]
    SHARDS_FIELD_NUMBER: _ClassVar[int]
    SHARDS_LOST_FIELD_NUMBER: _ClassVar[int]
    LANES_FIELD_NUMBER: _ClassVar[int]
    SPLITS_FIELD_NUMBER: _ClassVar[int]
    SPLITS_AGAIN_FIELD_NUMBER: _ClassVar[int]
    SPLITS_GIVEN_UP_FIELD_NUMBER: _ClassVar[int]
    REPEATED_FIELD_NUMBER: _ClassVar[int]
    RECOMMENDED_FIELD_NUMBER: _ClassVar[int]
    PROCESSING_TIME_NSEC_FIELD_NUMBER: _ClassVar[int]
    TARGET_PROCESSING_TIME_NSEC_FIELD_NUMBER: _ClassVar[int]
    id: int
    job_id: int
    repetition: int
    finished: bool
    readers: int
    tasks: int
    tasks_lost: int
    shards: int
    shards_lost: int
    lanes: int
    splits: int
    splits_again: int
    splits_given_up: int
    repeated: int
    recommended: int
    processing_time_nsec: float
    target_processing_time_nsec: float
    def __init__(self, id: _Optional[int] = ..., job_id: _Optional[int] = ..., repetition: _Optional[int] = ..., finished: bool = ..., readers: _Optional[int] = ..., tasks: _Optional[int] = ..., tasks_lost: _Optional[int] = ..., shards: _Optional[int] = ..., shards_lost: _Optional[int] = ..., lanes: _Optional[int] = ..., splits: _Optional[int] = ..., splits_again: _Optional[int] = ..., splits_given_up: _Optional[int] = ..., repeated: _Optional[int] = ..., recommended: _Optional[int] = ..., processing_time_nsec: _Optional[float] = ..., target_processing_time_nsec: _Optional[float] = ...) -> None: ...

class TaskDescription(_message.Message):
    __slots__ = ("id", "iteration_id", "worker_address", "shard", "state", "processing_time_nsec")
    ID_FIELD_NUMBER: _ClassVar[int]
    ITERATION_ID_FIELD_NUMBER: _ClassVar[int]
    WORKER_ADDRESS_FIELD_NUMBER: _ClassVar[int]
    SHARD_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    PROCESSING_TIME_NSEC_FIELD_NUMBER: _ClassVar[int]
    id: int
    iteration_id: int
    worker_address: str
    shard: int
    state: str
    processing_time_nsec: float
    def __init__(self, id: _Optional[int] = ..., iteration_id: _Optional[int] = ..., worker_address: _Optional[str] = ..., shard: _Optional[int] = ..., state: _Optional[str] = ..., processing_time_nsec: _Optional[float] = ...) -> None: ...

class LaneDescription(_message.Message):
    __slots__ = ("id", "iteration_id", "task_id", "reader_id", "worker_address", "index", "shard", "attempt", "taken", "leased")
    ID_FIELD_NUMBER: _ClassVar[int]
    ITERATION_ID_FIELD_NUMBER: _ClassVar[int]
    TASK_ID_FIELD_NUMBER: _ClassVar[int]
    READER_ID_FIELD_NUMBER: _ClassVar[int]
    WORKER_ADDRESS_FIELD_NUMBER: _ClassVar[int]
    INDEX_FIELD_NUMBER: _ClassVar[int]
    SHARD_FIELD_NUMBER: _ClassVar[int]
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    TAKEN_FIELD_NUMBER: _ClassVar[int]
    LEASED_FIELD_NUMBER: _ClassVar[int]
    id: int
    iteration_id: int
    task_id: int
    reader_id: int
    worker_address: str
    index: int
    shard: int
    attempt: int
    taken: int
    leased: int
    def __init__(self, id: _Optional[int] = ..., iteration_id: _Optional[int] = ..., task_id: _Optional[int] = ..., reader_id: _Optional[int] = ..., worker_address: _Optional[str] = ..., index: _Optional[int] = ..., shard: _Optional[int] = ..., attempt: _Optional[int] = ..., taken: _Optional[int] = ..., leased: _Optional[int] = ...) -> None: ...

class Consumption(_message.Message):
    __slots__ = ("elements", "bytes", "waited_ns", "age_ns", "discarded", "missed")
    ELEMENTS_FIELD_NUMBER: _ClassVar[int]
    BYTES_FIELD_NUMBER: _ClassVar[int]
    WAITED_NS_FIELD_NUMBER: _ClassVar[int]
    AGE_NS_FIELD_NUMBER: _ClassVar[int]
    DISCARDED_FIELD_NUMBER: _ClassVar[int]
    MISSED_FIELD_NUMBER: _ClassVar[int]
    elements: int
    bytes: int
    waited_ns: int
    age_ns: int
    discarded: int
    missed: int
    def __init__(self, elements: _Optional[int] = ..., bytes: _Optional[int] = ..., waited_ns: _Optional[int] = ..., age_ns: _Optional[int] = ..., discarded: _Optional[int] = ..., missed: _Optional[int] = ...) -> None: ...

class ReaderDescription(_message.Message):
    __slots__ = ("id", "iteration_id", "native", "silent_ns", "consumer_index", "lanes", "consumption", "round", "at_end", "target_processing_time_nsec")
    ID_FIELD_NUMBER: _ClassVar[int]
    ITERATION_ID_FIELD_NUMBER: _ClassVar[int]
    NATIVE_FIELD_NUMBER: _ClassVar[int]
    SILENT_NS_FIELD_NUMBER: _ClassVar[int]
    CONSUMER_INDEX_FIELD_NUMBER: _ClassVar[int]
    LANES_FIELD_NUMBER: _ClassVar[int]
    CONSUMPTION_FIELD_NUMBER: _ClassVar[int]
    ROUND_FIELD_NUMBER: _ClassVar[int]
    AT_END_FIELD_NUMBER: _ClassVar[int]
    TARGET_PROCESSING_TIME_NSEC_FIELD_NUMBER: _ClassVar[int]
    id: int
    iteration_id: int
    native: bool
    silent_ns: int
    consumer_index: int
    lanes: int
    consumption: Consumption
    round: int
    at_end: bool
    target_processing_time_nsec: float
    def __init__(self, id: _Optional[int] = ..., iteration_id: _Optional[int] = ..., native: bool = ..., silent_ns: _Optional[int] = ..., consumer_index: _Optional[int] = ..., lanes: _Optional[int] = ..., consumption: _Optional[_Union[Consumption, _Mapping]] = ..., round: _Optional[int] = ..., at_end: bool = ..., target_processing_time_nsec: _Optional[float] = ...) -> None: ...

class SnapshotDescription(_message.Message):
    __slots__ = ("path", "state", "error", "streams", "streams_done", "chunks", "elements", "splits", "splits_total")
    PATH_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    STREAMS_FIELD_NUMBER: _ClassVar[int]
    STREAMS_DONE_FIELD_NUMBER: _ClassVar[int]
    CHUNKS_FIELD_NUMBER: _ClassVar[int]
    ELEMENTS_FIELD_NUMBER: _ClassVar[int]
    SPLITS_FIELD_NUMBER: _ClassVar[int]
    SPLITS_TOTAL_FIELD_NUMBER: _ClassVar[int]
    path: str
    state: str
    error: str
    streams: int
    streams_done: int
    chunks: int
    elements: int
    splits: int
    splits_total: int
    def __init__(self, path: _Optional[str] = ..., state: _Optional[str] = ..., error: _Optional[str] = ..., streams: _Optional[int] = ..., streams_done: _Optional[int] = ..., chunks: _Optional[int] = ..., elements: _Optional[int] = ..., splits: _Optional[int] = ..., splits_total: _Optional[int] = ...) -> None: ...

class Description(_message.Message):
    __slots__ = ("incarnation", "up_ns", "stopping", "deployment_mode", "recommended_workers", "census", "tally", "workers", "datasets", "jobs", "iterations", "tasks", "lanes", "readers", "snapshots")
    INCARNATION_FIELD_NUMBER: _ClassVar[int]
    UP_NS_FIELD_NUMBER: _ClassVar[int]
    STOPPING_FIELD_NUMBER: _ClassVar[int]
    DEPLOYMENT_MODE_FIELD_NUMBER: _ClassVar[int]
    RECOMMENDED_WORKERS_FIELD_NUMBER: _ClassVar[int]
    CENSUS_FIELD_NUMBER: _ClassVar[int]
    TALLY_FIELD_NUMBER: _ClassVar[int]
    WORKERS_FIELD_NUMBER: _ClassVar[int]
    DATASETS_FIELD_NUMBER: _ClassVar[int]
    JOBS_FIELD_NUMBER: _ClassVar[int]
    ITERATIONS_FIELD_NUMBER: _ClassVar[int]
    TASKS_FIELD_NUMBER: _ClassVar[int]
    LANES_FIELD_NUMBER: _ClassVar[int]
    READERS_FIELD_NUMBER: _ClassVar[int]
    SNAPSHOTS_FIELD_NUMBER: _ClassVar[int]
    incarnation: int
    up_ns: int
    stopping: bool
    deployment_mode: str
    recommended_workers: int
    census: Census
    tally: Tally
    workers: _containers.RepeatedCompositeFieldContainer[WorkerDescription]
    datasets: _containers.RepeatedCompositeFieldContainer[DatasetDescription]
    jobs: _containers.RepeatedCompositeFieldContainer[JobDescription]
    iterations: _containers.RepeatedCompositeFieldContainer[IterationDescription]
    tasks: _containers.RepeatedCompositeFieldContainer[TaskDescription]
    lanes: _containers.RepeatedCompositeFieldContainer[LaneDescription]
    readers: _containers.RepeatedCompositeFieldContainer[ReaderDescription]
    snapshots: _containers.RepeatedCompositeFieldContainer[SnapshotDescription]
    def __init__(self, incarnation: _Optional[int] = ..., up_ns: _Optional[int] = ..., stopping: bool = ..., deployment_mode: _Optional[str] = ..., recommended_workers: _Optional[int] = ..., census: _Optional[_Union[Census, _Mapping]] = ..., tally: _Optional[_Union[Tally, _Mapping]] = ..., workers: _Optional[_Iterable[_Union[WorkerDescription, _Mapping]]] = ..., datasets: _Optional[_Iterable[_Union[DatasetDescription, _Mapping]]] = ..., jobs: _Optional[_Iterable[_Union[JobDescription, _Mapping]]] = ..., iterations: _Optional[_Iterable[_Union[IterationDescription, _Mapping]]] = ..., tasks: _Optional[_Iterable[_Union[TaskDescription, _Mapping]]] = ..., lanes: _Optional[_Iterable[_Union[LaneDescription, _Mapping]]] = ..., readers: _Optional[_Iterable[_Union[ReaderDescription, _Mapping]]] = ..., snapshots: _Optional[_Iterable[_Union[SnapshotDescription, _Mapping]]] = ...) -> None: ...

class DescribeServiceResponse(_message.Message):
    __slots__ = ("description",)
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    description: Description
    def __init__(self, description: _Optional[_Union[Description, _Mapping]] = ...) -> None: ...

class HealthCheckRequest(_message.Message):
    __slots__ = ("service",)
    SERVICE_FIELD_NUMBER: _ClassVar[int]
    service: str
    def __init__(self, service: _Optional[str] = ...) -> None: ...

class HealthCheckResponse(_message.Message):
    __slots__ = ("status",)
    class ServingStatus(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        UNKNOWN: _ClassVar[HealthCheckResponse.ServingStatus]
        SERVING: _ClassVar[HealthCheckResponse.ServingStatus]
        NOT_SERVING: _ClassVar[HealthCheckResponse.ServingStatus]
        SERVICE_UNKNOWN: _ClassVar[HealthCheckResponse.ServingStatus]
    UNKNOWN: HealthCheckResponse.ServingStatus
    SERVING: HealthCheckResponse.ServingStatus
    NOT_SERVING: HealthCheckResponse.ServingStatus
    SERVICE_UNKNOWN: HealthCheckResponse.ServingStatus
    STATUS_FIELD_NUMBER: _ClassVar[int]
    status: HealthCheckResponse.ServingStatus
    def __init__(self, status: _Optional[_Union[HealthCheckResponse.ServingStatus, str]] = ...) -> None: ...

class GetChronicleRequest(_message.Message):
    __slots__ = ("after",)
    AFTER_FIELD_NUMBER: _ClassVar[int]
    after: int
    def __init__(self, after: _Optional[int] = ...) -> None: ...

class Happening(_message.Message):
    __slots__ = ("number", "ago_ns", "kind", "text", "job", "worker")
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    AGO_NS_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    JOB_FIELD_NUMBER: _ClassVar[int]
    WORKER_FIELD_NUMBER: _ClassVar[int]
    number: int
    ago_ns: int
    kind: str
    text: str
    job: str
    worker: str
    def __init__(self, number: _Optional[int] = ..., ago_ns: _Optional[int] = ..., kind: _Optional[str] = ..., text: _Optional[str] = ..., job: _Optional[str] = ..., worker: _Optional[str] = ...) -> None: ...

class Sample(_message.Message):
    __slots__ = ("ago_ns", "workers", "readers", "elements", "bytes", "waited_ns", "discarded", "splits_again")
    AGO_NS_FIELD_NUMBER: _ClassVar[int]
    WORKERS_FIELD_NUMBER: _ClassVar[int]
    READERS_FIELD_NUMBER: _ClassVar[int]
    ELEMENTS_FIELD_NUMBER: _ClassVar[int]
    BYTES_FIELD_NUMBER: _ClassVar[int]
    WAITED_NS_FIELD_NUMBER: _ClassVar[int]
    DISCARDED_FIELD_NUMBER: _ClassVar[int]
    SPLITS_AGAIN_FIELD_NUMBER: _ClassVar[int]
    ago_ns: int
    workers: int
    readers: int
    elements: int
    bytes: int
    waited_ns: int
    discarded: int
    splits_again: int
    def __init__(self, ago_ns: _Optional[int] = ..., workers: _Optional[int] = ..., readers: _Optional[int] = ..., elements: _Optional[int] = ..., bytes: _Optional[int] = ..., waited_ns: _Optional[int] = ..., discarded: _Optional[int] = ..., splits_again: _Optional[int] = ...) -> None: ...

class Recent(_message.Message):
    __slots__ = ("reader_id", "over_ns", "elements", "bytes", "waited_ns")
    READER_ID_FIELD_NUMBER: _ClassVar[int]
    OVER_NS_FIELD_NUMBER: _ClassVar[int]
    ELEMENTS_FIELD_NUMBER: _ClassVar[int]
    BYTES_FIELD_NUMBER: _ClassVar[int]
    WAITED_NS_FIELD_NUMBER: _ClassVar[int]
    reader_id: int
    over_ns: int
    elements: int
    bytes: int
    waited_ns: int
    def __init__(self, reader_id: _Optional[int] = ..., over_ns: _Optional[int] = ..., elements: _Optional[int] = ..., bytes: _Optional[int] = ..., waited_ns: _Optional[int] = ...) -> None: ...

class JobTotal(_message.Message):
    __slots__ = ("name", "consumption")
    NAME_FIELD_NUMBER: _ClassVar[int]
    CONSUMPTION_FIELD_NUMBER: _ClassVar[int]
    name: str
    consumption: Consumption
    def __init__(self, name: _Optional[str] = ..., consumption: _Optional[_Union[Consumption, _Mapping]] = ...) -> None: ...

class GetChronicleResponse(_message.Message):
    __slots__ = ("happenings", "samples", "recent", "jobs", "left_out")
    HAPPENINGS_FIELD_NUMBER: _ClassVar[int]
    SAMPLES_FIELD_NUMBER: _ClassVar[int]
    RECENT_FIELD_NUMBER: _ClassVar[int]
    JOBS_FIELD_NUMBER: _ClassVar[int]
    LEFT_OUT_FIELD_NUMBER: _ClassVar[int]
    happenings: _containers.RepeatedCompositeFieldContainer[Happening]
    samples: _containers.RepeatedCompositeFieldContainer[Sample]
    recent: _containers.RepeatedCompositeFieldContainer[Recent]
    jobs: _containers.RepeatedCompositeFieldContainer[JobTotal]
    left_out: int
    def __init__(self, happenings: _Optional[_Iterable[_Union[Happening, _Mapping]]] = ..., samples: _Optional[_Iterable[_Union[Sample, _Mapping]]] = ..., recent: _Optional[_Iterable[_Union[Recent, _Mapping]]] = ..., jobs: _Optional[_Iterable[_Union[JobTotal, _Mapping]]] = ..., left_out: _Optional[int] = ...) -> None: ...

class AboutNodeRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class AboutNodeResponse(_message.Message):
    __slots__ = ("tfsvc", "python", "grpcio", "protobuf", "cloudpickle", "host", "pid", "time_ns", "files_max", "files_open", "shared_bytes", "memory_bytes")
    TFSVC_FIELD_NUMBER: _ClassVar[int]
    PYTHON_FIELD_NUMBER: _ClassVar[int]
    GRPCIO_FIELD_NUMBER: _ClassVar[int]
    PROTOBUF_FIELD_NUMBER: _ClassVar[int]
    CLOUDPICKLE_FIELD_NUMBER: _ClassVar[int]
    HOST_FIELD_NUMBER: _ClassVar[int]
    PID_FIELD_NUMBER: _ClassVar[int]
    TIME_NS_FIELD_NUMBER: _ClassVar[int]
    FILES_MAX_FIELD_NUMBER: _ClassVar[int]
    FILES_OPEN_FIELD_NUMBER: _ClassVar[int]
    SHARED_BYTES_FIELD_NUMBER: _ClassVar[int]
    MEMORY_BYTES_FIELD_NUMBER: _ClassVar[int]
    tfsvc: str
    python: str
    grpcio: str
    protobuf: str
    cloudpickle: str
    host: str
    pid: int
    time_ns: int
    files_max: int
    files_open: int
    shared_bytes: int
    memory_bytes: int
    def __init__(self, tfsvc: _Optional[str] = ..., python: _Optional[str] = ..., grpcio: _Optional[str] = ..., protobuf: _Optional[str] = ..., cloudpickle: _Optional[str] = ..., host: _Optional[str] = ..., pid: _Optional[int] = ..., time_ns: _Optional[int] = ..., files_max: _Optional[int] = ..., files_open: _Optional[int] = ..., shared_bytes: _Optional[int] = ..., memory_bytes: _Optional[int] = ...) -> None: ...

class DrainWorkerRequest(_message.Message):
    __slots__ = ("worker_address", "grace_ns")
    WORKER_ADDRESS_FIELD_NUMBER: _ClassVar[int]
    GRACE_NS_FIELD_NUMBER: _ClassVar[int]
    worker_address: str
    grace_ns: int
    def __init__(self, worker_address: _Optional[str] = ..., grace_ns: _Optional[int] = ...) -> None: ...

class DrainWorkerResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class StopServiceRequest(_message.Message):
    __slots__ = ("grace_ns",)
    GRACE_NS_FIELD_NUMBER: _ClassVar[int]
    grace_ns: int
    def __init__(self, grace_ns: _Optional[int] = ...) -> None: ...

class StopServiceResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class SnapshotRequest(_message.Message):
    __slots__ = ("dataset", "path", "metadata", "nonce")
    DATASET_FIELD_NUMBER: _ClassVar[int]
    PATH_FIELD_NUMBER: _ClassVar[int]
    METADATA_FIELD_NUMBER: _ClassVar[int]
    NONCE_FIELD_NUMBER: _ClassVar[int]
    dataset: DatasetDef
    path: str
    metadata: DistributedSnapshotMetadata
    nonce: str
    def __init__(self, dataset: _Optional[_Union[DatasetDef, _Mapping]] = ..., path: _Optional[str] = ..., metadata: _Optional[_Union[DistributedSnapshotMetadata, _Mapping]] = ..., nonce: _Optional[str] = ...) -> None: ...

class SnapshotResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class GetSnapshotSplitRequest(_message.Message):
    __slots__ = ("worker_address", "base_path", "stream_index", "source_index", "repetition_index")
    WORKER_ADDRESS_FIELD_NUMBER: _ClassVar[int]
    BASE_PATH_FIELD_NUMBER: _ClassVar[int]
    STREAM_INDEX_FIELD_NUMBER: _ClassVar[int]
    SOURCE_INDEX_FIELD_NUMBER: _ClassVar[int]
    REPETITION_INDEX_FIELD_NUMBER: _ClassVar[int]
    worker_address: str
    base_path: str
    stream_index: int
    source_index: int
    repetition_index: int
    def __init__(self, worker_address: _Optional[str] = ..., base_path: _Optional[str] = ..., stream_index: _Optional[int] = ..., source_index: _Optional[int] = ..., repetition_index: _Optional[int] = ...) -> None: ...

class GetSnapshotSplitResponse(_message.Message):
    __slots__ = ("split", "end_of_splits", "local_split_index")
    SPLIT_FIELD_NUMBER: _ClassVar[int]
    END_OF_SPLITS_FIELD_NUMBER: _ClassVar[int]
    LOCAL_SPLIT_INDEX_FIELD_NUMBER: _ClassVar[int]
    split: TensorProto
    end_of_splits: bool
    local_split_index: int
    def __init__(self, split: _Optional[_Union[TensorProto, _Mapping]] = ..., end_of_splits: bool = ..., local_split_index: _Optional[int] = ...) -> None: ...

class GetSnapshotStreamsRequest(_message.Message):
    __slots__ = ("path",)
    PATH_FIELD_NUMBER: _ClassVar[int]
    path: str
    def __init__(self, path: _Optional[str] = ...) -> None: ...

class GetSnapshotStreamsResponse(_message.Message):
    __slots__ = ("streams", "ended", "error", "splits", "splits_total")
    STREAMS_FIELD_NUMBER: _ClassVar[int]
    ENDED_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    SPLITS_FIELD_NUMBER: _ClassVar[int]
    SPLITS_TOTAL_FIELD_NUMBER: _ClassVar[int]
    streams: _containers.RepeatedCompositeFieldContainer[SnapshotStreamInfo]
    ended: bool
    error: ErrorDef
    splits: int
    splits_total: int
    def __init__(self, streams: _Optional[_Iterable[_Union[SnapshotStreamInfo, _Mapping]]] = ..., ended: bool = ..., error: _Optional[_Union[ErrorDef, _Mapping]] = ..., splits: _Optional[int] = ..., splits_total: _Optional[int] = ...) -> None: ...

class DisableCompressionAtRuntimeRequest(_message.Message):
    __slots__ = ("dataset_id", "disable_compression_at_runtime")
    DATASET_ID_FIELD_NUMBER: _ClassVar[int]
    DISABLE_COMPRESSION_AT_RUNTIME_FIELD_NUMBER: _ClassVar[int]
    dataset_id: str
    disable_compression_at_runtime: bool
    def __init__(self, dataset_id: _Optional[str] = ..., disable_compression_at_runtime: bool = ...) -> None: ...

class DisableCompressionAtRuntimeResponse(_message.Message):
    __slots__ = ("compression_disabled_at_runtime", "no_compression_to_disable")
    COMPRESSION_DISABLED_AT_RUNTIME_FIELD_NUMBER: _ClassVar[int]
    NO_COMPRESSION_TO_DISABLE_FIELD_NUMBER: _ClassVar[int]
    compression_disabled_at_runtime: bool
    no_compression_to_disable: bool
    def __init__(self, compression_disabled_at_runtime: bool = ..., no_compression_to_disable: bool = ...) -> None: ...

class CompressedComponentMetadata(_message.Message):
    __slots__ = ("dtype", "tensor_shape", "uncompressed_bytes")
    DTYPE_FIELD_NUMBER: _ClassVar[int]
    TENSOR_SHAPE_FIELD_NUMBER: _ClassVar[int]
    UNCOMPRESSED_BYTES_FIELD_NUMBER: _ClassVar[int]
    dtype: DataType
    tensor_shape: TensorShapeProto
    uncompressed_bytes: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, dtype: _Optional[_Union[DataType, str]] = ..., tensor_shape: _Optional[_Union[TensorShapeProto, _Mapping]] = ..., uncompressed_bytes: _Optional[_Iterable[int]] = ...) -> None: ...

class CompressedElement(_message.Message):
    __slots__ = ("data", "component_metadata", "version")
    DATA_FIELD_NUMBER: _ClassVar[int]
    COMPONENT_METADATA_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    data: bytes
    component_metadata: _containers.RepeatedCompositeFieldContainer[CompressedComponentMetadata]
    version: int
    def __init__(self, data: _Optional[bytes] = ..., component_metadata: _Optional[_Iterable[_Union[CompressedComponentMetadata, _Mapping]]] = ..., version: _Optional[int] = ...) -> None: ...

class UncompressedElement(_message.Message):
    __slots__ = ("components",)
    COMPONENTS_FIELD_NUMBER: _ClassVar[int]
    components: _containers.RepeatedCompositeFieldContainer[TensorProto]
    def __init__(self, components: _Optional[_Iterable[_Union[TensorProto, _Mapping]]] = ...) -> None: ...

class ProcessTaskRequest(_message.Message):
    __slots__ = ("task",)
    TASK_FIELD_NUMBER: _ClassVar[int]
    task: TaskDef
    def __init__(self, task: _Optional[_Union[TaskDef, _Mapping]] = ...) -> None: ...

class ProcessTaskResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class GetElementRequest(_message.Message):
    __slots__ = ("task_id", "consumer_index", "round_index", "skipped_previous_round", "allow_skip", "trainer_id", "client_id", "patience_ns", "ordinal")
    TASK_ID_FIELD_NUMBER: _ClassVar[int]
    CONSUMER_INDEX_FIELD_NUMBER: _ClassVar[int]
    ROUND_INDEX_FIELD_NUMBER: _ClassVar[int]
    SKIPPED_PREVIOUS_ROUND_FIELD_NUMBER: _ClassVar[int]
    ALLOW_SKIP_FIELD_NUMBER: _ClassVar[int]
    TRAINER_ID_FIELD_NUMBER: _ClassVar[int]
    CLIENT_ID_FIELD_NUMBER: _ClassVar[int]
    PATIENCE_NS_FIELD_NUMBER: _ClassVar[int]
    ORDINAL_FIELD_NUMBER: _ClassVar[int]
    task_id: int
    consumer_index: int
    round_index: int
    skipped_previous_round: bool
    allow_skip: bool
    trainer_id: str
    client_id: int
    patience_ns: int
    ordinal: int
    def __init__(self, task_id: _Optional[int] = ..., consumer_index: _Optional[int] = ..., round_index: _Optional[int] = ..., skipped_previous_round: bool = ..., allow_skip: bool = ..., trainer_id: _Optional[str] = ..., client_id: _Optional[int] = ..., patience_ns: _Optional[int] = ..., ordinal: _Optional[int] = ...) -> None: ...

class GetElementResponse(_message.Message):
    __slots__ = ("compressed", "uncompressed", "element_index", "end_of_sequence", "skip_task", "passed_over")
    COMPRESSED_FIELD_NUMBER: _ClassVar[int]
    UNCOMPRESSED_FIELD_NUMBER: _ClassVar[int]
    ELEMENT_INDEX_FIELD_NUMBER: _ClassVar[int]
    END_OF_SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    SKIP_TASK_FIELD_NUMBER: _ClassVar[int]
    PASSED_OVER_FIELD_NUMBER: _ClassVar[int]
    compressed: CompressedElement
    uncompressed: UncompressedElement
    element_index: int
    end_of_sequence: bool
    skip_task: bool
    passed_over: int
    def __init__(self, compressed: _Optional[_Union[CompressedElement, _Mapping]] = ..., uncompressed: _Optional[_Union[UncompressedElement, _Mapping]] = ..., element_index: _Optional[int] = ..., end_of_sequence: bool = ..., skip_task: bool = ..., passed_over: _Optional[int] = ...) -> None: ...

class GetWorkerTasksRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class GetWorkerTasksResponse(_message.Message):
    __slots__ = ("tasks",)
    TASKS_FIELD_NUMBER: _ClassVar[int]
    tasks: _containers.RepeatedCompositeFieldContainer[TaskInfo]
    def __init__(self, tasks: _Optional[_Iterable[_Union[TaskInfo, _Mapping]]] = ...) -> None: ...

class GetSnapshotTaskProgressesRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class GetSnapshotTaskProgressesResponse(_message.Message):
    __slots__ = ("snapshot_task_progresses",)
    SNAPSHOT_TASK_PROGRESSES_FIELD_NUMBER: _ClassVar[int]
    snapshot_task_progresses: _containers.RepeatedCompositeFieldContainer[SnapshotTaskProgress]
    def __init__(self, snapshot_task_progresses: _Optional[_Iterable[_Union[SnapshotTaskProgress, _Mapping]]] = ...) -> None: ...

class DispatcherConfig(_message.Message):
    __slots__ = ("port", "protocol", "work_dir", "fault_tolerant_mode", "worker_addresses", "deployment_mode", "job_gc_check_interval_ms", "job_gc_timeout_ms", "gc_dynamic_sharding_jobs", "client_timeout_ms", "worker_timeout_ms", "worker_max_concurrent_snapshots")
    PORT_FIELD_NUMBER: _ClassVar[int]
    PROTOCOL_FIELD_NUMBER: _ClassVar[int]
    WORK_DIR_FIELD_NUMBER: _ClassVar[int]
    FAULT_TOLERANT_MODE_FIELD_NUMBER: _ClassVar[int]
    WORKER_ADDRESSES_FIELD_NUMBER: _ClassVar[int]
    DEPLOYMENT_MODE_FIELD_NUMBER: _ClassVar[int]
    JOB_GC_CHECK_INTERVAL_MS_FIELD_NUMBER: _ClassVar[int]
    JOB_GC_TIMEOUT_MS_FIELD_NUMBER: _ClassVar[int]
    GC_DYNAMIC_SHARDING_JOBS_FIELD_NUMBER: _ClassVar[int]
    CLIENT_TIMEOUT_MS_FIELD_NUMBER: _ClassVar[int]
    WORKER_TIMEOUT_MS_FIELD_NUMBER: _ClassVar[int]
    WORKER_MAX_CONCURRENT_SNAPSHOTS_FIELD_NUMBER: _ClassVar[int]
    port: int
    protocol: str
    work_dir: str
    fault_tolerant_mode: bool
    worker_addresses: _containers.RepeatedScalarFieldContainer[str]
    deployment_mode: DeploymentMode
    job_gc_check_interval_ms: int
    job_gc_timeout_ms: int
    gc_dynamic_sharding_jobs: bool
    client_timeout_ms: int
    worker_timeout_ms: int
    worker_max_concurrent_snapshots: int
    def __init__(self, port: _Optional[int] = ..., protocol: _Optional[str] = ..., work_dir: _Optional[str] = ..., fault_tolerant_mode: bool = ..., worker_addresses: _Optional[_Iterable[str]] = ..., deployment_mode: _Optional[_Union[DeploymentMode, str]] = ..., job_gc_check_interval_ms: _Optional[int] = ..., job_gc_timeout_ms: _Optional[int] = ..., gc_dynamic_sharding_jobs: bool = ..., client_timeout_ms: _Optional[int] = ..., worker_timeout_ms: _Optional[int] = ..., worker_max_concurrent_snapshots: _Optional[int] = ...) -> None: ...

class WorkerConfig(_message.Message):
    __slots__ = ("port", "protocol", "dispatcher_address", "worker_address", "worker_tags", "heartbeat_interval_ms", "dispatcher_timeout_ms", "data_transfer_protocol", "data_transfer_port", "data_transfer_address", "cross_trainer_cache_size_bytes", "snapshot_max_chunk_size_bytes", "shutdown_quiet_period_ms")
    PORT_FIELD_NUMBER: _ClassVar[int]
    PROTOCOL_FIELD_NUMBER: _ClassVar[int]
    DISPATCHER_ADDRESS_FIELD_NUMBER: _ClassVar[int]
    WORKER_ADDRESS_FIELD_NUMBER: _ClassVar[int]
    WORKER_TAGS_FIELD_NUMBER: _ClassVar[int]
    HEARTBEAT_INTERVAL_MS_FIELD_NUMBER: _ClassVar[int]
    DISPATCHER_TIMEOUT_MS_FIELD_NUMBER: _ClassVar[int]
    DATA_TRANSFER_PROTOCOL_FIELD_NUMBER: _ClassVar[int]
    DATA_TRANSFER_PORT_FIELD_NUMBER: _ClassVar[int]
    DATA_TRANSFER_ADDRESS_FIELD_NUMBER: _ClassVar[int]
    CROSS_TRAINER_CACHE_SIZE_BYTES_FIELD_NUMBER: _ClassVar[int]
    SNAPSHOT_MAX_CHUNK_SIZE_BYTES_FIELD_NUMBER: _ClassVar[int]
    SHUTDOWN_QUIET_PERIOD_MS_FIELD_NUMBER: _ClassVar[int]
    port: int
    protocol: str
    dispatcher_address: str
    worker_address: str
    worker_tags: _containers.RepeatedScalarFieldContainer[str]
    heartbeat_interval_ms: int
    dispatcher_timeout_ms: int
    data_transfer_protocol: str
    data_transfer_port: int
    data_transfer_address: str
    cross_trainer_cache_size_bytes: int
    snapshot_max_chunk_size_bytes: int
    shutdown_quiet_period_ms: int
    def __init__(self, port: _Optional[int] = ..., protocol: _Optional[str] = ..., dispatcher_address: _Optional[str] = ..., worker_address: _Optional[str] = ..., worker_tags: _Optional[_Iterable[str]] = ..., heartbeat_interval_ms: _Optional[int] = ..., dispatcher_timeout_ms: _Optional[int] = ..., data_transfer_protocol: _Optional[str] = ..., data_transfer_port: _Optional[int] = ..., data_transfer_address: _Optional[str] = ..., cross_trainer_cache_size_bytes: _Optional[int] = ..., snapshot_max_chunk_size_bytes: _Optional[int] = ..., shutdown_quiet_period_ms: _Optional[int] = ...) -> None: ...

class DispatcherStateExport(_message.Message):
    __slots__ = ("dispatcher_config", "worker_addresses", "iterations")
    class Iteration(_message.Message):
        __slots__ = ("dataset_id", "iteration_id", "iteration_key", "processing_mode", "num_consumers", "num_clients", "finished", "garbage_collected")
        DATASET_ID_FIELD_NUMBER: _ClassVar[int]
        ITERATION_ID_FIELD_NUMBER: _ClassVar[int]
        ITERATION_KEY_FIELD_NUMBER: _ClassVar[int]
        PROCESSING_MODE_FIELD_NUMBER: _ClassVar[int]
        NUM_CONSUMERS_FIELD_NUMBER: _ClassVar[int]
        NUM_CLIENTS_FIELD_NUMBER: _ClassVar[int]
        FINISHED_FIELD_NUMBER: _ClassVar[int]
        GARBAGE_COLLECTED_FIELD_NUMBER: _ClassVar[int]
        dataset_id: str
        iteration_id: int
        iteration_key: IterationKeyDef
        processing_mode: ProcessingModeDef
        num_consumers: int
        num_clients: int
        finished: bool
        garbage_collected: bool
        def __init__(self, dataset_id: _Optional[str] = ..., iteration_id: _Optional[int] = ..., iteration_key: _Optional[_Union[IterationKeyDef, _Mapping]] = ..., processing_mode: _Optional[_Union[ProcessingModeDef, _Mapping]] = ..., num_consumers: _Optional[int] = ..., num_clients: _Optional[int] = ..., finished: bool = ..., garbage_collected: bool = ...) -> None: ...
    DISPATCHER_CONFIG_FIELD_NUMBER: _ClassVar[int]
    WORKER_ADDRESSES_FIELD_NUMBER: _ClassVar[int]
    ITERATIONS_FIELD_NUMBER: _ClassVar[int]
    dispatcher_config: DispatcherConfig
    worker_addresses: _containers.RepeatedScalarFieldContainer[str]
    iterations: _containers.RepeatedCompositeFieldContainer[DispatcherStateExport.Iteration]
    def __init__(self, dispatcher_config: _Optional[_Union[DispatcherConfig, _Mapping]] = ..., worker_addresses: _Optional[_Iterable[str]] = ..., iterations: _Optional[_Iterable[_Union[DispatcherStateExport.Iteration, _Mapping]]] = ...) -> None: ...

class WorkerStateExport(_message.Message):
    __slots__ = ("worker_config", "tasks", "finished_task_ids", "deleted_task_ids")
    WORKER_CONFIG_FIELD_NUMBER: _ClassVar[int]
    TASKS_FIELD_NUMBER: _ClassVar[int]
    FINISHED_TASK_IDS_FIELD_NUMBER: _ClassVar[int]
    DELETED_TASK_IDS_FIELD_NUMBER: _ClassVar[int]
    worker_config: WorkerConfig
    tasks: _containers.RepeatedCompositeFieldContainer[TaskDef]
    finished_task_ids: _containers.RepeatedScalarFieldContainer[int]
    deleted_task_ids: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, worker_config: _Optional[_Union[WorkerConfig, _Mapping]] = ..., tasks: _Optional[_Iterable[_Union[TaskDef, _Mapping]]] = ..., finished_task_ids: _Optional[_Iterable[int]] = ..., deleted_task_ids: _Optional[_Iterable[int]] = ...) -> None: ...

class ServerStateExport(_message.Message):
    __slots__ = ("dispatcher_state_export", "worker_state_export")
    DISPATCHER_STATE_EXPORT_FIELD_NUMBER: _ClassVar[int]
    WORKER_STATE_EXPORT_FIELD_NUMBER: _ClassVar[int]
    dispatcher_state_export: DispatcherStateExport
    worker_state_export: WorkerStateExport
    def __init__(self, dispatcher_state_export: _Optional[_Union[DispatcherStateExport, _Mapping]] = ..., worker_state_export: _Optional[_Union[WorkerStateExport, _Mapping]] = ...) -> None: ...

class CallRequest(_message.Message):
    __slots__ = ("method", "input_tensors", "session", "seq", "floor", "timeout_ns")
    METHOD_FIELD_NUMBER: _ClassVar[int]
    INPUT_TENSORS_FIELD_NUMBER: _ClassVar[int]
    SESSION_FIELD_NUMBER: _ClassVar[int]
    SEQ_FIELD_NUMBER: _ClassVar[int]
    FLOOR_FIELD_NUMBER: _ClassVar[int]
    TIMEOUT_NS_FIELD_NUMBER: _ClassVar[int]
    method: str
    input_tensors: _containers.RepeatedScalarFieldContainer[bytes]
    session: int
    seq: int
    floor: int
    timeout_ns: int
    def __init__(self, method: _Optional[str] = ..., input_tensors: _Optional[_Iterable[bytes]] = ..., session: _Optional[int] = ..., seq: _Optional[int] = ..., floor: _Optional[int] = ..., timeout_ns: _Optional[int] = ...) -> None: ...

class CallResponse(_message.Message):
    __slots__ = ("output_tensors", "structure", "refusal")
    OUTPUT_TENSORS_FIELD_NUMBER: _ClassVar[int]
    STRUCTURE_FIELD_NUMBER: _ClassVar[int]
    REFUSAL_FIELD_NUMBER: _ClassVar[int]
    output_tensors: _containers.RepeatedScalarFieldContainer[bytes]
    structure: bytes
    refusal: int
    def __init__(self, output_tensors: _Optional[_Iterable[bytes]] = ..., structure: _Optional[bytes] = ..., refusal: _Optional[int] = ...) -> None: ...

class ListRequest(_message.Message):
    __slots__ = ("open_session",)
    OPEN_SESSION_FIELD_NUMBER: _ClassVar[int]
    open_session: bool
    def __init__(self, open_session: bool = ...) -> None: ...

class RegisteredMethod(_message.Message):
    __slots__ = ("method", "input_specs", "output_specs", "streams")
    METHOD_FIELD_NUMBER: _ClassVar[int]
    INPUT_SPECS_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_SPECS_FIELD_NUMBER: _ClassVar[int]
    STREAMS_FIELD_NUMBER: _ClassVar[int]
    method: str
    input_specs: bytes
    output_specs: bytes
    streams: bool
    def __init__(self, method: _Optional[str] = ..., input_specs: _Optional[bytes] = ..., output_specs: _Optional[bytes] = ..., streams: bool = ...) -> None: ...

class ListResponse(_message.Message):
    __slots__ = ("registered_methods", "session")
    REGISTERED_METHODS_FIELD_NUMBER: _ClassVar[int]
    SESSION_FIELD_NUMBER: _ClassVar[int]
    registered_methods: _containers.RepeatedCompositeFieldContainer[RegisteredMethod]
    session: int
    def __init__(self, registered_methods: _Optional[_Iterable[_Union[RegisteredMethod, _Mapping]]] = ..., session: _Optional[int] = ...) -> None: ...

class SplitPlanDef(_message.Message):
    __slots__ = ("count", "start", "step")
    COUNT_FIELD_NUMBER: _ClassVar[int]
    START_FIELD_NUMBER: _ClassVar[int]
    STEP_FIELD_NUMBER: _ClassVar[int]
    count: int
    start: int
    step: int
    def __init__(self, count: _Optional[int] = ..., start: _Optional[int] = ..., step: _Optional[int] = ...) -> None: ...

class StructureDef(_message.Message):
    __slots__ = ("kind", "name", "keys", "items")
    class Kind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        LEAF: _ClassVar[StructureDef.Kind]
        TUPLE: _ClassVar[StructureDef.Kind]
        LIST: _ClassVar[StructureDef.Kind]
        DICT: _ClassVar[StructureDef.Kind]
        NAMED_TUPLE: _ClassVar[StructureDef.Kind]
    LEAF: StructureDef.Kind
    TUPLE: StructureDef.Kind
    LIST: StructureDef.Kind
    DICT: StructureDef.Kind
    NAMED_TUPLE: StructureDef.Kind
    KIND_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    KEYS_FIELD_NUMBER: _ClassVar[int]
    ITEMS_FIELD_NUMBER: _ClassVar[int]
    kind: StructureDef.Kind
    name: str
    keys: _containers.RepeatedScalarFieldContainer[str]
    items: _containers.RepeatedCompositeFieldContainer[StructureDef]
    def __init__(self, kind: _Optional[_Union[StructureDef.Kind, str]] = ..., name: _Optional[str] = ..., keys: _Optional[_Iterable[str]] = ..., items: _Optional[_Iterable[_Union[StructureDef, _Mapping]]] = ...) -> None: ...

class ColumnDef(_message.Message):
    __slots__ = ("ragged", "dtypes", "ranks", "dims")
    RAGGED_FIELD_NUMBER: _ClassVar[int]
    DTYPES_FIELD_NUMBER: _ClassVar[int]
    RANKS_FIELD_NUMBER: _ClassVar[int]
    DIMS_FIELD_NUMBER: _ClassVar[int]
    ragged: bool
    dtypes: _containers.RepeatedScalarFieldContainer[int]
    ranks: _containers.RepeatedScalarFieldContainer[int]
    dims: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, ragged: bool = ..., dtypes: _Optional[_Iterable[int]] = ..., ranks: _Optional[_Iterable[int]] = ..., dims: _Optional[_Iterable[int]] = ...) -> None: ...

class FrameDef(_message.Message):
    __slots__ = ("count", "structure", "columns")
    COUNT_FIELD_NUMBER: _ClassVar[int]
    STRUCTURE_FIELD_NUMBER: _ClassVar[int]
    COLUMNS_FIELD_NUMBER: _ClassVar[int]
    count: int
    structure: bytes
    columns: _containers.RepeatedCompositeFieldContainer[ColumnDef]
    def __init__(self, count: _Optional[int] = ..., structure: _Optional[bytes] = ..., columns: _Optional[_Iterable[_Union[ColumnDef, _Mapping]]] = ...) -> None: ...

class SplitPositionDef(_message.Message):
    __slots__ = ("repetition", "offset")
    REPETITION_FIELD_NUMBER: _ClassVar[int]
    OFFSET_FIELD_NUMBER: _ClassVar[int]
    repetition: int
    offset: int
    def __init__(self, repetition: _Optional[int] = ..., offset: _Optional[int] = ...) -> None: ...

class SpanDef(_message.Message):
    __slots__ = ("lo", "hi")
    LO_FIELD_NUMBER: _ClassVar[int]
    HI_FIELD_NUMBER: _ClassVar[int]
    lo: int
    hi: int
    def __init__(self, lo: _Optional[int] = ..., hi: _Optional[int] = ...) -> None: ...

class LeaseDef(_message.Message):
    __slots__ = ("provider", "at", "spans", "ended")
    PROVIDER_FIELD_NUMBER: _ClassVar[int]
    AT_FIELD_NUMBER: _ClassVar[int]
    SPANS_FIELD_NUMBER: _ClassVar[int]
    ENDED_FIELD_NUMBER: _ClassVar[int]
    provider: int
    at: SplitPositionDef
    spans: _containers.RepeatedCompositeFieldContainer[SpanDef]
    ended: bool
    def __init__(self, provider: _Optional[int] = ..., at: _Optional[_Union[SplitPositionDef, _Mapping]] = ..., spans: _Optional[_Iterable[_Union[SpanDef, _Mapping]]] = ..., ended: bool = ...) -> None: ...

class CheckpointDef(_message.Message):
    __slots__ = ("ordinal", "positions", "state", "run")
    ORDINAL_FIELD_NUMBER: _ClassVar[int]
    POSITIONS_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    RUN_FIELD_NUMBER: _ClassVar[int]
    ordinal: int
    positions: _containers.RepeatedCompositeFieldContainer[SplitPositionDef]
    state: bytes
    run: int
    def __init__(self, ordinal: _Optional[int] = ..., positions: _Optional[_Iterable[_Union[SplitPositionDef, _Mapping]]] = ..., state: _Optional[bytes] = ..., run: _Optional[int] = ...) -> None: ...

class OrderDef(_message.Message):
    __slots__ = ("lanes", "block", "seed", "remainder")
    LANES_FIELD_NUMBER: _ClassVar[int]
    BLOCK_FIELD_NUMBER: _ClassVar[int]
    SEED_FIELD_NUMBER: _ClassVar[int]
    REMAINDER_FIELD_NUMBER: _ClassVar[int]
    lanes: int
    block: int
    seed: int
    remainder: int
    def __init__(self, lanes: _Optional[int] = ..., block: _Optional[int] = ..., seed: _Optional[int] = ..., remainder: _Optional[int] = ...) -> None: ...

class LanePlace(_message.Message):
    __slots__ = ("index", "ordinal", "checkpoint")
    INDEX_FIELD_NUMBER: _ClassVar[int]
    ORDINAL_FIELD_NUMBER: _ClassVar[int]
    CHECKPOINT_FIELD_NUMBER: _ClassVar[int]
    index: int
    ordinal: int
    checkpoint: CheckpointDef
    def __init__(self, index: _Optional[int] = ..., ordinal: _Optional[int] = ..., checkpoint: _Optional[_Union[CheckpointDef, _Mapping]] = ...) -> None: ...

class LaneInfo(_message.Message):
    __slots__ = ("lane_id", "attempt", "task_id", "worker_address", "ordinal", "index", "again")
    LANE_ID_FIELD_NUMBER: _ClassVar[int]
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    TASK_ID_FIELD_NUMBER: _ClassVar[int]
    WORKER_ADDRESS_FIELD_NUMBER: _ClassVar[int]
    ORDINAL_FIELD_NUMBER: _ClassVar[int]
    INDEX_FIELD_NUMBER: _ClassVar[int]
    AGAIN_FIELD_NUMBER: _ClassVar[int]
    lane_id: int
    attempt: int
    task_id: int
    worker_address: str
    ordinal: int
    index: int
    again: bool
    def __init__(self, lane_id: _Optional[int] = ..., attempt: _Optional[int] = ..., task_id: _Optional[int] = ..., worker_address: _Optional[str] = ..., ordinal: _Optional[int] = ..., index: _Optional[int] = ..., again: bool = ...) -> None: ...

class LaneProgress(_message.Message):
    __slots__ = ("lane_id", "ordinal", "done", "checkpoint")
    LANE_ID_FIELD_NUMBER: _ClassVar[int]
    ORDINAL_FIELD_NUMBER: _ClassVar[int]
    DONE_FIELD_NUMBER: _ClassVar[int]
    CHECKPOINT_FIELD_NUMBER: _ClassVar[int]
    lane_id: int
    ordinal: int
    done: bool
    checkpoint: CheckpointDef
    def __init__(self, lane_id: _Optional[int] = ..., ordinal: _Optional[int] = ..., done: bool = ..., checkpoint: _Optional[_Union[CheckpointDef, _Mapping]] = ...) -> None: ...

class Level(_message.Message):
    __slots__ = ("taken", "reach", "final", "waits_for")
    TAKEN_FIELD_NUMBER: _ClassVar[int]
    REACH_FIELD_NUMBER: _ClassVar[int]
    FINAL_FIELD_NUMBER: _ClassVar[int]
    WAITS_FOR_FIELD_NUMBER: _ClassVar[int]
    taken: int
    reach: int
    final: int
    waits_for: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, taken: _Optional[int] = ..., reach: _Optional[int] = ..., final: _Optional[int] = ..., waits_for: _Optional[_Iterable[int]] = ...) -> None: ...

class LaneComplaint(_message.Message):
    __slots__ = ("lane_id", "attempt", "reason", "refused")
    LANE_ID_FIELD_NUMBER: _ClassVar[int]
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    REFUSED_FIELD_NUMBER: _ClassVar[int]
    lane_id: int
    attempt: int
    reason: str
    refused: bool
    def __init__(self, lane_id: _Optional[int] = ..., attempt: _Optional[int] = ..., reason: _Optional[str] = ..., refused: bool = ...) -> None: ...

class OpenLaneRequest(_message.Message):
    __slots__ = ("lane_id", "attempt", "worker_address", "wanted")
    LANE_ID_FIELD_NUMBER: _ClassVar[int]
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    WORKER_ADDRESS_FIELD_NUMBER: _ClassVar[int]
    WANTED_FIELD_NUMBER: _ClassVar[int]
    lane_id: int
    attempt: int
    worker_address: str
    wanted: int
    def __init__(self, lane_id: _Optional[int] = ..., attempt: _Optional[int] = ..., worker_address: _Optional[str] = ..., wanted: _Optional[int] = ...) -> None: ...

class OpenLaneResponse(_message.Message):
    __slots__ = ("checkpoint", "leases", "index", "order")
    CHECKPOINT_FIELD_NUMBER: _ClassVar[int]
    LEASES_FIELD_NUMBER: _ClassVar[int]
    INDEX_FIELD_NUMBER: _ClassVar[int]
    ORDER_FIELD_NUMBER: _ClassVar[int]
    checkpoint: CheckpointDef
    leases: _containers.RepeatedCompositeFieldContainer[LeaseDef]
    index: int
    order: OrderDef
    def __init__(self, checkpoint: _Optional[_Union[CheckpointDef, _Mapping]] = ..., leases: _Optional[_Iterable[_Union[LeaseDef, _Mapping]]] = ..., index: _Optional[int] = ..., order: _Optional[_Union[OrderDef, _Mapping]] = ...) -> None: ...

class LeaseSplitsRequest(_message.Message):
    __slots__ = ("lane_id", "attempt", "provider", "at", "wanted", "checkpoint")
    LANE_ID_FIELD_NUMBER: _ClassVar[int]
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    PROVIDER_FIELD_NUMBER: _ClassVar[int]
    AT_FIELD_NUMBER: _ClassVar[int]
    WANTED_FIELD_NUMBER: _ClassVar[int]
    CHECKPOINT_FIELD_NUMBER: _ClassVar[int]
    lane_id: int
    attempt: int
    provider: int
    at: SplitPositionDef
    wanted: int
    checkpoint: CheckpointDef
    def __init__(self, lane_id: _Optional[int] = ..., attempt: _Optional[int] = ..., provider: _Optional[int] = ..., at: _Optional[_Union[SplitPositionDef, _Mapping]] = ..., wanted: _Optional[int] = ..., checkpoint: _Optional[_Union[CheckpointDef, _Mapping]] = ...) -> None: ...

class LeaseSplitsResponse(_message.Message):
    __slots__ = ("lease",)
    LEASE_FIELD_NUMBER: _ClassVar[int]
    lease: LeaseDef
    def __init__(self, lease: _Optional[_Union[LeaseDef, _Mapping]] = ...) -> None: ...

class OpenStreamRequest(_message.Message):
    __slots__ = ("lane_id", "attempt", "wanted")
    LANE_ID_FIELD_NUMBER: _ClassVar[int]
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    WANTED_FIELD_NUMBER: _ClassVar[int]
    lane_id: int
    attempt: int
    wanted: int
    def __init__(self, lane_id: _Optional[int] = ..., attempt: _Optional[int] = ..., wanted: _Optional[int] = ...) -> None: ...

class OpenStreamResponse(_message.Message):
    __slots__ = ("dataset", "checkpoint", "leases", "chunks", "saved_by", "seed")
    DATASET_FIELD_NUMBER: _ClassVar[int]
    CHECKPOINT_FIELD_NUMBER: _ClassVar[int]
    LEASES_FIELD_NUMBER: _ClassVar[int]
    CHUNKS_FIELD_NUMBER: _ClassVar[int]
    SAVED_BY_FIELD_NUMBER: _ClassVar[int]
    SEED_FIELD_NUMBER: _ClassVar[int]
    dataset: DatasetDef
    checkpoint: CheckpointDef
    leases: _containers.RepeatedCompositeFieldContainer[LeaseDef]
    chunks: int
    saved_by: int
    seed: int
    def __init__(self, dataset: _Optional[_Union[DatasetDef, _Mapping]] = ..., checkpoint: _Optional[_Union[CheckpointDef, _Mapping]] = ..., leases: _Optional[_Iterable[_Union[LeaseDef, _Mapping]]] = ..., chunks: _Optional[int] = ..., saved_by: _Optional[int] = ..., seed: _Optional[int] = ...) -> None: ...

class CommitChunkRequest(_message.Message):
    __slots__ = ("lane_id", "attempt", "number", "elements", "checkpoint", "done")
    LANE_ID_FIELD_NUMBER: _ClassVar[int]
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    ELEMENTS_FIELD_NUMBER: _ClassVar[int]
    CHECKPOINT_FIELD_NUMBER: _ClassVar[int]
    DONE_FIELD_NUMBER: _ClassVar[int]
    lane_id: int
    attempt: int
    number: int
    elements: int
    checkpoint: CheckpointDef
    done: bool
    def __init__(self, lane_id: _Optional[int] = ..., attempt: _Optional[int] = ..., number: _Optional[int] = ..., elements: _Optional[int] = ..., checkpoint: _Optional[_Union[CheckpointDef, _Mapping]] = ..., done: bool = ...) -> None: ...

class CommitChunkResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class GetFramesRequest(_message.Message):
    __slots__ = ("task_id", "lane_id", "attempt", "client_id", "ordinal", "bytes_max", "run")
    TASK_ID_FIELD_NUMBER: _ClassVar[int]
    LANE_ID_FIELD_NUMBER: _ClassVar[int]
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    CLIENT_ID_FIELD_NUMBER: _ClassVar[int]
    ORDINAL_FIELD_NUMBER: _ClassVar[int]
    BYTES_MAX_FIELD_NUMBER: _ClassVar[int]
    RUN_FIELD_NUMBER: _ClassVar[int]
    task_id: int
    lane_id: int
    attempt: int
    client_id: int
    ordinal: int
    bytes_max: int
    run: int
    def __init__(self, task_id: _Optional[int] = ..., lane_id: _Optional[int] = ..., attempt: _Optional[int] = ..., client_id: _Optional[int] = ..., ordinal: _Optional[int] = ..., bytes_max: _Optional[int] = ..., run: _Optional[int] = ...) -> None: ...

class ErrorDef(_message.Message):
    __slots__ = ("code", "message")
    CODE_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    code: int
    message: str
    def __init__(self, code: _Optional[int] = ..., message: _Optional[str] = ...) -> None: ...

class StreamFrame(_message.Message):
    __slots__ = ("start", "count", "body", "error", "run", "place", "length")
    START_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    BODY_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    RUN_FIELD_NUMBER: _ClassVar[int]
    PLACE_FIELD_NUMBER: _ClassVar[int]
    LENGTH_FIELD_NUMBER: _ClassVar[int]
    start: int
    count: int
    body: bytes
    error: ErrorDef
    run: int
    place: int
    length: int
    def __init__(self, start: _Optional[int] = ..., count: _Optional[int] = ..., body: _Optional[bytes] = ..., error: _Optional[_Union[ErrorDef, _Mapping]] = ..., run: _Optional[int] = ..., place: _Optional[int] = ..., length: _Optional[int] = ...) -> None: ...

class GetFramesResponse(_message.Message):
    __slots__ = ("frames", "end_of_stream", "run", "checkpoint")
    FRAMES_FIELD_NUMBER: _ClassVar[int]
    END_OF_STREAM_FIELD_NUMBER: _ClassVar[int]
    RUN_FIELD_NUMBER: _ClassVar[int]
    CHECKPOINT_FIELD_NUMBER: _ClassVar[int]
    frames: _containers.RepeatedCompositeFieldContainer[StreamFrame]
    end_of_stream: bool
    run: int
    checkpoint: CheckpointDef
    def __init__(self, frames: _Optional[_Iterable[_Union[StreamFrame, _Mapping]]] = ..., end_of_stream: bool = ..., run: _Optional[int] = ..., checkpoint: _Optional[_Union[CheckpointDef, _Mapping]] = ...) -> None: ...

class FetchItemsRequest(_message.Message):
    __slots__ = ("session", "seq", "ordinal", "bytes_max")
    SESSION_FIELD_NUMBER: _ClassVar[int]
    SEQ_FIELD_NUMBER: _ClassVar[int]
    ORDINAL_FIELD_NUMBER: _ClassVar[int]
    BYTES_MAX_FIELD_NUMBER: _ClassVar[int]
    session: int
    seq: int
    ordinal: int
    bytes_max: int
    def __init__(self, session: _Optional[int] = ..., seq: _Optional[int] = ..., ordinal: _Optional[int] = ..., bytes_max: _Optional[int] = ...) -> None: ...

class FetchItemsResponse(_message.Message):
    __slots__ = ("items", "ended", "refusal")
    ITEMS_FIELD_NUMBER: _ClassVar[int]
    ENDED_FIELD_NUMBER: _ClassVar[int]
    REFUSAL_FIELD_NUMBER: _ClassVar[int]
    items: _containers.RepeatedCompositeFieldContainer[CallResponse]
    ended: bool
    refusal: int
    def __init__(self, items: _Optional[_Iterable[_Union[CallResponse, _Mapping]]] = ..., ended: bool = ..., refusal: _Optional[int] = ...) -> None: ...

class CancelCallRequest(_message.Message):
    __slots__ = ("session", "seq")
    SESSION_FIELD_NUMBER: _ClassVar[int]
    SEQ_FIELD_NUMBER: _ClassVar[int]
    session: int
    seq: int
    def __init__(self, session: _Optional[int] = ..., seq: _Optional[int] = ...) -> None: ...

class CancelCallResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class EndSessionRequest(_message.Message):
    __slots__ = ("session",)
    SESSION_FIELD_NUMBER: _ClassVar[int]
    session: int
    def __init__(self, session: _Optional[int] = ...) -> None: ...

class EndSessionResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class RegisterDatasetUpdate(_message.Message):
    __slots__ = ("dataset_id", "dataset", "metadata")
    DATASET_ID_FIELD_NUMBER: _ClassVar[int]
    DATASET_FIELD_NUMBER: _ClassVar[int]
    METADATA_FIELD_NUMBER: _ClassVar[int]
    dataset_id: str
    dataset: DatasetDef
    metadata: DataServiceMetadata
    def __init__(self, dataset_id: _Optional[str] = ..., dataset: _Optional[_Union[DatasetDef, _Mapping]] = ..., metadata: _Optional[_Union[DataServiceMetadata, _Mapping]] = ...) -> None: ...

class DecideCompressionUpdate(_message.Message):
    __slots__ = ("dataset_id", "disabled")
    DATASET_ID_FIELD_NUMBER: _ClassVar[int]
    DISABLED_FIELD_NUMBER: _ClassVar[int]
    dataset_id: str
    disabled: bool
    def __init__(self, dataset_id: _Optional[str] = ..., disabled: bool = ...) -> None: ...

class RegisterWorkerUpdate(_message.Message):
    __slots__ = ("address", "incarnation", "transfer_servers", "tags", "uid", "index", "interval_ns")
    ADDRESS_FIELD_NUMBER: _ClassVar[int]
    INCARNATION_FIELD_NUMBER: _ClassVar[int]
    TRANSFER_SERVERS_FIELD_NUMBER: _ClassVar[int]
    TAGS_FIELD_NUMBER: _ClassVar[int]
    UID_FIELD_NUMBER: _ClassVar[int]
    INDEX_FIELD_NUMBER: _ClassVar[int]
    INTERVAL_NS_FIELD_NUMBER: _ClassVar[int]
    address: str
    incarnation: int
    transfer_servers: _containers.RepeatedCompositeFieldContainer[DataTransferServerInfo]
    tags: _containers.RepeatedScalarFieldContainer[str]
    uid: int
    index: int
    interval_ns: int
    def __init__(self, address: _Optional[str] = ..., incarnation: _Optional[int] = ..., transfer_servers: _Optional[_Iterable[_Union[DataTransferServerInfo, _Mapping]]] = ..., tags: _Optional[_Iterable[str]] = ..., uid: _Optional[int] = ..., index: _Optional[int] = ..., interval_ns: _Optional[int] = ...) -> None: ...

class RefreshWorkerUpdate(_message.Message):
    __slots__ = ("address", "transfer_servers", "tags", "uid")
    ADDRESS_FIELD_NUMBER: _ClassVar[int]
    TRANSFER_SERVERS_FIELD_NUMBER: _ClassVar[int]
    TAGS_FIELD_NUMBER: _ClassVar[int]
    UID_FIELD_NUMBER: _ClassVar[int]
    address: str
    transfer_servers: _containers.RepeatedCompositeFieldContainer[DataTransferServerInfo]
    tags: _containers.RepeatedScalarFieldContainer[str]
    uid: int
    def __init__(self, address: _Optional[str] = ..., transfer_servers: _Optional[_Iterable[_Union[DataTransferServerInfo, _Mapping]]] = ..., tags: _Optional[_Iterable[str]] = ..., uid: _Optional[int] = ...) -> None: ...

class LoseWorkerUpdate(_message.Message):
    __slots__ = ("address",)
    ADDRESS_FIELD_NUMBER: _ClassVar[int]
    address: str
    def __init__(self, address: _Optional[str] = ...) -> None: ...

class CreateJobUpdate(_message.Message):
    __slots__ = ("job_id", "name", "dataset_id", "policy", "num_consumers", "use_cross_trainer_cache", "target_workers", "nonce", "order", "delivery")
    JOB_ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    DATASET_ID_FIELD_NUMBER: _ClassVar[int]
    POLICY_FIELD_NUMBER: _ClassVar[int]
    NUM_CONSUMERS_FIELD_NUMBER: _ClassVar[int]
    USE_CROSS_TRAINER_CACHE_FIELD_NUMBER: _ClassVar[int]
    TARGET_WORKERS_FIELD_NUMBER: _ClassVar[int]
    NONCE_FIELD_NUMBER: _ClassVar[int]
    ORDER_FIELD_NUMBER: _ClassVar[int]
    DELIVERY_FIELD_NUMBER: _ClassVar[int]
    job_id: int
    name: str
    dataset_id: str
    policy: int
    num_consumers: int
    use_cross_trainer_cache: bool
    target_workers: int
    nonce: str
    order: OrderDef
    delivery: int
    def __init__(self, job_id: _Optional[int] = ..., name: _Optional[str] = ..., dataset_id: _Optional[str] = ..., policy: _Optional[int] = ..., num_consumers: _Optional[int] = ..., use_cross_trainer_cache: bool = ..., target_workers: _Optional[int] = ..., nonce: _Optional[str] = ..., order: _Optional[_Union[OrderDef, _Mapping]] = ..., delivery: _Optional[int] = ...) -> None: ...

class CreateIterationUpdate(_message.Message):
    __slots__ = ("iteration_id", "job_id", "repetition", "seed", "shards", "finished")
    ITERATION_ID_FIELD_NUMBER: _ClassVar[int]
    JOB_ID_FIELD_NUMBER: _ClassVar[int]
    REPETITION_FIELD_NUMBER: _ClassVar[int]
    SEED_FIELD_NUMBER: _ClassVar[int]
    SHARDS_FIELD_NUMBER: _ClassVar[int]
    FINISHED_FIELD_NUMBER: _ClassVar[int]
    iteration_id: int
    job_id: int
    repetition: int
    seed: int
    shards: int
    finished: bool
    def __init__(self, iteration_id: _Optional[int] = ..., job_id: _Optional[int] = ..., repetition: _Optional[int] = ..., seed: _Optional[int] = ..., shards: _Optional[int] = ..., finished: bool = ...) -> None: ...

class AcquireClientUpdate(_message.Message):
    __slots__ = ("iteration_id", "client_id", "nonce", "consumer_index")
    ITERATION_ID_FIELD_NUMBER: _ClassVar[int]
    CLIENT_ID_FIELD_NUMBER: _ClassVar[int]
    NONCE_FIELD_NUMBER: _ClassVar[int]
    CONSUMER_INDEX_FIELD_NUMBER: _ClassVar[int]
    iteration_id: int
    client_id: int
    nonce: str
    consumer_index: int
    def __init__(self, iteration_id: _Optional[int] = ..., client_id: _Optional[int] = ..., nonce: _Optional[str] = ..., consumer_index: _Optional[int] = ...) -> None: ...

class ReleaseClientUpdate(_message.Message):
    __slots__ = ("client_id",)
    CLIENT_ID_FIELD_NUMBER: _ClassVar[int]
    client_id: int
    def __init__(self, client_id: _Optional[int] = ...) -> None: ...

class CreateTaskUpdate(_message.Message):
    __slots__ = ("task_id", "iteration_id", "worker_address", "pending", "shard")
    TASK_ID_FIELD_NUMBER: _ClassVar[int]
    ITERATION_ID_FIELD_NUMBER: _ClassVar[int]
    WORKER_ADDRESS_FIELD_NUMBER: _ClassVar[int]
    PENDING_FIELD_NUMBER: _ClassVar[int]
    SHARD_FIELD_NUMBER: _ClassVar[int]
    task_id: int
    iteration_id: int
    worker_address: str
    pending: bool
    shard: int
    def __init__(self, task_id: _Optional[int] = ..., iteration_id: _Optional[int] = ..., worker_address: _Optional[str] = ..., pending: bool = ..., shard: _Optional[int] = ...) -> None: ...

class PromoteTaskUpdate(_message.Message):
    __slots__ = ("task_id", "starting_round")
    TASK_ID_FIELD_NUMBER: _ClassVar[int]
    STARTING_ROUND_FIELD_NUMBER: _ClassVar[int]
    task_id: int
    starting_round: int
    def __init__(self, task_id: _Optional[int] = ..., starting_round: _Optional[int] = ...) -> None: ...

class RemoveTaskUpdate(_message.Message):
    __slots__ = ("task_id",)
    TASK_ID_FIELD_NUMBER: _ClassVar[int]
    task_id: int
    def __init__(self, task_id: _Optional[int] = ...) -> None: ...

class FinishTaskUpdate(_message.Message):
    __slots__ = ("task_id", "lost")
    TASK_ID_FIELD_NUMBER: _ClassVar[int]
    LOST_FIELD_NUMBER: _ClassVar[int]
    task_id: int
    lost: bool
    def __init__(self, task_id: _Optional[int] = ..., lost: bool = ...) -> None: ...

class CollectIterationUpdate(_message.Message):
    __slots__ = ("iteration_id",)
    ITERATION_ID_FIELD_NUMBER: _ClassVar[int]
    iteration_id: int
    def __init__(self, iteration_id: _Optional[int] = ...) -> None: ...

class GiveUpShardUpdate(_message.Message):
    __slots__ = ("iteration_id", "shard")
    ITERATION_ID_FIELD_NUMBER: _ClassVar[int]
    SHARD_FIELD_NUMBER: _ClassVar[int]
    iteration_id: int
    shard: int
    def __init__(self, iteration_id: _Optional[int] = ..., shard: _Optional[int] = ...) -> None: ...

class ProduceSplitUpdate(_message.Message):
    __slots__ = ("iteration_id", "provider", "repetition", "finished")
    ITERATION_ID_FIELD_NUMBER: _ClassVar[int]
    PROVIDER_FIELD_NUMBER: _ClassVar[int]
    REPETITION_FIELD_NUMBER: _ClassVar[int]
    FINISHED_FIELD_NUMBER: _ClassVar[int]
    iteration_id: int
    provider: int
    repetition: int
    finished: bool
    def __init__(self, iteration_id: _Optional[int] = ..., provider: _Optional[int] = ..., repetition: _Optional[int] = ..., finished: bool = ...) -> None: ...

class OpenLaneUpdate(_message.Message):
    __slots__ = ("lane_id", "iteration_id", "task_id", "client_id")
    LANE_ID_FIELD_NUMBER: _ClassVar[int]
    ITERATION_ID_FIELD_NUMBER: _ClassVar[int]
    TASK_ID_FIELD_NUMBER: _ClassVar[int]
    CLIENT_ID_FIELD_NUMBER: _ClassVar[int]
    lane_id: int
    iteration_id: int
    task_id: int
    client_id: int
    def __init__(self, lane_id: _Optional[int] = ..., iteration_id: _Optional[int] = ..., task_id: _Optional[int] = ..., client_id: _Optional[int] = ...) -> None: ...

class DealLaneUpdate(_message.Message):
    __slots__ = ("lane_id", "iteration_id", "place")
    LANE_ID_FIELD_NUMBER: _ClassVar[int]
    ITERATION_ID_FIELD_NUMBER: _ClassVar[int]
    PLACE_FIELD_NUMBER: _ClassVar[int]
    lane_id: int
    iteration_id: int
    place: LanePlace
    def __init__(self, lane_id: _Optional[int] = ..., iteration_id: _Optional[int] = ..., place: _Optional[_Union[LanePlace, _Mapping]] = ...) -> None: ...

class CountConsumerUpdate(_message.Message):
    __slots__ = ("iteration_id", "consumer", "total")
    ITERATION_ID_FIELD_NUMBER: _ClassVar[int]
    CONSUMER_FIELD_NUMBER: _ClassVar[int]
    TOTAL_FIELD_NUMBER: _ClassVar[int]
    iteration_id: int
    consumer: int
    total: int
    def __init__(self, iteration_id: _Optional[int] = ..., consumer: _Optional[int] = ..., total: _Optional[int] = ...) -> None: ...

class LeaseSplitsUpdate(_message.Message):
    __slots__ = ("lane_id", "lease")
    LANE_ID_FIELD_NUMBER: _ClassVar[int]
    LEASE_FIELD_NUMBER: _ClassVar[int]
    lane_id: int
    lease: LeaseDef
    def __init__(self, lane_id: _Optional[int] = ..., lease: _Optional[_Union[LeaseDef, _Mapping]] = ...) -> None: ...

class MoveLaneUpdate(_message.Message):
    __slots__ = ("lane_id", "attempt", "task_id", "client_id")
    LANE_ID_FIELD_NUMBER: _ClassVar[int]
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    TASK_ID_FIELD_NUMBER: _ClassVar[int]
    CLIENT_ID_FIELD_NUMBER: _ClassVar[int]
    lane_id: int
    attempt: int
    task_id: int
    client_id: int
    def __init__(self, lane_id: _Optional[int] = ..., attempt: _Optional[int] = ..., task_id: _Optional[int] = ..., client_id: _Optional[int] = ...) -> None: ...

class RepeatLaneUpdate(_message.Message):
    __slots__ = ("lane_id", "attempt", "task_id", "client_id")
    LANE_ID_FIELD_NUMBER: _ClassVar[int]
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    TASK_ID_FIELD_NUMBER: _ClassVar[int]
    CLIENT_ID_FIELD_NUMBER: _ClassVar[int]
    lane_id: int
    attempt: int
    task_id: int
    client_id: int
    def __init__(self, lane_id: _Optional[int] = ..., attempt: _Optional[int] = ..., task_id: _Optional[int] = ..., client_id: _Optional[int] = ...) -> None: ...

class DropLaneUpdate(_message.Message):
    __slots__ = ("lane_id",)
    LANE_ID_FIELD_NUMBER: _ClassVar[int]
    lane_id: int
    def __init__(self, lane_id: _Optional[int] = ...) -> None: ...

class AdvanceLaneUpdate(_message.Message):
    __slots__ = ("lane_id", "ordinal", "done", "checkpoint")
    LANE_ID_FIELD_NUMBER: _ClassVar[int]
    ORDINAL_FIELD_NUMBER: _ClassVar[int]
    DONE_FIELD_NUMBER: _ClassVar[int]
    CHECKPOINT_FIELD_NUMBER: _ClassVar[int]
    lane_id: int
    ordinal: int
    done: bool
    checkpoint: CheckpointDef
    def __init__(self, lane_id: _Optional[int] = ..., ordinal: _Optional[int] = ..., done: bool = ..., checkpoint: _Optional[_Union[CheckpointDef, _Mapping]] = ...) -> None: ...

class SaveCheckpointUpdate(_message.Message):
    __slots__ = ("lane_id", "checkpoint")
    LANE_ID_FIELD_NUMBER: _ClassVar[int]
    CHECKPOINT_FIELD_NUMBER: _ClassVar[int]
    lane_id: int
    checkpoint: CheckpointDef
    def __init__(self, lane_id: _Optional[int] = ..., checkpoint: _Optional[_Union[CheckpointDef, _Mapping]] = ...) -> None: ...

class RegisterSnapshotUpdate(_message.Message):
    __slots__ = ("path", "dataset", "metadata", "seed", "nonce")
    PATH_FIELD_NUMBER: _ClassVar[int]
    DATASET_FIELD_NUMBER: _ClassVar[int]
    METADATA_FIELD_NUMBER: _ClassVar[int]
    SEED_FIELD_NUMBER: _ClassVar[int]
    NONCE_FIELD_NUMBER: _ClassVar[int]
    path: str
    dataset: DatasetDef
    metadata: DistributedSnapshotMetadata
    seed: int
    nonce: str
    def __init__(self, path: _Optional[str] = ..., dataset: _Optional[_Union[DatasetDef, _Mapping]] = ..., metadata: _Optional[_Union[DistributedSnapshotMetadata, _Mapping]] = ..., seed: _Optional[int] = ..., nonce: _Optional[str] = ...) -> None: ...

class CreateSnapshotUpdate(_message.Message):
    __slots__ = ("path",)
    PATH_FIELD_NUMBER: _ClassVar[int]
    path: str
    def __init__(self, path: _Optional[str] = ...) -> None: ...

class ForgetSnapshotUpdate(_message.Message):
    __slots__ = ("path",)
    PATH_FIELD_NUMBER: _ClassVar[int]
    path: str
    def __init__(self, path: _Optional[str] = ...) -> None: ...

class OpenStreamUpdate(_message.Message):
    __slots__ = ("path", "lane_id", "worker_address", "incarnation")
    PATH_FIELD_NUMBER: _ClassVar[int]
    LANE_ID_FIELD_NUMBER: _ClassVar[int]
    WORKER_ADDRESS_FIELD_NUMBER: _ClassVar[int]
    INCARNATION_FIELD_NUMBER: _ClassVar[int]
    path: str
    lane_id: int
    worker_address: str
    incarnation: int
    def __init__(self, path: _Optional[str] = ..., lane_id: _Optional[int] = ..., worker_address: _Optional[str] = ..., incarnation: _Optional[int] = ...) -> None: ...

class MoveStreamUpdate(_message.Message):
    __slots__ = ("lane_id", "attempt", "worker_address", "incarnation")
    LANE_ID_FIELD_NUMBER: _ClassVar[int]
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    WORKER_ADDRESS_FIELD_NUMBER: _ClassVar[int]
    INCARNATION_FIELD_NUMBER: _ClassVar[int]
    lane_id: int
    attempt: int
    worker_address: str
    incarnation: int
    def __init__(self, lane_id: _Optional[int] = ..., attempt: _Optional[int] = ..., worker_address: _Optional[str] = ..., incarnation: _Optional[int] = ...) -> None: ...

class LeaseToStreamUpdate(_message.Message):
    __slots__ = ("lane_id", "lease")
    LANE_ID_FIELD_NUMBER: _ClassVar[int]
    LEASE_FIELD_NUMBER: _ClassVar[int]
    lane_id: int
    lease: LeaseDef
    def __init__(self, lane_id: _Optional[int] = ..., lease: _Optional[_Union[LeaseDef, _Mapping]] = ...) -> None: ...

class CommitChunkUpdate(_message.Message):
    __slots__ = ("lane_id", "elements", "checkpoint", "done")
    LANE_ID_FIELD_NUMBER: _ClassVar[int]
    ELEMENTS_FIELD_NUMBER: _ClassVar[int]
    CHECKPOINT_FIELD_NUMBER: _ClassVar[int]
    DONE_FIELD_NUMBER: _ClassVar[int]
    lane_id: int
    elements: int
    checkpoint: CheckpointDef
    done: bool
    def __init__(self, lane_id: _Optional[int] = ..., elements: _Optional[int] = ..., checkpoint: _Optional[_Union[CheckpointDef, _Mapping]] = ..., done: bool = ...) -> None: ...

class GiveToStreamUpdate(_message.Message):
    __slots__ = ("lane_id", "source", "repetition")
    LANE_ID_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    REPETITION_FIELD_NUMBER: _ClassVar[int]
    lane_id: int
    source: int
    repetition: int
    def __init__(self, lane_id: _Optional[int] = ..., source: _Optional[int] = ..., repetition: _Optional[int] = ...) -> None: ...

class FinishStreamUpdate(_message.Message):
    __slots__ = ("lane_id",)
    LANE_ID_FIELD_NUMBER: _ClassVar[int]
    lane_id: int
    def __init__(self, lane_id: _Optional[int] = ...) -> None: ...

class EndSnapshotUpdate(_message.Message):
    __slots__ = ("path", "error")
    PATH_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    path: str
    error: ErrorDef
    def __init__(self, path: _Optional[str] = ..., error: _Optional[_Union[ErrorDef, _Mapping]] = ...) -> None: ...

class CloseSnapshotUpdate(_message.Message):
    __slots__ = ("path",)
    PATH_FIELD_NUMBER: _ClassVar[int]
    path: str
    def __init__(self, path: _Optional[str] = ...) -> None: ...

class CommitDef(_message.Message):
    __slots__ = ("attempt", "elements")
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    ELEMENTS_FIELD_NUMBER: _ClassVar[int]
    attempt: int
    elements: int
    def __init__(self, attempt: _Optional[int] = ..., elements: _Optional[int] = ...) -> None: ...

class GiftDef(_message.Message):
    __slots__ = ("source", "repetition", "position", "local", "overall")
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    REPETITION_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    LOCAL_FIELD_NUMBER: _ClassVar[int]
    OVERALL_FIELD_NUMBER: _ClassVar[int]
    source: int
    repetition: int
    position: int
    local: int
    overall: int
    def __init__(self, source: _Optional[int] = ..., repetition: _Optional[int] = ..., position: _Optional[int] = ..., local: _Optional[int] = ..., overall: _Optional[int] = ...) -> None: ...

class GivenDef(_message.Message):
    __slots__ = ("source", "repetition", "many")
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    REPETITION_FIELD_NUMBER: _ClassVar[int]
    MANY_FIELD_NUMBER: _ClassVar[int]
    source: int
    repetition: int
    many: int
    def __init__(self, source: _Optional[int] = ..., repetition: _Optional[int] = ..., many: _Optional[int] = ...) -> None: ...

class RestoreStreamUpdate(_message.Message):
    __slots__ = ("lane_id", "attempt", "done", "commits", "checkpoint", "leases", "gifts")
    LANE_ID_FIELD_NUMBER: _ClassVar[int]
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    DONE_FIELD_NUMBER: _ClassVar[int]
    COMMITS_FIELD_NUMBER: _ClassVar[int]
    CHECKPOINT_FIELD_NUMBER: _ClassVar[int]
    LEASES_FIELD_NUMBER: _ClassVar[int]
    GIFTS_FIELD_NUMBER: _ClassVar[int]
    lane_id: int
    attempt: int
    done: bool
    commits: _containers.RepeatedCompositeFieldContainer[CommitDef]
    checkpoint: CheckpointDef
    leases: _containers.RepeatedCompositeFieldContainer[LeaseDef]
    gifts: _containers.RepeatedCompositeFieldContainer[GiftDef]
    def __init__(self, lane_id: _Optional[int] = ..., attempt: _Optional[int] = ..., done: bool = ..., commits: _Optional[_Iterable[_Union[CommitDef, _Mapping]]] = ..., checkpoint: _Optional[_Union[CheckpointDef, _Mapping]] = ..., leases: _Optional[_Iterable[_Union[LeaseDef, _Mapping]]] = ..., gifts: _Optional[_Iterable[_Union[GiftDef, _Mapping]]] = ...) -> None: ...

class RestoreSnapshotUpdate(_message.Message):
    __slots__ = ("path", "given")
    PATH_FIELD_NUMBER: _ClassVar[int]
    GIVEN_FIELD_NUMBER: _ClassVar[int]
    path: str
    given: _containers.RepeatedCompositeFieldContainer[GivenDef]
    def __init__(self, path: _Optional[str] = ..., given: _Optional[_Iterable[_Union[GivenDef, _Mapping]]] = ...) -> None: ...

class FinishIterationUpdate(_message.Message):
    __slots__ = ("iteration_id",)
    ITERATION_ID_FIELD_NUMBER: _ClassVar[int]
    iteration_id: int
    def __init__(self, iteration_id: _Optional[int] = ...) -> None: ...

class ReserveIdsUpdate(_message.Message):
    __slots__ = ("dataset_id", "iteration_id", "client_id", "task_id", "job_id", "lane_id")
    DATASET_ID_FIELD_NUMBER: _ClassVar[int]
    ITERATION_ID_FIELD_NUMBER: _ClassVar[int]
    CLIENT_ID_FIELD_NUMBER: _ClassVar[int]
    TASK_ID_FIELD_NUMBER: _ClassVar[int]
    JOB_ID_FIELD_NUMBER: _ClassVar[int]
    LANE_ID_FIELD_NUMBER: _ClassVar[int]
    dataset_id: int
    iteration_id: int
    client_id: int
    task_id: int
    job_id: int
    lane_id: int
    def __init__(self, dataset_id: _Optional[int] = ..., iteration_id: _Optional[int] = ..., client_id: _Optional[int] = ..., task_id: _Optional[int] = ..., job_id: _Optional[int] = ..., lane_id: _Optional[int] = ...) -> None: ...

class NonceDef(_message.Message):
    __slots__ = ("nonce", "made")
    NONCE_FIELD_NUMBER: _ClassVar[int]
    MADE_FIELD_NUMBER: _ClassVar[int]
    nonce: str
    made: int
    def __init__(self, nonce: _Optional[str] = ..., made: _Optional[int] = ...) -> None: ...

class RestoreNoncesUpdate(_message.Message):
    __slots__ = ("nonces",)
    NONCES_FIELD_NUMBER: _ClassVar[int]
    nonces: _containers.RepeatedCompositeFieldContainer[NonceDef]
    def __init__(self, nonces: _Optional[_Iterable[_Union[NonceDef, _Mapping]]] = ...) -> None: ...

class RestoreFinishedUpdate(_message.Message):
    __slots__ = ("job_id", "repetitions")
    JOB_ID_FIELD_NUMBER: _ClassVar[int]
    REPETITIONS_FIELD_NUMBER: _ClassVar[int]
    job_id: int
    repetitions: _containers.RepeatedCompositeFieldContainer[SpanDef]
    def __init__(self, job_id: _Optional[int] = ..., repetitions: _Optional[_Iterable[_Union[SpanDef, _Mapping]]] = ...) -> None: ...

class CursorPointDef(_message.Message):
    __slots__ = ("provider", "repetition", "next", "ended", "shard")
    PROVIDER_FIELD_NUMBER: _ClassVar[int]
    REPETITION_FIELD_NUMBER: _ClassVar[int]
    NEXT_FIELD_NUMBER: _ClassVar[int]
    ENDED_FIELD_NUMBER: _ClassVar[int]
    SHARD_FIELD_NUMBER: _ClassVar[int]
    provider: int
    repetition: int
    next: int
    ended: bool
    shard: int
    def __init__(self, provider: _Optional[int] = ..., repetition: _Optional[int] = ..., next: _Optional[int] = ..., ended: bool = ..., shard: _Optional[int] = ...) -> None: ...

class EntryDef(_message.Message):
    __slots__ = ("key", "value")
    KEY_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    key: int
    value: int
    def __init__(self, key: _Optional[int] = ..., value: _Optional[int] = ...) -> None: ...

class RestoreIterationUpdate(_message.Message):
    __slots__ = ("iteration_id", "cursors", "released", "ended_shards", "lost_tasks", "leased_again", "dealt", "ended", "begun", "totals", "given_up", "repeated", "lost_shards")
    ITERATION_ID_FIELD_NUMBER: _ClassVar[int]
    CURSORS_FIELD_NUMBER: _ClassVar[int]
    RELEASED_FIELD_NUMBER: _ClassVar[int]
    ENDED_SHARDS_FIELD_NUMBER: _ClassVar[int]
    LOST_TASKS_FIELD_NUMBER: _ClassVar[int]
    LEASED_AGAIN_FIELD_NUMBER: _ClassVar[int]
    DEALT_FIELD_NUMBER: _ClassVar[int]
    ENDED_FIELD_NUMBER: _ClassVar[int]
    BEGUN_FIELD_NUMBER: _ClassVar[int]
    TOTALS_FIELD_NUMBER: _ClassVar[int]
    GIVEN_UP_FIELD_NUMBER: _ClassVar[int]
    REPEATED_FIELD_NUMBER: _ClassVar[int]
    LOST_SHARDS_FIELD_NUMBER: _ClassVar[int]
    iteration_id: int
    cursors: _containers.RepeatedCompositeFieldContainer[CursorPointDef]
    released: bool
    ended_shards: _containers.RepeatedScalarFieldContainer[int]
    lost_tasks: int
    leased_again: int
    dealt: _containers.RepeatedCompositeFieldContainer[EntryDef]
    ended: _containers.RepeatedCompositeFieldContainer[EntryDef]
    begun: _containers.RepeatedCompositeFieldContainer[EntryDef]
    totals: _containers.RepeatedCompositeFieldContainer[EntryDef]
    given_up: int
    repeated: int
    lost_shards: int
    def __init__(self, iteration_id: _Optional[int] = ..., cursors: _Optional[_Iterable[_Union[CursorPointDef, _Mapping]]] = ..., released: bool = ..., ended_shards: _Optional[_Iterable[int]] = ..., lost_tasks: _Optional[int] = ..., leased_again: _Optional[int] = ..., dealt: _Optional[_Iterable[_Union[EntryDef, _Mapping]]] = ..., ended: _Optional[_Iterable[_Union[EntryDef, _Mapping]]] = ..., begun: _Optional[_Iterable[_Union[EntryDef, _Mapping]]] = ..., totals: _Optional[_Iterable[_Union[EntryDef, _Mapping]]] = ..., given_up: _Optional[int] = ..., repeated: _Optional[int] = ..., lost_shards: _Optional[int] = ...) -> None: ...

class RestoreLaneUpdate(_message.Message):
    __slots__ = ("lane_id", "attempt", "taken", "leases", "checkpoints", "index", "shard")
    LANE_ID_FIELD_NUMBER: _ClassVar[int]
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    TAKEN_FIELD_NUMBER: _ClassVar[int]
    LEASES_FIELD_NUMBER: _ClassVar[int]
    CHECKPOINTS_FIELD_NUMBER: _ClassVar[int]
    INDEX_FIELD_NUMBER: _ClassVar[int]
    SHARD_FIELD_NUMBER: _ClassVar[int]
    lane_id: int
    attempt: int
    taken: int
    leases: _containers.RepeatedCompositeFieldContainer[LeaseDef]
    checkpoints: _containers.RepeatedCompositeFieldContainer[CheckpointDef]
    index: int
    shard: int
    def __init__(self, lane_id: _Optional[int] = ..., attempt: _Optional[int] = ..., taken: _Optional[int] = ..., leases: _Optional[_Iterable[_Union[LeaseDef, _Mapping]]] = ..., checkpoints: _Optional[_Iterable[_Union[CheckpointDef, _Mapping]]] = ..., index: _Optional[int] = ..., shard: _Optional[int] = ...) -> None: ...

class RecordDef(_message.Message):
    __slots__ = ("register_dataset", "decide_compression", "register_worker", "lose_worker", "create_job", "create_iteration", "acquire_client", "release_client", "create_task", "finish_task", "collect_iteration", "produce_split", "open_lane", "lease_splits", "move_lane", "advance_lane", "save_checkpoint", "finish_iteration", "give_up_shard", "reserve_ids", "restore_nonces", "restore_finished", "restore_iteration", "restore_lane", "deal_lane", "count_consumer", "repeat_lane", "drop_lane", "promote_task", "remove_task", "register_snapshot", "create_snapshot", "forget_snapshot", "open_stream", "move_stream", "lease_to_stream", "commit_chunk", "give_to_stream", "finish_stream", "end_snapshot", "close_snapshot", "restore_stream", "restore_snapshot", "refresh_worker")
    REGISTER_DATASET_FIELD_NUMBER: _ClassVar[int]
    DECIDE_COMPRESSION_FIELD_NUMBER: _ClassVar[int]
    REGISTER_WORKER_FIELD_NUMBER: _ClassVar[int]
    LOSE_WORKER_FIELD_NUMBER: _ClassVar[int]
    CREATE_JOB_FIELD_NUMBER: _ClassVar[int]
    CREATE_ITERATION_FIELD_NUMBER: _ClassVar[int]
    ACQUIRE_CLIENT_FIELD_NUMBER: _ClassVar[int]
    RELEASE_CLIENT_FIELD_NUMBER: _ClassVar[int]
    CREATE_TASK_FIELD_NUMBER: _ClassVar[int]
    FINISH_TASK_FIELD_NUMBER: _ClassVar[int]
    COLLECT_ITERATION_FIELD_NUMBER: _ClassVar[int]
    PRODUCE_SPLIT_FIELD_NUMBER: _ClassVar[int]
    OPEN_LANE_FIELD_NUMBER: _ClassVar[int]
    LEASE_SPLITS_FIELD_NUMBER: _ClassVar[int]
    MOVE_LANE_FIELD_NUMBER: _ClassVar[int]
    ADVANCE_LANE_FIELD_NUMBER: _ClassVar[int]
    SAVE_CHECKPOINT_FIELD_NUMBER: _ClassVar[int]
    FINISH_ITERATION_FIELD_NUMBER: _ClassVar[int]
    GIVE_UP_SHARD_FIELD_NUMBER: _ClassVar[int]
    RESERVE_IDS_FIELD_NUMBER: _ClassVar[int]
    RESTORE_NONCES_FIELD_NUMBER: _ClassVar[int]
    RESTORE_FINISHED_FIELD_NUMBER: _ClassVar[int]
    RESTORE_ITERATION_FIELD_NUMBER: _ClassVar[int]
    RESTORE_LANE_FIELD_NUMBER: _ClassVar[int]
    DEAL_LANE_FIELD_NUMBER: _ClassVar[int]
    COUNT_CONSUMER_FIELD_NUMBER: _ClassVar[int]
    REPEAT_LANE_FIELD_NUMBER: _ClassVar[int]
    DROP_LANE_FIELD_NUMBER: _ClassVar[int]
    PROMOTE_TASK_FIELD_NUMBER: _ClassVar[int]
    REMOVE_TASK_FIELD_NUMBER: _ClassVar[int]
    REGISTER_SNAPSHOT_FIELD_NUMBER: _ClassVar[int]
    CREATE_SNAPSHOT_FIELD_NUMBER: _ClassVar[int]
    FORGET_SNAPSHOT_FIELD_NUMBER: _ClassVar[int]
    OPEN_STREAM_FIELD_NUMBER: _ClassVar[int]
    MOVE_STREAM_FIELD_NUMBER: _ClassVar[int]
    LEASE_TO_STREAM_FIELD_NUMBER: _ClassVar[int]
    COMMIT_CHUNK_FIELD_NUMBER: _ClassVar[int]
    GIVE_TO_STREAM_FIELD_NUMBER: _ClassVar[int]
    FINISH_STREAM_FIELD_NUMBER: _ClassVar[int]
    END_SNAPSHOT_FIELD_NUMBER: _ClassVar[int]
    CLOSE_SNAPSHOT_FIELD_NUMBER: _ClassVar[int]
    RESTORE_STREAM_FIELD_NUMBER: _ClassVar[int]
    RESTORE_SNAPSHOT_FIELD_NUMBER: _ClassVar[int]
    REFRESH_WORKER_FIELD_NUMBER: _ClassVar[int]
    register_dataset: RegisterDatasetUpdate
    decide_compression: DecideCompressionUpdate
    register_worker: RegisterWorkerUpdate
    lose_worker: LoseWorkerUpdate
    create_job: CreateJobUpdate
    create_iteration: CreateIterationUpdate
    acquire_client: AcquireClientUpdate
    release_client: ReleaseClientUpdate
    create_task: CreateTaskUpdate
    finish_task: FinishTaskUpdate
    collect_iteration: CollectIterationUpdate
    produce_split: ProduceSplitUpdate
    open_lane: OpenLaneUpdate
    lease_splits: LeaseSplitsUpdate
    move_lane: MoveLaneUpdate
    advance_lane: AdvanceLaneUpdate
    save_checkpoint: SaveCheckpointUpdate
    finish_iteration: FinishIterationUpdate
    give_up_shard: GiveUpShardUpdate
    reserve_ids: ReserveIdsUpdate
    restore_nonces: RestoreNoncesUpdate
    restore_finished: RestoreFinishedUpdate
    restore_iteration: RestoreIterationUpdate
    restore_lane: RestoreLaneUpdate
    deal_lane: DealLaneUpdate
    count_consumer: CountConsumerUpdate
    repeat_lane: RepeatLaneUpdate
    drop_lane: DropLaneUpdate
    promote_task: PromoteTaskUpdate
    remove_task: RemoveTaskUpdate
    register_snapshot: RegisterSnapshotUpdate
    create_snapshot: CreateSnapshotUpdate
    forget_snapshot: ForgetSnapshotUpdate
    open_stream: OpenStreamUpdate
    move_stream: MoveStreamUpdate
    lease_to_stream: LeaseToStreamUpdate
    commit_chunk: CommitChunkUpdate
    give_to_stream: GiveToStreamUpdate
    finish_stream: FinishStreamUpdate
    end_snapshot: EndSnapshotUpdate
    close_snapshot: CloseSnapshotUpdate
    restore_stream: RestoreStreamUpdate
    restore_snapshot: RestoreSnapshotUpdate
    refresh_worker: RefreshWorkerUpdate
    def __init__(self, register_dataset: _Optional[_Union[RegisterDatasetUpdate, _Mapping]] = ..., decide_compression: _Optional[_Union[DecideCompressionUpdate, _Mapping]] = ..., register_worker: _Optional[_Union[RegisterWorkerUpdate, _Mapping]] = ..., lose_worker: _Optional[_Union[LoseWorkerUpdate, _Mapping]] = ..., create_job: _Optional[_Union[CreateJobUpdate, _Mapping]] = ..., create_iteration: _Optional[_Union[CreateIterationUpdate, _Mapping]] = ..., acquire_client: _Optional[_Union[AcquireClientUpdate, _Mapping]] = ..., release_client: _Optional[_Union[ReleaseClientUpdate, _Mapping]] = ..., create_task: _Optional[_Union[CreateTaskUpdate, _Mapping]] = ..., finish_task: _Optional[_Union[FinishTaskUpdate, _Mapping]] = ..., collect_iteration: _Optional[_Union[CollectIterationUpdate, _Mapping]] = ..., produce_split: _Optional[_Union[ProduceSplitUpdate, _Mapping]] = ..., open_lane: _Optional[_Union[OpenLaneUpdate, _Mapping]] = ..., lease_splits: _Optional[_Union[LeaseSplitsUpdate, _Mapping]] = ..., move_lane: _Optional[_Union[MoveLaneUpdate, _Mapping]] = ..., advance_lane: _Optional[_Union[AdvanceLaneUpdate, _Mapping]] = ..., save_checkpoint: _Optional[_Union[SaveCheckpointUpdate, _Mapping]] = ..., finish_iteration: _Optional[_Union[FinishIterationUpdate, _Mapping]] = ..., give_up_shard: _Optional[_Union[GiveUpShardUpdate, _Mapping]] = ..., reserve_ids: _Optional[_Union[ReserveIdsUpdate, _Mapping]] = ..., restore_nonces: _Optional[_Union[RestoreNoncesUpdate, _Mapping]] = ..., restore_finished: _Optional[_Union[RestoreFinishedUpdate, _Mapping]] = ..., restore_iteration: _Optional[_Union[RestoreIterationUpdate, _Mapping]] = ..., restore_lane: _Optional[_Union[RestoreLaneUpdate, _Mapping]] = ..., deal_lane: _Optional[_Union[DealLaneUpdate, _Mapping]] = ..., count_consumer: _Optional[_Union[CountConsumerUpdate, _Mapping]] = ..., repeat_lane: _Optional[_Union[RepeatLaneUpdate, _Mapping]] = ..., drop_lane: _Optional[_Union[DropLaneUpdate, _Mapping]] = ..., promote_task: _Optional[_Union[PromoteTaskUpdate, _Mapping]] = ..., remove_task: _Optional[_Union[RemoveTaskUpdate, _Mapping]] = ..., register_snapshot: _Optional[_Union[RegisterSnapshotUpdate, _Mapping]] = ..., create_snapshot: _Optional[_Union[CreateSnapshotUpdate, _Mapping]] = ..., forget_snapshot: _Optional[_Union[ForgetSnapshotUpdate, _Mapping]] = ..., open_stream: _Optional[_Union[OpenStreamUpdate, _Mapping]] = ..., move_stream: _Optional[_Union[MoveStreamUpdate, _Mapping]] = ..., lease_to_stream: _Optional[_Union[LeaseToStreamUpdate, _Mapping]] = ..., commit_chunk: _Optional[_Union[CommitChunkUpdate, _Mapping]] = ..., give_to_stream: _Optional[_Union[GiveToStreamUpdate, _Mapping]] = ..., finish_stream: _Optional[_Union[FinishStreamUpdate, _Mapping]] = ..., end_snapshot: _Optional[_Union[EndSnapshotUpdate, _Mapping]] = ..., close_snapshot: _Optional[_Union[CloseSnapshotUpdate, _Mapping]] = ..., restore_stream: _Optional[_Union[RestoreStreamUpdate, _Mapping]] = ..., restore_snapshot: _Optional[_Union[RestoreSnapshotUpdate, _Mapping]] = ..., refresh_worker: _Optional[_Union[RefreshWorkerUpdate, _Mapping]] = ...) -> None: ...

class SegmentDef(_message.Message):
    __slots__ = ("number", "first", "previous", "owner", "records")
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    FIRST_FIELD_NUMBER: _ClassVar[int]
    PREVIOUS_FIELD_NUMBER: _ClassVar[int]
    OWNER_FIELD_NUMBER: _ClassVar[int]
    RECORDS_FIELD_NUMBER: _ClassVar[int]
    number: int
    first: int
    previous: int
    owner: str
    records: _containers.RepeatedCompositeFieldContainer[RecordDef]
    def __init__(self, number: _Optional[int] = ..., first: _Optional[int] = ..., previous: _Optional[int] = ..., owner: _Optional[str] = ..., records: _Optional[_Iterable[_Union[RecordDef, _Mapping]]] = ...) -> None: ...
