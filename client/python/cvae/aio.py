"""The asyncio client: cvae.Client, awaited.

    async with cvae.aio.Client("localhost:8001") as client:
        latents = (await client.encode(x, labels=["seven", "one"])).mu
"""

import asyncio
import collections
from typing import Any, Callable, Concatenate, Coroutine, Deque, Dict, List, Optional, ParamSpec, Tuple, TypeVar

import grpc
import grpc.aio

from . import _calls, errors
from ._base import IN_FLIGHT, Base, methods
from ._calls import Call
from ._deadline import Deadline
from ._request import Request
from .v1 import cvae_pb2 as pb

__all__ = ["Client"]

P = ParamSpec("P")
R = TypeVar("R")


def _awaited(method: Callable[P, Call[R]]) -> "Callable[Concatenate[Client, P], Coroutine[Any, Any, R]]":
    async def run(self: "Client", /, *args: P.args, **kwargs: P.kwargs) -> R:
        return await self._run(method(*args, **kwargs))

    _calls.documented(method, run)
    return run


class Client(Base):
    """As cvae.Client, whose docstring says what the methods take; any number of calls at a time, of one event loop.

    A task that is cancelled cancels its calls.
    """

    encode = _awaited(_calls.encode)
    reconstruct = _awaited(_calls.reconstruct)
    loss = _awaited(_calls.loss)
    decode = _awaited(_calls.decode)
    generate = _awaited(_calls.generate)

    async def info(self, *, model: Optional[str] = None, timeout: Optional[float] = None) -> pb.GetModelResponse:
        """What a model is, and what may be asked of it."""
        return await self._describe(self._name(model), self._deadline(timeout))

    async def models(self, *, timeout: Optional[float] = None) -> Tuple[pb.ModelSummary, ...]:
        """The models of the server."""
        return tuple((await self._call("ListModels", pb.ListModelsRequest(), self._deadline(timeout))).models)

    async def close(self) -> None:
        """Ends the connection. Calls under way are cancelled."""
        if self._channel is not None:
            await self._channel.close(None)

    async def __aenter__(self) -> "Client":
        return self

    async def __aexit__(self, *unused: object) -> None:
        await self.close()

    async def _describe(self, name: str, deadline: Deadline) -> pb.GetModelResponse:
        answer: pb.GetModelResponse = await self._call("GetModel", pb.GetModelRequest(model=name), deadline)
        self._models[name] = answer
        return answer

    async def _run(self, call: Call[R]) -> R:
        deadline, name = self._deadline(call.timeout), self._name(call.model)
        request = call.request(self._models.get(name) or await self._describe(name, deadline))
        if len(request.pieces) == 1:
            responses = [await self._call(request.method, request.message(*request.pieces[0]), deadline)]
        else:
            responses = await self._call_all(request, deadline)
        return call.result(**self._result(call.model, request, responses))

    async def _call_all(self, request: Request, deadline: Deadline) -> List[Any]:
        """The answers to all pieces, some under way at a time. Fails with the first piece that does."""
        responses: List[Any] = []
        window: Deque["asyncio.Task[Any]"] = collections.deque()

        async def ask(piece: Tuple[int, int]) -> Any:
            try:
                return await self._call(request.method, request.message(*piece), deadline)
            except errors.CvaeError as error:
                raise errors.in_rows(error, *piece) from error

        try:
            for piece in request.pieces:
                if len(window) == IN_FLIGHT:
                    responses.append(await window.popleft())
                window.append(asyncio.ensure_future(ask(piece)))
            while window:
                responses.append(await window.popleft())
        finally:
            for task in window:
                task.cancel()
            await asyncio.gather(*window, return_exceptions=True)
        return responses

    async def _call(self, method: str, message: Any, deadline: Deadline) -> Any:
        self._connect()
        while True:
            metadata = self._connection.metadata()
            try:
                return await self._methods[method](message, timeout=deadline.left(), metadata=metadata)
            except grpc.RpcError as error:
                delay = deadline.retry_delay(error)
            await asyncio.sleep(delay)

    def _open(self) -> None:
        self._channel: Optional[grpc.aio.Channel] = None
        self._methods: Dict[str, Any] = {}

    def _connect(self) -> None:
        """A channel belongs to the event loop that runs when it is made, so the first call makes it."""
        if self._channel is not None:
            return
        where = self._connection
        if where.credentials is None:
            self._channel = grpc.aio.insecure_channel(where.target, options=where.arguments)
        else:
            self._channel = grpc.aio.secure_channel(where.target, where.credentials, options=where.arguments)
        self._methods = methods(self._channel)
