"""The methods that compute, each once for both clients: from its arguments to the Call that it is.

A Call says what is asked, and does no I/O. client.py makes blocking methods of these functions and aio.py coroutines,
with their parameters and docstrings.
"""

from __future__ import annotations  # so that help() shows ArrayLike in place of what it stands for

import dataclasses
import functools
import inspect
from typing import Any, Callable, Dict, Generic, Mapping, Optional, Sequence, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from ._request import Request
from ._rows import ConditionField, Labels, MatrixField, condition
from .results import Decoding, Encoding, Generation, Loss, Reconstruction
from .v1 import cvae_pb2 as pb

R = TypeVar("R")


@dataclasses.dataclass(frozen=True)
class Call(Generic[R]):
    """What is asked, of which model and for how long."""

    request: Callable[[pb.GetModelResponse], Request]  # made once the model is known
    result: Callable[..., R]  # of the fields that the request's answer() gives
    model: Optional[str]
    timeout: Optional[float]


def encode(
    x: ArrayLike,  # [B, D]
    *,
    labels: Optional[Labels] = None,
    y: Optional[ArrayLike] = None,
    parts: Optional[Mapping[str, Labels]] = None,
    model: Optional[str] = None,
    first_row: int = 0,
    propagate_non_finite: bool = False,
    timeout: Optional[float] = None,
    chunk_rows: Optional[int] = None,
) -> Call[Encoding]:
    """The latent distribution of each row."""

    def request(known: pb.GetModelResponse) -> Request:
        rest = pb.EncodeRequest(**_common(known, first_row, propagate_non_finite))
        return Request(rest, [MatrixField("x", x), *condition(known, labels, y, parts)], known, chunk_rows)

    return Call(request, Encoding, model, timeout)


def reconstruct(
    x: ArrayLike,  # [B, D]
    *,
    labels: Optional[Labels] = None,
    y: Optional[ArrayLike] = None,
    parts: Optional[Mapping[str, Labels]] = None,
    seed: Optional[int] = None,
    mean: bool = False,
    eps: Optional[ArrayLike] = None,  # [B, Z]
    decode_labels: Optional[Labels] = None,
    decode_y: Optional[ArrayLike] = None,
    decode_parts: Optional[Mapping[str, Labels]] = None,
    return_z: bool = False,
    return_loss: bool = False,
    per_row: bool = False,
    per_column: bool = False,
    per_latent: bool = False,
    target: Optional[ArrayLike] = None,  # [B, O]
    model: Optional[str] = None,
    first_row: int = 0,
    propagate_non_finite: bool = False,
    timeout: Optional[float] = None,
    chunk_rows: Optional[int] = None,
) -> Call[Reconstruction]:
    """Each row encoded, its latent drawn, and decoded, under the decode_ condition if there is one (a counterfactual).

    return_loss: the loss terms of the same pass too, as loss() has them, with per_row, per_column, per_latent, target.
    """

    def request(known: pb.GetModelResponse) -> Request:
        rest = pb.ReconstructRequest(
            return_z=return_z,
            return_loss=return_loss,
            per_row=per_row,
            per_column=per_column,
            per_latent=per_latent,
            **_common(known, first_row, propagate_non_finite),
        )
        fields = [MatrixField("x", x), *condition(known, labels, y, parts), *_noise(rest, seed, mean, eps, 1)]
        decode = condition(known, decode_labels, decode_y, decode_parts, "decode_condition.")
        if decode:
            fields.append(ConditionField("decode_condition", decode))
        if target is not None:
            fields.append(MatrixField("target", target))
        return Request(rest, fields, known, chunk_rows)

    return Call(request, Reconstruction, model, timeout)


