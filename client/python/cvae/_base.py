"""What the blocking and the asyncio client have in common: everything but the waiting."""

from typing import Any, Dict, Optional, Sequence, Tuple, Union

import grpc

from ._connection import Connection, Tls, Token
from ._deadline import Deadline
from ._request import Request
from .v1 import cvae_pb2 as pb

IN_FLIGHT = 4  # calls at a time, of a set that goes in pieces


class Base:
    """A connection's settings, and what is known of the server's models."""

    def __init__(
        self,
        target: str,
        *,
        model: str = "",
        timeout: Optional[float] = 60.0,
        tls: Union[bool, Tls] = False,
        token: Optional[Token] = None,
        credentials: Optional[grpc.ChannelCredentials] = None,
        metadata: Sequence[Tuple[str, str]] = (),
        options: Sequence[Tuple[str, Any]] = (),
    ) -> None:
        """Connects with the first call.

        target: gRPC's: "localhost:8001", "[::1]:8001", "dns:///host:8001", "unix:/run/cvae.sock".
        model: the default of the methods' `model`.
        timeout: the default of the methods' `timeout`, seconds. None: for ever.
        tls: True, or a Tls that says more. False: plaintext.
        token: sent with every call as `authorization: Bearer`; a function is asked for it each time. Never unencrypted
            to another machine.
        credentials: gRPC's own, in place of tls.
        metadata: of every call, such as ("cvae-priority", "low").
        options: channel arguments of gRPC beside ours, which take and send messages of any size.
        """
        self._connection = Connection(target, tls, token, credentials, metadata, options)
        self._model, self._timeout = model, timeout
        self._models: Dict[str, pb.GetModelResponse] = {}
        self._open()

    def _open(self) -> None:
        """Makes what calls go through."""
        raise NotImplementedError

    def _name(self, model: Optional[str]) -> str:
        return self._model if model is None else model

    def _deadline(self, timeout: Optional[float]) -> Deadline:
        return Deadline(self._timeout if timeout is None else timeout)

    def _result(self, model: Optional[str], request: Request, responses: Sequence[Any]) -> Dict[str, Any]:
        """The result's fields. A model that is not the known one any more is forgotten."""
        if any(response.version != request.model.version for response in responses):
            self._models.pop(self._name(model), None)
        return request.answer(responses)


def methods(channel: Any) -> Dict[str, Any]:
    """The service's methods on a channel of either kind."""
    names = ("Encode", "Reconstruct", "Loss", "Decode", "Generate", "GetModel", "ListModels")
    return {
        name: channel.unary_unary(
            f"/cvae.v1.CvaeService/{name}",
            request_serializer=getattr(pb, name + "Request").SerializeToString,
            response_deserializer=getattr(pb, name + "Response").FromString,
        )
        for name in names
    }
