"""How calls are sent, and sent again: against a server that says what it is told to."""

import asyncio
import concurrent.futures
import math
import subprocess
import threading
import time

import grpc
import numpy as np
import pytest

import cvae
from cvae import errors
from cvae.internal import error_details_pb2 as details_pb2
from cvae.v1 import cvae_pb2 as pb


class Fake:
    """A model of one column. Answers with the codes of `plan`, each with a RetryInfo of `delay` unless that is None; then
    with OK. Encode answers x as mu and logvar; a request whose first row is `held` waits for that event."""

    def __init__(self, credentials=None):
        self.plan, self.delay, self.calls, self.metadata = [], 0.01, [], {}
        self.version, self.encoded_by = "1", "1"
        self.held = {}
        self.begun, self.over = threading.Semaphore(0), threading.Semaphore(0)
        methods = {
            name: grpc.unary_unary_rpc_method_handler(
                getattr(self, name), getattr(pb, name + "Request").FromString, getattr(pb, name + "Response").SerializeToString)
            for name in ("GetModel", "Encode")
        }
        self.server = grpc.server(concurrent.futures.ThreadPoolExecutor(8))
        self.server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler("cvae.v1.CvaeService", methods)])
        at = "127.0.0.1:0"
        port = self.server.add_secure_port(at, credentials) if credentials else self.server.add_insecure_port(at)
        self.address = f"127.0.0.1:{port}"
        self.server.start()

    def GetModel(self, request, context):
        self.note(context, "GetModel")
        return pb.GetModelResponse(name="fake", version=self.version, input_dim=1, latent_dim=1, output_dim=1)

    def Encode(self, request, context):
        self.begun.release()
        if request.first_row in self.held:
            context.add_callback(self.over.release)
            assert self.held[request.first_row].wait(10)
        self.note(context, request.first_row)
        return pb.EncodeResponse(version=self.encoded_by, mu=request.x, logvar=request.x)

    def note(self, context, call):
        self.calls.append(call)
        self.metadata = dict(context.invocation_metadata())
        if not self.plan:
            return
        if self.delay is not None:
            info = details_pb2.RetryInfo()
            info.retry_delay.FromNanoseconds(int(self.delay * 1e9))
            status = details_pb2.Status()
            status.details.add(type_url="type.googleapis.com/google.rpc.RetryInfo", value=info.SerializeToString())
            context.set_trailing_metadata([("grpc-status-details-bin", status.SerializeToString())])
        context.abort(self.plan.pop(0), "as planned")

    def hold(self, rows):
        self.held = {row: threading.Event() for row in rows}

    def let_go(self):
        for event in self.held.values():
            event.set()

    def await_begun(self, calls):
        for _ in range(calls):
            assert self.begun.acquire(timeout=10)

    def stop(self):
        self.let_go()
        self.server.stop(None).wait()


@pytest.fixture
def fake():
    fake = Fake()
    yield fake
    fake.stop()


@pytest.fixture
def client(kind, fake):
    with kind(fake.address) as client:
        yield client


X = np.arange(10, dtype=np.float32).reshape(10, 1)


def test_what_may_be_retried_is(fake, client):
    fake.plan = [grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.RESOURCE_EXHAUSTED]
    start = time.monotonic()
    assert client.info().name == "fake"
    assert len(fake.calls) == 3 and time.monotonic() - start >= 0.02


def test_any_chunk_is(fake, client):
    client.info()
    fake.plan = [grpc.StatusCode.RESOURCE_EXHAUSTED] * 5
    assert np.array_equal(client.encode(X, chunk_rows=1).mu, X)
    assert len(fake.calls) == 1 + 15 and set(fake.calls[1:]) == set(range(10))


def test_without_a_hint_nothing_is(fake, client):
    fake.plan, fake.delay = [grpc.StatusCode.RESOURCE_EXHAUSTED], None
    with pytest.raises(errors.ResourceExhaustedError, match="as planned"):
        client.info()
    assert len(fake.calls) == 1


@pytest.mark.parametrize("code", [grpc.StatusCode.INTERNAL, grpc.StatusCode.CANCELLED])
def test_other_codes_are_not(fake, client, code):
    client.info()
    for chunk_rows in (10, 1):
        fake.plan = [code]
        with pytest.raises(cvae.CvaeError) as error:
            client.encode(X, chunk_rows=chunk_rows)
        assert error.value.code is code and not fake.plan


def test_not_beyond_the_deadline(fake, client):
    fake.plan, fake.delay = [grpc.StatusCode.UNAVAILABLE], 3600
    with pytest.raises(errors.UnavailableError) as error:
        client.info(timeout=30)
    assert len(fake.calls) == 1 and error.value.retry_after == 3600


def test_the_timeout_is_of_all_chunks_together(fake, client):
    client.info()
    fake.plan, fake.delay = [grpc.StatusCode.UNAVAILABLE] * 1000, 0.05
    start = time.monotonic()
    with pytest.raises(cvae.CvaeError):
        client.encode(X, chunk_rows=1, timeout=0.3)
    assert time.monotonic() - start < 2
    fake.plan = []
    fake.hold(range(10))
    with pytest.raises(errors.DeadlineExceededError, match=r"rows 0 to 0: the timeout of 0\.3 s passed"):
        client.encode(X, chunk_rows=1, timeout=0.3)
    fake.let_go()
    assert np.array_equal(client.encode(X, chunk_rows=1, timeout=math.inf).mu, X)