def loss(
    x: ArrayLike,  # [B, D]
    *,
    labels: Optional[Labels] = None,
    y: Optional[ArrayLike] = None,
    parts: Optional[Mapping[str, Labels]] = None,
    seed: Optional[int] = None,
    mean: bool = False,
    eps: Optional[ArrayLike] = None,  # [B * S, Z]
    samples: int = 1,
    per_row: bool = False,
    per_column: bool = False,
    per_latent: bool = False,
    target: Optional[ArrayLike] = None,  # [B, O]
    model: Optional[str] = None,
    first_row: int = 0,
    propagate_non_finite: bool = False,
    timeout: Optional[float] = None,
    chunk_rows: Optional[int] = None,
) -> Call[Loss]:
    """The loss terms (negative ELBO) of the rows, over all of them, and of each row, column and latent if asked for.

    samples: latents drawn a row, over which the reconstruction term is averaged.
    target: what the reconstruction is compared with, in place of x.
    """

    def request(known: pb.GetModelResponse) -> Request:
        rest = pb.LossRequest(
            num_samples=samples,
            per_row=per_row,
            per_column=per_column,
            per_latent=per_latent,
            **_common(known, first_row, propagate_non_finite),
        )
        fields = [MatrixField("x", x), *condition(known, labels, y, parts), *_noise(rest, seed, mean, eps, samples)]
        if target is not None:
            fields.append(MatrixField("target", target))
        return Request(rest, fields, known, chunk_rows)

    return Call(request, Loss, model, timeout)


def decode(
    z: ArrayLike,  # [B, Z]
    *,
    labels: Optional[Labels] = None,
    y: Optional[ArrayLike] = None,
    parts: Optional[Mapping[str, Labels]] = None,
    model: Optional[str] = None,
    first_row: int = 0,
    propagate_non_finite: bool = False,
    timeout: Optional[float] = None,
    chunk_rows: Optional[int] = None,
) -> Call[Decoding]:
    """Latents of the caller's, decoded as they are."""

    def request(known: pb.GetModelResponse) -> Request:
        rest = pb.DecodeRequest(**_common(known, first_row, propagate_non_finite))
        return Request(rest, [MatrixField("z", z), *condition(known, labels, y, parts)], known, chunk_rows)

    return Call(request, Decoding, model, timeout)


def generate(
    rows: Optional[int] = None,  # only where the model has no condition (L = 0)
    *,
    labels: Optional[Labels] = None,
    y: Optional[ArrayLike] = None,
    parts: Optional[Mapping[str, Labels]] = None,
    seed: Optional[int] = None,
    mean: bool = False,
    eps: Optional[ArrayLike] = None,  # [B * S, Z], z itself
    samples: int = 1,
    temperature: Optional[float] = None,
    return_z: bool = False,
    model: Optional[str] = None,
    first_row: int = 0,
    propagate_non_finite: bool = False,
    timeout: Optional[float] = None,
    chunk_rows: Optional[int] = None,
) -> Call[Generation]:
    """New rows under each condition, `samples` of each. temperature: scale of the drawn z, 1 if None."""

    def request(known: pb.GetModelResponse) -> Request:
        rest = pb.GenerateRequest(
            rows=rows or 0,
            samples_per_row=samples,
            return_z=return_z,
            temperature=temperature,
            **_common(known, first_row, propagate_non_finite),
        )
        fields = [*condition(known, labels, y, parts), *_noise(rest, seed, mean, eps, samples)]
        return Request(rest, fields, known, chunk_rows)

    return Call(request, Generation, model, timeout)


def documented(method: Callable[..., Call[Any]], run: Callable[..., Any]) -> None:
    """Gives `run`, a client's method, the name, docstring and parameters of `method`, and its result's type."""
    functools.update_wrapper(run, method)
    of_method = inspect.signature(method)
    itself = inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)
    result = of_method.return_annotation.removeprefix("Call[").removesuffix("]")
    run.__signature__ = of_method.replace(  # type: ignore[attr-defined]
        parameters=[itself, *of_method.parameters.values()], return_annotation=result
    )


def _common(model: pb.GetModelResponse, first_row: int, propagate_non_finite: bool) -> Dict[str, Any]:
    finite = pb.Matrix.PROPAGATE if propagate_non_finite else pb.Matrix.REJECT
    return {"model": model.name, "first_row": first_row, "finite": finite}


def _noise(rest: Any, seed: Optional[int], mean: bool, eps: Optional[ArrayLike], samples: int) -> Sequence[MatrixField]:
    """Sets what of the noise is the same in all pieces; what is not is a row field."""
    if (seed is not None) + mean + (eps is not None) > 1:
        raise ValueError("noise: more than one of seed, mean and eps")
    if seed is not None:
        rest.seed = int(np.uint64(seed))
    if mean:
        rest.mean.SetInParent()
    return [] if eps is None else [MatrixField("eps", eps, max(1, samples))]
