"""When a call is sent again: against a server that says what it is told to."""

import concurrent.futures
import time

import grpc
import pytest

import cvae
from cvae import errors
from cvae.internal import error_details_pb2 as details_pb2
from cvae.v1 import cvae_pb2 as pb


class Fake:
    """Answers GetModel with the codes of `plan`, each with a RetryInfo of `delay` unless that is None; then with OK."""

    def __init__(self):
        self.plan, self.delay, self.calls, self.metadata = [], 0.01, 0, {}
        handler = grpc.unary_unary_rpc_method_handler(self.answer, pb.GetModelRequest.FromString, pb.GetModelResponse.SerializeToString)
        self.server = grpc.server(concurrent.futures.ThreadPoolExecutor(2))
        self.server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler("cvae.v1.CvaeService", {"GetModel": handler})])
        self.port = self.server.add_insecure_port("127.0.0.1:0")
        self.server.start()

    def answer(self, request, context):
        self.calls += 1
        self.metadata = dict(context.invocation_metadata())
        if not self.plan:
            return pb.GetModelResponse(name="fake")
        if self.delay is not None:
            info = details_pb2.RetryInfo()
            info.retry_delay.FromNanoseconds(int(self.delay * 1e9))
            status = details_pb2.Status()
            status.details.add(type_url="type.googleapis.com/google.rpc.RetryInfo", value=info.SerializeToString())
            context.set_trailing_metadata([("grpc-status-details-bin", status.SerializeToString())])
        context.abort(self.plan.pop(0), "as planned")


@pytest.fixture
def fake():
    fake = Fake()
    yield fake
    fake.server.stop(None).wait()


@pytest.fixture
def client(fake):
    with cvae.Client(f"127.0.0.1:{fake.port}", metadata=[("authorization", "Bearer it")]) as client:
        yield client


def test_what_may_be_retried_is(fake, client):
    fake.plan = [grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.RESOURCE_EXHAUSTED]
    start = time.monotonic()
    assert client.info().name == "fake"
    assert fake.calls == 3 and time.monotonic() - start >= 0.02
    assert fake.metadata["authorization"] == "Bearer it"


def test_without_a_hint_nothing_is(fake, client):
    fake.plan, fake.delay = [grpc.StatusCode.RESOURCE_EXHAUSTED], None
    with pytest.raises(errors.ResourceExhaustedError, match="as planned"):
        client.info()
    assert fake.calls == 1


def test_other_codes_are_not(fake, client):
    fake.plan = [grpc.StatusCode.INTERNAL]
    with pytest.raises(cvae.CvaeError) as error:
        client.info()
    assert fake.calls == 1 and error.value.code is grpc.StatusCode.INTERNAL


def test_not_beyond_the_deadline(fake, client):
    fake.plan, fake.delay = [grpc.StatusCode.UNAVAILABLE], 3600
    with pytest.raises(errors.UnavailableError) as error:
        client.info(timeout=30)
    assert fake.calls == 1 and error.value.retry_after == 3600


def test_beside_googleapis():
    """Where grpcio-status is installed, both read the same details in one process."""
    pytest.importorskip("grpc_status")
    from google.rpc import error_details_pb2, status_pb2  # noqa: F401

    assert status_pb2.Status.DESCRIPTOR.full_name != details_pb2.Status.DESCRIPTOR.full_name
