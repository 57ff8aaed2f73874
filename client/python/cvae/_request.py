"""A request of any number of rows, sent in pieces that the server takes and answered as if it had been one.

A row's answer depends on the row, the noise and its index alone, so pieces give the bits of the whole: each says where in
the set it begins (first_row), all share one seed, and the loss terms are made again from those of each row. Nothing here
does I/O: the blocking and the asyncio client both drive it. The C++ client does the same (client/chunks.h).
"""

import json
import math
import secrets
from typing import Any, Dict, List, Optional, Sequence, Tuple

import grpc
import numpy as np

from . import errors
from .results import Array
from .v1 import cvae_pb2 as pb

_CHUNK_BYTES = 2 << 20  # each way: a call's own cost does not show, and calls overlap
_MATRICES = ("mu", "logvar", "x_hat", "z", "column_recon", "latent_kl")
_TERMS = ("row_recon", "row_kl")
_MEANS = ("loss", "recon_loss", "kl_loss")


class Request:
    """A message's row fields, and the rest that each piece repeats."""

    def __init__(self, rest: Any, fields: Sequence[Any], model: Any, chunk_rows: Optional[int] = None) -> None:
        self.rest, self.fields, self.model = rest, list(fields), model
        rest.encoding = pb.Matrix.DATA
        self.method = type(rest).__name__[: -len("Request")]
        self.samples = max(1, getattr(rest, "num_samples", 0), getattr(rest, "samples_per_row", 0))
        self.rows = self._count_rows()
        self.pieces = self._cut(chunk_rows)
        self.per_row = getattr(rest, "per_row", False)
        self.terms = getattr(rest, "return_loss", self.method == "Loss")
        if len(self.pieces) > 1:
            if self._needs_seed():
                rest.seed = secrets.randbits(64)
            if self.terms:
                rest.per_row = True

    def message(self, begin: int, end: int) -> Any:
        """A request for rows [begin, end): the same bits as those rows of the whole."""
        piece = type(self.rest)()
        piece.CopyFrom(self.rest)
        piece.first_row = self.rest.first_row + begin
        if self.method == "Generate" and self.rest.rows:
            piece.rows = end - begin
        for field in self.fields:
            field.put(piece, begin, end)
        return piece

    def answer(self, responses: Sequence[Any]) -> Dict[str, Any]:
        """The result's fields, from the answers to all pieces in order."""
        first = responses[0]
        # With several pieces, GetModel's answer had a part in it too: the seed's need, the loss weights.
        before = first.version if len(responses) == 1 else self.model.version
        for other in responses:
            if other.version != before:
                raise errors.make_error(
                    grpc.StatusCode.ABORTED,
                    f"the model changed between the calls, from version {before} to {other.version}: ask again",
                )
        known = first.DESCRIPTOR.fields_by_name
        result: Dict[str, Any] = {"version": first.version}
        if "seed" in known:
            result["seed"] = first.seed if first.HasField("seed") else None
        for name in _MATRICES:
            if name in known:
                result[name] = self._matrix(name, responses)
        if "row_kl" in known:
            result.update(self._loss(responses))
        return result

    def _count_rows(self) -> int:
        counts = {field.path: field.rows for field in self.fields}
        if getattr(self.rest, "rows", 0):
            counts["rows"] = self.rest.rows
        if not counts:
            return 1  # the server says what is missing
        rows = next(iter(counts.values()))
        for path, count in counts.items():
            if count != rows:
                raise ValueError(f"{path}: got {count} rows, {next(iter(counts))} has {rows}")
        if rows == 0:
            raise ValueError(f"{next(iter(counts))}: got no rows")
        return int(rows)

    def _cut(self, chunk_rows: Optional[int]) -> List[Tuple[int, int]]:
        step = chunk_rows or self._chunk_rows()
        return [(begin, min(begin + step, self.rows)) for begin in range(0, self.rows, step)]

    def _chunk_rows(self) -> int:
        limits = self.model.limits
        request = sum(field.row_bytes() for field in self.fields)
        answer = self._answer_row_bytes()
        names = sum(len(field.path) + 64 for field in self.fields)
        room = max(0, limits.request_bytes - self.rest.ByteSize() - names - 512)
        bounds = [2**32 - 1]
        for total, each, bounded in (
            (_CHUNK_BYTES, max(request, answer), True),
            (limits.rows, self.samples, limits.rows > 0),
            (limits.answer_bytes, answer, limits.answer_bytes > 0),
            (room, request, limits.request_bytes > 0),
        ):
            if bounded and each > 0:
                bounds.append(total // each)
        return max(1, min(bounds))

    def _answer_row_bytes(self) -> int:
        z, o, rest = self.model.latent_dim, self.model.output_dim, self.rest
        numbers = {
            "Encode": 2 * z,
            "Decode": o,
            "Generate": self.samples * (o + z * getattr(rest, "return_z", False)),
            "Reconstruct": o + 2 + z * getattr(rest, "return_z", False),
            "Loss": 2,
        }[self.method]
        samples = self.samples if self.method == "Loss" else 1
        numbers += samples * o * getattr(rest, "per_column", False) + z * getattr(rest, "per_latent", False)
        return 4 * int(numbers)

    def _needs_seed(self) -> bool:
        """Would the server draw a seed, another for each piece?"""
        if "seed" not in self.rest.DESCRIPTOR.fields_by_name or self.rest.WhichOneof("noise") is not None:
            return False
        if any(field.path == "eps" for field in self.fields):
            return False
        sampled: bool = self.model.default_noise == pb.GetModelResponse.SAMPLE
        return self.method == "Generate" or sampled or self.samples > 1

    def _matrix(self, name: str, responses: Sequence[Any]) -> Optional[Array]:
        if not responses[0].HasField(name):
            return None
        factor = self.samples if name in ("x_hat", "z") else 1
        arrays = []
        for response, (begin, end) in zip(responses, self.pieces):
            matrix, rows = getattr(response, name), (end - begin) * factor
            data = matrix.data  # once: each access makes a copy
            if matrix.rows != rows or len(data) != 4 * rows * matrix.cols:
                raise errors.make_error(
                    grpc.StatusCode.INTERNAL,
                    f"the answer's {name} is {matrix.rows} x {matrix.cols} in {len(data)} bytes, expected {rows} rows",
                )
            arrays.append(np.frombuffer(data, "<f4").reshape(rows, matrix.cols))
        return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)

    def _loss(self, responses: Sequence[Any]) -> Dict[str, Any]:
        result: Dict[str, Any] = dict.fromkeys((*_MEANS, *_TERMS))
        if not self.terms:
            return result
        if len(responses) == 1:
            result.update((name, getattr(responses[0], name)) for name in _MEANS)
            if not self.per_row:
                return result
        terms = {name: np.concatenate([np.array(getattr(r, name), "<f4") for r in responses]) for name in _TERMS}
        if any(len(values) != self.rows for values in terms.values()):
            raise errors.make_error(grpc.StatusCode.INTERNAL, f"the answer has not the terms of {self.rows} rows")
        if len(responses) > 1:
            result.update(combine_loss(terms["row_recon"], terms["row_kl"], self.model.description))
        if self.per_row:
            result.update(terms)
        return result


def combine_loss(row_recon: Array, row_kl: Array, description: str) -> Dict[str, float]:
    """The means of a set from the terms of all its rows: bit for bit what one call answers (client/loss_terms.h)."""
    rule = json.loads(description).get("loss", {}) if description else {}
    by_sum = rule.get("reduce", "mean") == "sum"

    def reduce(rows: Array) -> float:  # ascending, in double: numpy's own sum goes by pairs
        total = float(np.cumsum(rows, dtype=np.float64)[-1]) + 0.0
        return total if by_sum else total / len(rows)

    recon, kl = reduce(row_recon), reduce(row_kl)
    loss = rule.get("recon_weight", 1) * recon + rule.get("kl_weight", 1) * kl
    # One NaN for all: its bits differ between machines and operations.
    means = {"loss": loss, "recon_loss": recon, "kl_loss": kl}
    return {name: math.nan if math.isnan(value) else value for name, value in means.items()}
