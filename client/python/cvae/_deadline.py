"""The time that a method of a client may take, all its calls and their retries together."""

import math
import time
from typing import Optional

import grpc

from . import errors


class Deadline:
    """`timeout` seconds from now on; None or infinity: never."""

    def __init__(self, timeout: Optional[float]) -> None:
        self._timeout = math.inf if timeout is None else timeout
        self._end = time.monotonic() + self._timeout

    def left(self) -> Optional[float]:
        """Seconds, as gRPC takes them."""
        left = self._end - time.monotonic()
        return None if left == math.inf else max(0.0, left)

    def retry_delay(self, rpc_error: grpc.RpcError) -> float:
        """Seconds after which a call that failed is to be sent again. Raises what it failed with if it is not to be."""
        error = errors.from_rpc(rpc_error)
        delay = errors.retry_delay(error)
        if delay is not None and time.monotonic() + delay < self._end:
            return delay
        if error.code is grpc.StatusCode.DEADLINE_EXCEEDED and self.left() == 0:
            error = errors.make_error(error.code, f"the timeout of {self._timeout:g} s passed")
        raise error from rpc_error