def test_a_model_that_changed_is_asked_for_anew(fake, client):
    client.info()
    fake.version = fake.encoded_by = "2"
    with pytest.raises(errors.ModelChangedError, match="from version 1 to 2"):
        client.encode(X, chunk_rows=5)
    assert client.encode(X, chunk_rows=5).version == "2"
    fake.encoded_by = "3"
    assert client.encode(X).version == "3"  # one call: what was known had no part in it


def test_a_chunk_that_fails_ends_the_others(fake, client):
    client.info()
    fake.plan = [grpc.StatusCode.INTERNAL]
    fake.hold(range(10))

    def fail_first():
        fake.await_begun(4)
        fake.held[0].set()

    threading.Thread(target=fail_first).start()
    with pytest.raises(cvae.CvaeError, match="rows 0 to 0: as planned"):
        client.encode(X, chunk_rows=1, timeout=math.inf)
    for _ in range(4):  # the first is over too
        assert fake.over.acquire(timeout=10)


def test_a_cancelled_task_cancels_its_calls_alone(fake):
    async def run():
        async with cvae.aio.Client(fake.address) as client:
            await client.info()
            fake.hold((0, 5))
            other = asyncio.ensure_future(client.encode(X))
            await asyncio.to_thread(fake.await_begun, 1)
            doomed = asyncio.ensure_future(client.encode(X, chunk_rows=5))
            for _ in range(2):
                await asyncio.to_thread(fake.await_begun, 1)
            doomed.cancel()
            with pytest.raises(asyncio.CancelledError):
                await doomed
            for _ in range(2):
                assert await asyncio.to_thread(fake.over.acquire, timeout=10)
            fake.let_go()
            assert np.array_equal((await other).mu, X)

    asyncio.run(run())


def test_many_tasks_share_a_client(fake):
    async def run():
        async with cvae.aio.Client(fake.address) as client:
            answers = await asyncio.gather(*(client.encode(X + i, chunk_rows=3) for i in range(30)))
        assert all(np.array_equal(answer.mu, X + i) for i, answer in enumerate(answers))

    asyncio.run(run())


def test_tokens_and_metadata(kind, fake):
    tokens = iter(["one", "two"])
    with kind(fake.address, token=lambda: next(tokens), metadata=[("cvae-priority", "low")]) as client:
        for token in ("one", "two"):
            client.info()
            assert fake.metadata["authorization"] == f"Bearer {token}" and fake.metadata["cvae-priority"] == "low"
    with kind(fake.address, token="fixed") as client:
        client.info()
        assert fake.metadata["authorization"] == "Bearer fixed"


def test_a_token_goes_nowhere_unencrypted(kind):
    with pytest.raises(ValueError, match="cvae.example:8001 would get it unencrypted"):
        kind("cvae.example:8001", token="secret")
    with kind("cvae.example:8001", token="secret", tls=True), kind("unix:/run/cvae.sock", token="secret"):
        pass


@pytest.fixture(scope="module")
def certificates(tmp_path_factory):
    """An authority, and a server's and a client's certificate that it signed, each NAME.pem with NAME.key."""
    folder = tmp_path_factory.mktemp("tls")

    def make(name, *flags):
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
             f"/CN={name}", "-keyout", f"{folder}/{name}.key", "-out", f"{folder}/{name}.pem", *flags], check=True, capture_output=True)

    make("ca", "-addext", "keyUsage=keyCertSign")
    for name in ("server", "client"):
        make(name, "-addext", "subjectAltName=DNS:cvae.test", "-addext", "basicConstraints=critical,CA:FALSE",
             "-CA", f"{folder}/ca.pem", "-CAkey", f"{folder}/ca.key")
    return folder


@pytest.mark.parametrize("mutual", [False, True])
def test_tls(kind, certificates, mutual):
    def read(name):
        return (certificates / name).read_bytes()

    fake = Fake(grpc.ssl_server_credentials([(read("server.key"), read("server.pem"))], read("ca.pem"), mutual))
    ours = {"certificate": certificates / "client.pem", "key": certificates / "client.key"} if mutual else {}
    right = cvae.Tls(ca=certificates / "ca.pem", server_name="cvae.test", **ours)
    with kind(fake.address, tls=right, token="secret") as client:
        assert np.array_equal(client.encode(X, chunk_rows=4).mu, X)
        assert fake.metadata["authorization"] == "Bearer secret"
    wrong = [cvae.Tls(server_name="cvae.test", **ours), cvae.Tls(ca=certificates / "ca.pem", **ours)]  # who signed it? whose?
    if mutual:
        wrong.append(cvae.Tls(ca=certificates / "ca.pem", server_name="cvae.test"))
    for tls in (*wrong, False):
        with kind(fake.address, tls=tls, timeout=5) as client, pytest.raises(errors.UnavailableError):
            client.info()
    fake.stop()


def test_settings_that_contradict_each_other(kind, tmp_path):
    with pytest.raises(ValueError, match="certificate and key"):
        kind("localhost:1", tls=cvae.Tls(certificate=tmp_path / "client.pem"))
    with pytest.raises(ValueError, match="tls and credentials"):
        kind("localhost:1", tls=True, credentials=grpc.ssl_channel_credentials())
    with pytest.raises(FileNotFoundError):
        kind("localhost:1", tls=cvae.Tls(ca=tmp_path / "none.pem"))
