from google.protobuf import empty_pb2 as _empty_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Condition(_message.Message):
    __slots__ = ["labels", "parts", "y"]
    class PartsEntry(_message.Message):
        __slots__ = ["key", "value"]
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: Part
        def __init__(self, key: _Optional[str] = ..., value: _Optional[_Union[Part, _Mapping]] = ...) -> None: ...
    LABELS_FIELD_NUMBER: _ClassVar[int]
    PARTS_FIELD_NUMBER: _ClassVar[int]
    Y_FIELD_NUMBER: _ClassVar[int]
    labels: _containers.RepeatedScalarFieldContainer[int]
    parts: _containers.MessageMap[str, Part]
    y: Matrix
    def __init__(self, labels: _Optional[_Iterable[int]] = ..., y: _Optional[_Union[Matrix, _Mapping]] = ..., parts: _Optional[_Mapping[str, Part]] = ...) -> None: ...

class ConditionPart(_message.Message):
    __slots__ = ["class_names", "classes", "name", "width"]
    CLASSES_FIELD_NUMBER: _ClassVar[int]
    CLASS_NAMES_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    WIDTH_FIELD_NUMBER: _ClassVar[int]
    class_names: _containers.RepeatedScalarFieldContainer[str]
    classes: bool
    name: str
    width: int
    def __init__(self, name: _Optional[str] = ..., width: _Optional[int] = ..., classes: bool = ..., class_names: _Optional[_Iterable[str]] = ...) -> None: ...

class DecodeRequest(_message.Message):
    __slots__ = ["encoding", "finite", "first_row", "labels", "model", "parts", "y", "z"]
    class PartsEntry(_message.Message):
        __slots__ = ["key", "value"]
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: Part
        def __init__(self, key: _Optional[str] = ..., value: _Optional[_Union[Part, _Mapping]] = ...) -> None: ...
    ENCODING_FIELD_NUMBER: _ClassVar[int]
    FINITE_FIELD_NUMBER: _ClassVar[int]
    FIRST_ROW_FIELD_NUMBER: _ClassVar[int]
    LABELS_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    PARTS_FIELD_NUMBER: _ClassVar[int]
    Y_FIELD_NUMBER: _ClassVar[int]
    Z_FIELD_NUMBER: _ClassVar[int]
    encoding: Matrix.Encoding
    finite: Matrix.Finite
    first_row: int
    labels: _containers.RepeatedScalarFieldContainer[int]
    model: str
    parts: _containers.MessageMap[str, Part]
    y: Matrix
    z: Matrix
    def __init__(self, model: _Optional[str] = ..., first_row: _Optional[int] = ..., finite: _Optional[_Union[Matrix.Finite, str]] = ..., encoding: _Optional[_Union[Matrix.Encoding, str]] = ..., z: _Optional[_Union[Matrix, _Mapping]] = ..., labels: _Optional[_Iterable[int]] = ..., y: _Optional[_Union[Matrix, _Mapping]] = ..., parts: _Optional[_Mapping[str, Part]] = ...) -> None: ...

class DecodeResponse(_message.Message):
    __slots__ = ["version", "x_hat"]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    X_HAT_FIELD_NUMBER: _ClassVar[int]
    version: str
    x_hat: Matrix
    def __init__(self, version: _Optional[str] = ..., x_hat: _Optional[_Union[Matrix, _Mapping]] = ...) -> None: ...

