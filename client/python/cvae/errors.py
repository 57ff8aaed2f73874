"""Errors as the server gives them: a code, a message a person can act on, and its google.rpc details.

The details are read through messages of this package that are wire-equal to google.rpc's: a process that also has
googleapis-common-protos would refuse a second google.rpc.Status.
"""

from dataclasses import dataclass
from typing import Any, Optional, Sequence, Tuple

import grpc
from google.protobuf.message import DecodeError

from .internal import error_details_pb2 as details_pb2

_DETAILS = "grpc-status-details-bin"
_TYPES = "type.googleapis.com/google.rpc."


@dataclass(frozen=True)
class FieldViolation:
    """One thing wrong with a request."""

    field: str  # its path, "x.cols"
    description: str  # what was wrong, what is expected


class CvaeError(Exception):
    """A call that failed. Its subclasses are the codes that callers tell apart."""

    def __init__(
        self,
        code: grpc.StatusCode,
        message: str,
        violations: Sequence[FieldViolation] = (),
        retry_after: Optional[float] = None,
    ) -> None:
        super().__init__(f"{code.name}: {message}")
        self.code = code
        self.message = message
        #: What the server found wrong with the request; empty if it did not say.
        self.violations: Tuple[FieldViolation, ...] = tuple(violations)
        #: Seconds after which the server asks to try again; None: trying again is pointless.
        self.retry_after = retry_after


class InvalidArgumentError(CvaeError):
    """The request is wrong: never retry."""


class NotFoundError(CvaeError):
    """The server has no such model."""


class FailedPreconditionError(CvaeError):
    """The model cannot do this."""


class ResourceExhaustedError(CvaeError):
    """The server is full, or the request is over the transport's limit (retry_after is then None)."""


class DeadlineExceededError(CvaeError):
    """The timeout passed."""


class UnavailableError(CvaeError):
    """There is no server at the target, or it is going away."""


class ModelChangedError(CvaeError):
    """The calls for the chunks of one set were answered by different models: ask again."""


_CLASSES = {
    grpc.StatusCode.INVALID_ARGUMENT: InvalidArgumentError,
    grpc.StatusCode.NOT_FOUND: NotFoundError,
    grpc.StatusCode.FAILED_PRECONDITION: FailedPreconditionError,
    grpc.StatusCode.RESOURCE_EXHAUSTED: ResourceExhaustedError,
    grpc.StatusCode.DEADLINE_EXCEEDED: DeadlineExceededError,
    grpc.StatusCode.UNAVAILABLE: UnavailableError,
    grpc.StatusCode.ABORTED: ModelChangedError,
}
_RETRIED = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.RESOURCE_EXHAUSTED)


def make_error(
    code: grpc.StatusCode,
    message: str,
    violations: Sequence[FieldViolation] = (),
    retry_after: Optional[float] = None,
) -> CvaeError:
    """The error of the class that belongs to `code`."""
    return _CLASSES.get(code, CvaeError)(code, message, violations, retry_after)


def from_rpc(error: Any) -> CvaeError:
    """The CvaeError of a grpc.RpcError. Details that do not parse are left out."""
    violations: Sequence[FieldViolation] = ()
    retry_after = None
    status = details_pb2.Status()
    try:
        status.ParseFromString(_details(error.trailing_metadata()))
        for detail in status.details:
            if detail.type_url == _TYPES + "RetryInfo":
                delay = details_pb2.RetryInfo.FromString(detail.value).retry_delay
                retry_after = max(0.0, delay.seconds + delay.nanos * 1e-9)
            elif detail.type_url == _TYPES + "BadRequest":
                found = details_pb2.BadRequest.FromString(detail.value).field_violations
                violations = [FieldViolation(each.field, each.description) for each in found]
    except DecodeError:
        pass
    return make_error(error.code(), error.details() or "", violations, retry_after)


def retry_delay(error: CvaeError) -> Optional[float]:
    """Seconds until the same call is worth another try; None: never. At least 1 ms: a hint of 0 must not spin."""
    if error.code not in _RETRIED or error.retry_after is None:
        return None
    return max(error.retry_after, 1e-3)


def in_rows(error: CvaeError, begin: int, end: int) -> CvaeError:
    """The error of a chunk, saying which rows it held."""
    message = f"rows {begin} to {end - 1}: {error.message}"
    return make_error(error.code, message, error.violations, error.retry_after)


def _details(metadata: Any) -> bytes:
    for key, value in metadata or ():
        if key == _DETAILS:
            return value if isinstance(value, bytes) else bytes(value, "latin-1")
    return b""
