"""The blocking client."""

import collections
import time
from typing import Any, Callable, Concatenate, Deque, List, Optional, ParamSpec, Tuple, TypeVar

import grpc

from . import _calls, errors
from ._base import IN_FLIGHT, Base, methods
from ._calls import Call
from ._deadline import Deadline
from ._request import Request
from .v1 import cvae_pb2 as pb

P = ParamSpec("P")
R = TypeVar("R")


def _blocking(method: Callable[P, Call[R]]) -> "Callable[Concatenate[Client, P], R]":
    def run(self: "Client", /, *args: P.args, **kwargs: P.kwargs) -> R:
        return self._run(method(*args, **kwargs))

    _calls.documented(method, run)
    return run


class Client(Base):
    """A connection to one server, or to several behind one name. Thread-safe.

    What all methods take:

    - the condition, exactly one of: `labels`, class ids or class names, one a row (a model of one class part); `y`,
      [B, L], all parts side by side; `parts`, from a part's name to its ids, names or columns;
    - the noise, at most one of: `seed`; `mean=True`, none; `eps`, your own. None of them: the model's default. A result
      that drew a seed carries it;
    - rows: x [B, D], z [B, Z], target [B, O], eps [B * S, Z], anything that numpy makes float32 of;
    - `model`, which may be left out where the server has one;
    - `first_row`: the place of the first row in a set that you send in pieces yourself;
    - `propagate_non_finite`: compute with NaN and infinity in place of refusing them;
    - `timeout`: seconds that all of it may take, with every chunk and retry. None: the client's. math.inf: for ever;
    - `chunk_rows`: rows of a call. None: as many as fit into the server's limits and 2 MiB either way. A larger set goes
      in several calls, and the result is that of one, to the bit.

    A call is sent again only where the server asks for it, after the delay it names, if that is before the deadline.
    Raises errors.CvaeError, with the server's code and message; ValueError and TypeError for what no request can say.
    """

    encode = _blocking(_calls.encode)
    reconstruct = _blocking(_calls.reconstruct)
    loss = _blocking(_calls.loss)
    decode = _blocking(_calls.decode)
    generate = _blocking(_calls.generate)

    def info(self, *, model: Optional[str] = None, timeout: Optional[float] = None) -> pb.GetModelResponse:
        """What a model is, and what may be asked of it."""
        return self._describe(self._name(model), self._deadline(timeout))

    def models(self, *, timeout: Optional[float] = None) -> Tuple[pb.ModelSummary, ...]:
        """The models of the server."""
        return tuple(self._call("ListModels", pb.ListModelsRequest(), self._deadline(timeout)).models)

    def close(self) -> None:
        """Ends the connection. Calls under way are cancelled."""
        self._channel.close()

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *unused: object) -> None:
        self.close()

    def _open(self) -> None:
        where = self._connection
        if where.credentials is None:
            self._channel = grpc.insecure_channel(where.target, options=where.arguments)
        else:
            self._channel = grpc.secure_channel(where.target, where.credentials, options=where.arguments)
        self._methods = methods(self._channel)

    def _describe(self, name: str, deadline: Deadline) -> pb.GetModelResponse:
        answer: pb.GetModelResponse = self._call("GetModel", pb.GetModelRequest(model=name), deadline)
        self._models[name] = answer
        return answer

    def _run(self, call: Call[R]) -> R:
        deadline, name = self._deadline(call.timeout), self._name(call.model)
        request = call.request(self._models.get(name) or self._describe(name, deadline))
        if len(request.pieces) == 1:
            responses = [self._call(request.method, request.message(*request.pieces[0]), deadline)]
        else:
            responses = self._call_all(request, deadline)
        return call.result(**self._result(call.model, request, responses))

    def _call_all(self, request: Request, deadline: Deadline) -> List[Any]:
        """The answers to all pieces, some under way at a time. Fails with the first piece that does."""
        responses: List[Any] = []
        window: Deque[Any] = collections.deque()

        def settle() -> None:
            piece = request.pieces[len(responses)]
            try:
                responses.append(self._settle(request, piece, window[0], deadline))
            except errors.CvaeError as error:
                raise errors.in_rows(error, *piece) from error
            window.popleft()

        try:
            for piece in request.pieces:
                if len(window) == IN_FLIGHT:
                    settle()
                window.append(self._send(request.method, request.message(*piece), deadline))
            while window:
                settle()
        finally:
            for sent in window:
                sent.cancel()
        return responses

    def _settle(self, request: Request, piece: Tuple[int, int], sent: Any, deadline: Deadline) -> Any:
        if sent.code() is grpc.StatusCode.OK:
            return sent.result()
        time.sleep(deadline.retry_delay(sent))
        return self._call(request.method, request.message(*piece), deadline)

    def _send(self, method: str, message: Any, deadline: Deadline) -> Any:
        return self._methods[method].future(message, timeout=deadline.left(), metadata=self._connection.metadata())

    def _call(self, method: str, message: Any, deadline: Deadline) -> Any:
        while True:
            metadata = self._connection.metadata()
            try:
                return self._methods[method](message, timeout=deadline.left(), metadata=metadata)
            except grpc.RpcError as error:
                delay = deadline.retry_delay(error)
            time.sleep(delay)
