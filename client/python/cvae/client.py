"""The blocking client."""

import concurrent.futures
import time
from typing import Any, Dict, Mapping, Optional, Sequence, Tuple, Type

import grpc
import numpy as np
from numpy.typing import ArrayLike

from . import errors
from ._request import Request
from ._rows import ConditionField, Labels, MatrixField, condition
from .results import Decoding, Encoding, Generation, Loss, Reconstruction
from .v1 import cvae_pb2 as pb

_IN_FLIGHT = 4  # calls at a time, of a set that goes in pieces


class Client:
    """A connection to one server, or to several behind one name. Thread-safe.

    What all methods take:

    - the condition, exactly one of: `labels`, class ids or class names, one a row (a model of one class part); `y`,
      [B, L], all parts side by side; `parts`, from a part's name to its ids, names or columns;
    - the noise, at most one of: `seed`; `mean=True`, none; `eps`, your own. None of them: the model's default. A result
      that drew a seed carries it;
    - `model`, which may be left out where the server has one;
    - `first_row`: the place of the first row in a set that you send in pieces yourself;
    - `propagate_non_finite`: compute with NaN and infinity in place of refusing them;
    - `timeout`: seconds that each call may take, its retries included. None: the client's;
    - `chunk_rows`: rows of a call. None: as many as fit into the server's limits and 2 MiB either way. A larger set goes
      in several calls, and the result is that of one, to the bit.

    A call is sent again only where the server asks for it, after the delay it names, if that is before the deadline.
    Raises errors.CvaeError, with the server's code and message; ValueError and TypeError for what no request can say.
    """

    def __init__(
        self,
        target: str,
        *,
        model: str = "",
        timeout: Optional[float] = 60.0,
        credentials: Optional[grpc.ChannelCredentials] = None,
        metadata: Sequence[Tuple[str, str]] = (),
        options: Sequence[Tuple[str, Any]] = (),
    ) -> None:
        """Connects with the first call.

        target: gRPC's: "localhost:8001", "[::1]:8001", "dns:///host:8001", "unix:/run/cvae.sock".
        model: the default of the methods' `model`.
        timeout: the default of the methods' `timeout`, seconds. None: for ever.
        credentials: grpc.ssl_channel_credentials(...) and the like. None: plaintext.
        metadata: of every call, such as ("authorization", "Bearer ...").
        options: channel arguments of gRPC beside ours, which take and send messages of any size.
        """
        arguments = [("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1), *options]
        if target.startswith(("localhost:", "127.", "[::1]:")):
            arguments.append(("grpc.enable_http_proxy", 0))  # a proxy is meant for other hosts, not for this one
        if credentials is None:
            self._channel = grpc.insecure_channel(target, options=arguments)
        else:
            self._channel = grpc.secure_channel(target, credentials, options=arguments)
        self._model, self._timeout, self._metadata = model, timeout, tuple(metadata)
        self._methods = {
            name: self._channel.unary_unary(
                f"/cvae.v1.CvaeService/{name}",
                request_serializer=request.SerializeToString,
                response_deserializer=response.FromString,
            )
            for name, (request, response) in _rpcs().items()
        }
        self._models: Dict[str, pb.GetModelResponse] = {}

    def close(self) -> None:
        """Ends the connection. Calls under way are cancelled."""
        self._channel.close()

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *unused: object) -> None:
        self.close()

    def info(self, *, model: Optional[str] = None, timeout: Optional[float] = None) -> pb.GetModelResponse:
        """What a model is, and what may be asked of it."""
        name = self._model if model is None else model
        answer: pb.GetModelResponse = self._call("GetModel", pb.GetModelRequest(model=name), timeout)
        self._models[name] = answer
        return answer

    def models(self, *, timeout: Optional[float] = None) -> Tuple[pb.ModelSummary, ...]:
        """The models of the server."""
        return tuple(self._call("ListModels", pb.ListModelsRequest(), timeout).models)

    def encode(
        self,
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
    ) -> Encoding:
        """The latent distribution of each row."""
        known = self._known(model, timeout)
        rest = pb.EncodeRequest(**_common(known, first_row, propagate_non_finite))
        fields = [MatrixField("x", x), *condition(known, labels, y, parts)]
        return Encoding(**self._run(Request(rest, fields, known, chunk_rows), model, timeout))

    def reconstruct(
        self,
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
    ) -> Reconstruction:
        """Each row encoded, its latent drawn, and decoded, under the decode_ condition if there is one.

        return_loss: the loss terms of the same pass too, as loss() has them, with per_row, per_column, per_latent, target.
        """
        known = self._known(model, timeout)
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
        return Reconstruction(**self._run(Request(rest, fields, known, chunk_rows), model, timeout))

    def loss(
        self,
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
    ) -> Loss:
        """The loss terms (negative ELBO) of the rows.

        samples: latents drawn a row, over which the reconstruction term is averaged.
        target: what the reconstruction is compared with, in place of x.
        """
        known = self._known(model, timeout)
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
        return Loss(**self._run(Request(rest, fields, known, chunk_rows), model, timeout))

    def decode(
        self,
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
    ) -> Decoding:
        """Latents of the caller's, decoded as they are."""
        known = self._known(model, timeout)
        rest = pb.DecodeRequest(**_common(known, first_row, propagate_non_finite))
        fields = [MatrixField("z", z), *condition(known, labels, y, parts)]
        return Decoding(**self._run(Request(rest, fields, known, chunk_rows), model, timeout))

    def generate(
        self,
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
    ) -> Generation:
        """New rows under each condition, `samples` of each. temperature: scale of the drawn z, 1 if None."""
        known = self._known(model, timeout)
        rest = pb.GenerateRequest(
            rows=rows or 0,
            samples_per_row=samples,
            return_z=return_z,
            temperature=temperature,
            **_common(known, first_row, propagate_non_finite),
        )
        fields = [*condition(known, labels, y, parts), *_noise(rest, seed, mean, eps, samples)]
        return Generation(**self._run(Request(rest, fields, known, chunk_rows), model, timeout))

    def _known(self, model: Optional[str], timeout: Optional[float]) -> pb.GetModelResponse:
        name = self._model if model is None else model
        return self._models.get(name) or self.info(model=name, timeout=timeout)

    def _run(self, request: Request, model: Optional[str], timeout: Optional[float]) -> Dict[str, Any]:
        def ask(piece: Tuple[int, int]) -> Any:
            try:
                return self._call(request.method, request.message(*piece), timeout)
            except errors.CvaeError as error:
                if len(request.pieces) == 1:
                    raise
                raise errors.in_rows(error, *piece) from error

        if len(request.pieces) == 1:
            responses = [ask(request.pieces[0])]
        else:
            with concurrent.futures.ThreadPoolExecutor(_IN_FLIGHT) as pool:
                futures = [pool.submit(ask, piece) for piece in request.pieces]
                try:
                    responses = [future.result() for future in futures]
                except BaseException:
                    for future in futures:
                        future.cancel()
                    raise
        if responses[0].version != request.model.version:  # what was known of the model is of another one
            self._models.pop(self._model if model is None else model, None)
        return request.answer(responses)

    def _call(self, method: str, message: Any, timeout: Optional[float]) -> Any:
        timeout = self._timeout if timeout is None else timeout
        deadline = None if timeout is None else time.monotonic() + timeout
        while True:
            left = None if deadline is None else deadline - time.monotonic()
            try:
                return self._methods[method](message, timeout=left, metadata=self._metadata)
            except grpc.RpcError as rpc_error:
                error = errors.from_rpc(rpc_error)
            delay = errors.retry_delay(error)
            if delay is None or (deadline is not None and time.monotonic() + delay >= deadline):
                raise error
            time.sleep(delay)


def _rpcs() -> Dict[str, Tuple[Type[Any], Type[Any]]]:
    """Each method of the service: its request and its response."""
    names = ("Encode", "Reconstruct", "Loss", "Decode", "Generate", "GetModel", "ListModels")
    return {name: (getattr(pb, name + "Request"), getattr(pb, name + "Response")) for name in names}


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
