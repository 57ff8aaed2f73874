"""The row fields of a request: how many rows they have, what one costs on the wire, and some of them in a message."""

from typing import Any, List, Mapping, Optional, Sequence, Union

import numpy as np
from numpy.typing import ArrayLike

from .results import Array

Labels = Union[int, str, Sequence[int], Sequence[str], ArrayLike]
_ID_BYTES = 5  # of a uint32 as a varint, at the most


def as_matrix(field: str, values: ArrayLike) -> Array:
    """`values` as little-endian float32 [rows, columns]. A vector is one row."""
    array = np.ascontiguousarray(values, dtype="<f4")
    if array.ndim == 1:
        array = array[np.newaxis]
    if array.ndim != 2:
        raise ValueError(f"{field}: got an array of {array.ndim} dimensions, expected rows x columns")
    return array


class MatrixField:
    """A Matrix of `factor` rows for each row of the request."""

    def __init__(self, path: str, values: ArrayLike, factor: int = 1) -> None:
        self.path, self.factor = path, factor
        self.array = as_matrix(path, values)
        if len(self.array) % factor:
            raise ValueError(f"{path}: got {len(self.array)} rows, expected a multiple of {factor} samples a row")

    @property
    def rows(self) -> int:
        return len(self.array) // self.factor

    def row_bytes(self) -> int:
        return 4 * int(self.array.shape[1]) * self.factor

    def put(self, message: Any, begin: int, end: int) -> None:
        rows = self.array[begin * self.factor : end * self.factor]
        matrix = getattr(message, self.path.rpartition(".")[2])
        matrix.rows, matrix.cols, matrix.data = len(rows), rows.shape[1], rows.tobytes()


class ListField:
    """A repeated field with an element for each row: class ids or class names."""

    factor = 1

    def __init__(self, path: str, values: Sequence[Any]) -> None:
        self.path, self.values = path, values

    @property
    def rows(self) -> int:
        return len(self.values)

    def row_bytes(self) -> int:
        if self.values and isinstance(self.values[0], str):
            return max(len(name.encode()) for name in self.values) + _ID_BYTES + 1
        return _ID_BYTES

    def put(self, message: Any, begin: int, end: int) -> None:
        getattr(message, self.path.rpartition(".")[2]).extend(self.values[begin:end])


class PartField:
    """One part of a condition, by its name."""

    factor = 1

    def __init__(self, path: str, name: str, values: Labels) -> None:
        self.path, self.name = f'{path}["{name}"]', name
        array = np.asarray(values)
        plain = array.dtype.kind not in "iuUO" or array.ndim == 2
        self.field: Union[MatrixField, ListField]
        if plain:  # a vector of floats: a column
            self.field = MatrixField(self.path + ".values", array if array.ndim == 2 else array.reshape(-1, 1))
        else:
            kind = "names" if array.dtype.kind in "UO" else "ids"
            self.field = ListField(f"{self.path}.{kind}", as_list(self.path, array))

    @property
    def rows(self) -> int:
        return self.field.rows

    def row_bytes(self) -> int:
        return self.field.row_bytes()

    def put(self, message: Any, begin: int, end: int) -> None:
        self.field.put(message.parts[self.name], begin, end)


class ConditionField:
    """A message of its own with a condition's fields: decode_condition."""

    factor = 1

    def __init__(self, path: str, fields: Sequence[Any]) -> None:
        self.path, self.fields = path, fields

    @property
    def rows(self) -> int:
        return int(self.fields[0].rows)

    def row_bytes(self) -> int:
        return sum(field.row_bytes() for field in self.fields)

    def put(self, message: Any, begin: int, end: int) -> None:
        for field in self.fields:
            field.put(getattr(message, self.path), begin, end)


def as_list(field: str, labels: Labels) -> List[Any]:
    """Class ids or names, one a row."""
    array = np.atleast_1d(np.asarray(labels))
    if array.ndim != 1 or array.dtype.kind not in "iuUO":
        raise ValueError(f"{field}: got {array.dtype} of shape {array.shape}, expected class ids or names, one a row")
    return list(array.tolist())


def condition(
    model: Any, labels: Optional[Labels], y: Optional[ArrayLike], parts: Optional[Mapping[str, Labels]], prefix: str = ""
) -> List[Any]:
    """The fields of a condition for `model`, a GetModelResponse. The server says what is wrong with them."""
    if sum(given is not None for given in (labels, y, parts)) > 1:
        raise ValueError(f"{prefix or 'the condition'}: more than one of labels, y and parts")
    if y is not None:
        return [MatrixField(prefix + "y", y)]
    if parts is not None:
        return [PartField(prefix + "parts", name, values) for name, values in parts.items()]
    if labels is None:
        return []
    values = as_list(prefix + "labels", labels)
    if values and isinstance(values[0], str):  # the server looks names up, so a new model's order is its own affair
        if len(model.condition) != 1:
            known = ", ".join(part.name for part in model.condition)
            raise ValueError(f"labels: names are for a model of one part, this has {known or 'none'}: give parts")
        return [PartField(prefix + "parts", model.condition[0].name, np.array(values))]
    return [ListField(prefix + "labels", values)]