class EncodeRequest(_message.Message):
    __slots__ = ["encoding", "finite", "first_row", "labels", "model", "parts", "x", "y"]
    class PartsEntry(_message.Message):
        __slots__ = ["key", "value"]
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: Part
        def __init__(self, key: _Optional[str] = ..., value: _Optional[_Union[Part, _Mapping]] = ...) -> None: ...
    ENCODING_FIELD_NUMBER: _ClassVar[int]
    FINITE_FIELD_NUMBER: _ClassVar[int]
    FIRST_ROW_FIELD_NUMBER: _ClassVar[int]
    LABELS_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    PARTS_FIELD_NUMBER: _ClassVar[int]
    X_FIELD_NUMBER: _ClassVar[int]
    Y_FIELD_NUMBER: _ClassVar[int]
    encoding: Matrix.Encoding
    finite: Matrix.Finite
    first_row: int
    labels: _containers.RepeatedScalarFieldContainer[int]
    model: str
    parts: _containers.MessageMap[str, Part]
    x: Matrix
    y: Matrix
    def __init__(self, model: _Optional[str] = ..., first_row: _Optional[int] = ..., finite: _Optional[_Union[Matrix.Finite, str]] = ..., encoding: _Optional[_Union[Matrix.Encoding, str]] = ..., x: _Optional[_Union[Matrix, _Mapping]] = ..., labels: _Optional[_Iterable[int]] = ..., y: _Optional[_Union[Matrix, _Mapping]] = ..., parts: _Optional[_Mapping[str, Part]] = ...) -> None: ...

class EncodeResponse(_message.Message):
    __slots__ = ["logvar", "mu", "version"]
    LOGVAR_FIELD_NUMBER: _ClassVar[int]
    MU_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    logvar: Matrix
    mu: Matrix
    version: str
    def __init__(self, version: _Optional[str] = ..., mu: _Optional[_Union[Matrix, _Mapping]] = ..., logvar: _Optional[_Union[Matrix, _Mapping]] = ...) -> None: ...

class GenerateRequest(_message.Message):
    __slots__ = ["encoding", "eps", "finite", "first_row", "labels", "mean", "model", "parts", "return_z", "rows", "samples_per_row", "seed", "temperature", "y"]
    class PartsEntry(_message.Message):
        __slots__ = ["key", "value"]
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: Part
        def __init__(self, key: _Optional[str] = ..., value: _Optional[_Union[Part, _Mapping]] = ...) -> None: ...
    ENCODING_FIELD_NUMBER: _ClassVar[int]
    EPS_FIELD_NUMBER: _ClassVar[int]
    FINITE_FIELD_NUMBER: _ClassVar[int]
    FIRST_ROW_FIELD_NUMBER: _ClassVar[int]
    LABELS_FIELD_NUMBER: _ClassVar[int]
    MEAN_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    PARTS_FIELD_NUMBER: _ClassVar[int]
    RETURN_Z_FIELD_NUMBER: _ClassVar[int]
    ROWS_FIELD_NUMBER: _ClassVar[int]
    SAMPLES_PER_ROW_FIELD_NUMBER: _ClassVar[int]
    SEED_FIELD_NUMBER: _ClassVar[int]
    TEMPERATURE_FIELD_NUMBER: _ClassVar[int]
    Y_FIELD_NUMBER: _ClassVar[int]
    encoding: Matrix.Encoding
    eps: Matrix
    finite: Matrix.Finite
    first_row: int
    labels: _containers.RepeatedScalarFieldContainer[int]
    mean: _empty_pb2.Empty
    model: str
    parts: _containers.MessageMap[str, Part]
    return_z: bool
    rows: int
    samples_per_row: int
    seed: int
    temperature: float
    y: Matrix
    def __init__(self, model: _Optional[str] = ..., first_row: _Optional[int] = ..., finite: _Optional[_Union[Matrix.Finite, str]] = ..., encoding: _Optional[_Union[Matrix.Encoding, str]] = ..., rows: _Optional[int] = ..., labels: _Optional[_Iterable[int]] = ..., y: _Optional[_Union[Matrix, _Mapping]] = ..., parts: _Optional[_Mapping[str, Part]] = ..., seed: _Optional[int] = ..., mean: _Optional[_Union[_empty_pb2.Empty, _Mapping]] = ..., eps: _Optional[_Union[Matrix, _Mapping]] = ..., samples_per_row: _Optional[int] = ..., return_z: bool = ..., temperature: _Optional[float] = ...) -> None: ...

class GenerateResponse(_message.Message):
    __slots__ = ["seed", "version", "x_hat", "z"]
    SEED_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    X_HAT_FIELD_NUMBER: _ClassVar[int]
    Z_FIELD_NUMBER: _ClassVar[int]
    seed: int
    version: str
    x_hat: Matrix
    z: Matrix
    def __init__(self, version: _Optional[str] = ..., seed: _Optional[int] = ..., x_hat: _Optional[_Union[Matrix, _Mapping]] = ..., z: _Optional[_Union[Matrix, _Mapping]] = ...) -> None: ...

class GetModelRequest(_message.Message):
    __slots__ = ["model"]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    model: str
    def __init__(self, model: _Optional[str] = ...) -> None: ...

class GetModelResponse(_message.Message):
    __slots__ = ["condition", "default_noise", "description", "device", "engine", "input_dim", "label_dim", "latent_dim", "limits", "name", "output", "output_dim", "precision", "version"]
    class DefaultNoise(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = []
    class Output(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = []
    CONDITION_FIELD_NUMBER: _ClassVar[int]
    DATA: GetModelResponse.Output
    DEFAULT_NOISE_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    DEVICE_FIELD_NUMBER: _ClassVar[int]
    ENGINE_FIELD_NUMBER: _ClassVar[int]
    INPUT_DIM_FIELD_NUMBER: _ClassVar[int]
    LABEL_DIM_FIELD_NUMBER: _ClassVar[int]
    LATENT_DIM_FIELD_NUMBER: _ClassVar[int]
    LIMITS_FIELD_NUMBER: _ClassVar[int]
    LOGITS: GetModelResponse.Output
    MEAN: GetModelResponse.DefaultNoise
    NAME_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_DIM_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_FIELD_NUMBER: _ClassVar[int]
    PRECISION_FIELD_NUMBER: _ClassVar[int]
    PROBABILITIES: GetModelResponse.Output
    SAMPLE: GetModelResponse.DefaultNoise
    VERSION_FIELD_NUMBER: _ClassVar[int]
    condition: _containers.RepeatedCompositeFieldContainer[ConditionPart]
    default_noise: GetModelResponse.DefaultNoise
    description: str
    device: str
    engine: str
    input_dim: int
    label_dim: int
    latent_dim: int
    limits: Limits
    name: str
    output: GetModelResponse.Output
    output_dim: int
    precision: str
    version: str
    def __init__(self, version: _Optional[str] = ..., name: _Optional[str] = ..., input_dim: _Optional[int] = ..., label_dim: _Optional[int] = ..., latent_dim: _Optional[int] = ..., output_dim: _Optional[int] = ..., condition: _Optional[_Iterable[_Union[ConditionPart, _Mapping]]] = ..., engine: _Optional[str] = ..., device: _Optional[str] = ..., precision: _Optional[str] = ..., default_noise: _Optional[_Union[GetModelResponse.DefaultNoise, str]] = ..., output: _Optional[_Union[GetModelResponse.Output, str]] = ..., limits: _Optional[_Union[Limits, _Mapping]] = ..., description: _Optional[str] = ...) -> None: ...

class Limits(_message.Message):
    __slots__ = ["answer_bytes", "request_bytes", "rows", "rows_in_4_mib"]
    ANSWER_BYTES_FIELD_NUMBER: _ClassVar[int]
    REQUEST_BYTES_FIELD_NUMBER: _ClassVar[int]
    ROWS_FIELD_NUMBER: _ClassVar[int]
    ROWS_IN_4_MIB_FIELD_NUMBER: _ClassVar[int]
    answer_bytes: int
    request_bytes: int
    rows: int
    rows_in_4_mib: int
    def __init__(self, request_bytes: _Optional[int] = ..., rows: _Optional[int] = ..., answer_bytes: _Optional[int] = ..., rows_in_4_mib: _Optional[int] = ...) -> None: ...

class ListModelsRequest(_message.Message):
    __slots__ = []
    def __init__(self) -> None: ...

class ListModelsResponse(_message.Message):
    __slots__ = ["models"]
    MODELS_FIELD_NUMBER: _ClassVar[int]
    models: _containers.RepeatedCompositeFieldContainer[ModelSummary]
    def __init__(self, models: _Optional[_Iterable[_Union[ModelSummary, _Mapping]]] = ...) -> None: ...

class LossRequest(_message.Message):
    __slots__ = ["encoding", "eps", "finite", "first_row", "labels", "mean", "model", "num_samples", "parts", "per_column", "per_latent", "per_row", "seed", "target", "x", "y"]
    class PartsEntry(_message.Message):
        __slots__ = ["key", "value"]
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: Part
        def __init__(self, key: _Optional[str] = ..., value: _Optional[_Union[Part, _Mapping]] = ...) -> None: ...
    ENCODING_FIELD_NUMBER: _ClassVar[int]
    EPS_FIELD_NUMBER: _ClassVar[int]
    FINITE_FIELD_NUMBER: _ClassVar[int]
    FIRST_ROW_FIELD_NUMBER: _ClassVar[int]
    LABELS_FIELD_NUMBER: _ClassVar[int]
    MEAN_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    NUM_SAMPLES_FIELD_NUMBER: _ClassVar[int]
    PARTS_FIELD_NUMBER: _ClassVar[int]
    PER_COLUMN_FIELD_NUMBER: _ClassVar[int]
    PER_LATENT_FIELD_NUMBER: _ClassVar[int]
    PER_ROW_FIELD_NUMBER: _ClassVar[int]
    SEED_FIELD_NUMBER: _ClassVar[int]
    TARGET_FIELD_NUMBER: _ClassVar[int]
    X_FIELD_NUMBER: _ClassVar[int]
    Y_FIELD_NUMBER: _ClassVar[int]
    encoding: Matrix.Encoding
    eps: Matrix
    finite: Matrix.Finite
    first_row: int
    labels: _containers.RepeatedScalarFieldContainer[int]
    mean: _empty_pb2.Empty
    model: str
    num_samples: int
    parts: _containers.MessageMap[str, Part]
    per_column: bool
    per_latent: bool
    per_row: bool
    seed: int
    target: Matrix
    x: Matrix
    y: Matrix
    def __init__(self, model: _Optional[str] = ..., first_row: _Optional[int] = ..., finite: _Optional[_Union[Matrix.Finite, str]] = ..., encoding: _Optional[_Union[Matrix.Encoding, str]] = ..., x: _Optional[_Union[Matrix, _Mapping]] = ..., labels: _Optional[_Iterable[int]] = ..., y: _Optional[_Union[Matrix, _Mapping]] = ..., parts: _Optional[_Mapping[str, Part]] = ..., seed: _Optional[int] = ..., mean: _Optional[_Union[_empty_pb2.Empty, _Mapping]] = ..., eps: _Optional[_Union[Matrix, _Mapping]] = ..., num_samples: _Optional[int] = ..., per_row: bool = ..., per_column: bool = ..., per_latent: bool = ..., target: _Optional[_Union[Matrix, _Mapping]] = ...) -> None: ...

class LossResponse(_message.Message):
    __slots__ = ["column_recon", "kl_loss", "latent_kl", "loss", "recon_loss", "row_kl", "row_recon", "seed", "version"]
    COLUMN_RECON_FIELD_NUMBER: _ClassVar[int]
    KL_LOSS_FIELD_NUMBER: _ClassVar[int]
    LATENT_KL_FIELD_NUMBER: _ClassVar[int]
    LOSS_FIELD_NUMBER: _ClassVar[int]
    RECON_LOSS_FIELD_NUMBER: _ClassVar[int]
    ROW_KL_FIELD_NUMBER: _ClassVar[int]
    ROW_RECON_FIELD_NUMBER: _ClassVar[int]
    SEED_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    column_recon: Matrix
    kl_loss: float
    latent_kl: Matrix
    loss: float
    recon_loss: float
    row_kl: _containers.RepeatedScalarFieldContainer[float]
    row_recon: _containers.RepeatedScalarFieldContainer[float]
    seed: int
    version: str
    def __init__(self, version: _Optional[str] = ..., seed: _Optional[int] = ..., loss: _Optional[float] = ..., recon_loss: _Optional[float] = ..., kl_loss: _Optional[float] = ..., row_recon: _Optional[_Iterable[float]] = ..., row_kl: _Optional[_Iterable[float]] = ..., column_recon: _Optional[_Union[Matrix, _Mapping]] = ..., latent_kl: _Optional[_Union[Matrix, _Mapping]] = ...) -> None: ...

class Matrix(_message.Message):
    __slots__ = ["cols", "data", "rows", "values"]
    class Encoding(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = []
    class Finite(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = []
    AUTO: Matrix.Encoding
    COLS_FIELD_NUMBER: _ClassVar[int]
    DATA: Matrix.Encoding
    DATA_FIELD_NUMBER: _ClassVar[int]
    PROPAGATE: Matrix.Finite
    REJECT: Matrix.Finite
    ROWS_FIELD_NUMBER: _ClassVar[int]
    VALUES: Matrix.Encoding
    VALUES_FIELD_NUMBER: _ClassVar[int]
    cols: int
    data: bytes
    rows: int
    values: _containers.RepeatedScalarFieldContainer[float]
    def __init__(self, rows: _Optional[int] = ..., cols: _Optional[int] = ..., values: _Optional[_Iterable[float]] = ..., data: _Optional[bytes] = ...) -> None: ...

class ModelSummary(_message.Message):
    __slots__ = ["input_dim", "label_dim", "latent_dim", "name", "output_dim", "version"]
    INPUT_DIM_FIELD_NUMBER: _ClassVar[int]
    LABEL_DIM_FIELD_NUMBER: _ClassVar[int]
    LATENT_DIM_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_DIM_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    input_dim: int
    label_dim: int
    latent_dim: int
    name: str
    output_dim: int
    version: str
    def __init__(self, name: _Optional[str] = ..., version: _Optional[str] = ..., input_dim: _Optional[int] = ..., label_dim: _Optional[int] = ..., latent_dim: _Optional[int] = ..., output_dim: _Optional[int] = ...) -> None: ...

class Part(_message.Message):
    __slots__ = ["ids", "names", "values"]
    IDS_FIELD_NUMBER: _ClassVar[int]
    NAMES_FIELD_NUMBER: _ClassVar[int]
    VALUES_FIELD_NUMBER: _ClassVar[int]
    ids: _containers.RepeatedScalarFieldContainer[int]
    names: _containers.RepeatedScalarFieldContainer[str]
    values: Matrix
    def __init__(self, ids: _Optional[_Iterable[int]] = ..., names: _Optional[_Iterable[str]] = ..., values: _Optional[_Union[Matrix, _Mapping]] = ...) -> None: ...

class ReconstructRequest(_message.Message):
    __slots__ = ["decode_condition", "encoding", "eps", "finite", "first_row", "labels", "mean", "model", "parts", "per_column", "per_latent", "per_row", "return_loss", "return_z", "seed", "target", "x", "y"]
    class PartsEntry(_message.Message):
        __slots__ = ["key", "value"]
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: Part
        def __init__(self, key: _Optional[str] = ..., value: _Optional[_Union[Part, _Mapping]] = ...) -> None: ...
    DECODE_CONDITION_FIELD_NUMBER: _ClassVar[int]
    ENCODING_FIELD_NUMBER: _ClassVar[int]
    EPS_FIELD_NUMBER: _ClassVar[int]
    FINITE_FIELD_NUMBER: _ClassVar[int]
    FIRST_ROW_FIELD_NUMBER: _ClassVar[int]
    LABELS_FIELD_NUMBER: _ClassVar[int]
    MEAN_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    PARTS_FIELD_NUMBER: _ClassVar[int]
    PER_COLUMN_FIELD_NUMBER: _ClassVar[int]
    PER_LATENT_FIELD_NUMBER: _ClassVar[int]
    PER_ROW_FIELD_NUMBER: _ClassVar[int]
    RETURN_LOSS_FIELD_NUMBER: _ClassVar[int]
    RETURN_Z_FIELD_NUMBER: _ClassVar[int]
    SEED_FIELD_NUMBER: _ClassVar[int]
    TARGET_FIELD_NUMBER: _ClassVar[int]
    X_FIELD_NUMBER: _ClassVar[int]
    Y_FIELD_NUMBER: _ClassVar[int]
    decode_condition: Condition
    encoding: Matrix.Encoding
    eps: Matrix
    finite: Matrix.Finite
    first_row: int
    labels: _containers.RepeatedScalarFieldContainer[int]
    mean: _empty_pb2.Empty
    model: str
    parts: _containers.MessageMap[str, Part]
    per_column: bool
    per_latent: bool
    per_row: bool
    return_loss: bool
    return_z: bool
    seed: int
    target: Matrix
    x: Matrix
    y: Matrix
    def __init__(self, model: _Optional[str] = ..., first_row: _Optional[int] = ..., finite: _Optional[_Union[Matrix.Finite, str]] = ..., encoding: _Optional[_Union[Matrix.Encoding, str]] = ..., x: _Optional[_Union[Matrix, _Mapping]] = ..., labels: _Optional[_Iterable[int]] = ..., y: _Optional[_Union[Matrix, _Mapping]] = ..., parts: _Optional[_Mapping[str, Part]] = ..., seed: _Optional[int] = ..., mean: _Optional[_Union[_empty_pb2.Empty, _Mapping]] = ..., eps: _Optional[_Union[Matrix, _Mapping]] = ..., decode_condition: _Optional[_Union[Condition, _Mapping]] = ..., return_z: bool = ..., return_loss: bool = ..., per_row: bool = ..., per_column: bool = ..., per_latent: bool = ..., target: _Optional[_Union[Matrix, _Mapping]] = ...) -> None: ...

class ReconstructResponse(_message.Message):
    __slots__ = ["column_recon", "kl_loss", "latent_kl", "loss", "recon_loss", "row_kl", "row_recon", "seed", "version", "x_hat", "z"]
    COLUMN_RECON_FIELD_NUMBER: _ClassVar[int]
    KL_LOSS_FIELD_NUMBER: _ClassVar[int]
    LATENT_KL_FIELD_NUMBER: _ClassVar[int]
    LOSS_FIELD_NUMBER: _ClassVar[int]
    RECON_LOSS_FIELD_NUMBER: _ClassVar[int]
    ROW_KL_FIELD_NUMBER: _ClassVar[int]
    ROW_RECON_FIELD_NUMBER: _ClassVar[int]
    SEED_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    X_HAT_FIELD_NUMBER: _ClassVar[int]
    Z_FIELD_NUMBER: _ClassVar[int]
    column_recon: Matrix
    kl_loss: float
    latent_kl: Matrix
    loss: float
    recon_loss: float
    row_kl: _containers.RepeatedScalarFieldContainer[float]
    row_recon: _containers.RepeatedScalarFieldContainer[float]
    seed: int
    version: str
    x_hat: Matrix
    z: Matrix
    def __init__(self, version: _Optional[str] = ..., seed: _Optional[int] = ..., x_hat: _Optional[_Union[Matrix, _Mapping]] = ..., z: _Optional[_Union[Matrix, _Mapping]] = ..., loss: _Optional[float] = ..., recon_loss: _Optional[float] = ..., kl_loss: _Optional[float] = ..., row_recon: _Optional[_Iterable[float]] = ..., row_kl: _Optional[_Iterable[float]] = ..., column_recon: _Optional[_Union[Matrix, _Mapping]] = ..., latent_kl: _Optional[_Union[Matrix, _Mapping]] = ...) -> None: ...
