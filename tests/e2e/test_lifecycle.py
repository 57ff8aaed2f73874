"""Start, drain and end; health; a client that never reads."""

import concurrent.futures
import os
import pathlib
import signal
import socket
import subprocess
import sys
import time

import grpc
import numpy as np
import pytest
from conftest import DIGITS, GOLDEN, SERVER, Server, cvae_pb2_grpc, health_pb2, health_pb2_grpc, matrix, pb

MODEL = f"--model={DIGITS}/digits.safetensors"


def ends_at_once(*flags):
    """What a server that cannot start says, and its exit code."""
    done = subprocess.run([SERVER, *flags], stderr=subprocess.PIPE, text=True, errors="replace", timeout=30)
    return done.returncode, done.stderr.strip().splitlines()[-1]


def test_bad_starts_say_one_clear_line(tmp_path):
    pickled = tmp_path / "model.pth"
    pickled.write_bytes(b"\x80\x02}q\x00.")
    for flags, words in (
        (["--no_such_flag"], "no_such_flag"),
        ([], "--model"),
        ([MODEL, "--lanes=0"], "--lanes: got 0, expected 1 to 64"),
        ([MODEL, "--engine=gpu"], "--engine"),
        ([MODEL, "--client_key_header=X-User"], "--client_key_header: got \"X-User\""),
        ([MODEL, "--precision=bf16"], "--precision"),
        ([MODEL, "--listen=nowhere"], "nowhere"),
        ([MODEL, "stray"], "stray"),
        (["--model=/no/such/file.safetensors"], "/no/such/file.safetensors"),
        ([f"--model={pickled}"], "safetensors"),
        ([MODEL, MODEL], "digits"),
        ([MODEL, "--listen=unix:/no/such/folder/socket"], "/no/such/folder"),
        ([MODEL, f"--listen=unix:{pickled}"], "no socket"),
        ([MODEL, "--listen=127.0.0.1:8099", "--listen=127.0.0.1:8099"], "twice"),
        (["--listen", MODEL], "--listen: got nothing"),
        ([MODEL, "--model"], "--model: got nothing"),
        (["--model=digits="], "--model: got \"digits=\""),
        (["--model=" + MODEL[len("--model"):]], "[NAME=]PATH"),
        ([b"--model=\xff=" + MODEL[len("--model="):].encode()], "UTF-8"),
    ):
        code, line = ends_at_once(*flags)
        assert code != 0 and words in line, (flags, code, line)
    assert pickled.exists()


def test_a_taken_port_and_a_taken_path_are_refused(tmp_path):
    path = tmp_path / "socket"
    server = Server(MODEL, f"--listen=unix:{path}")
    for address in (server.address, f"unix:{path}"):
        code, line = ends_at_once(MODEL, f"--listen={address}")
        assert code != 0 and address in line, line
    # The one that was there still answers, on both.
    for address in (server.address, f"unix:{path}"):
        with grpc.insecure_channel(address) as channel:
            cvae_pb2_grpc.CvaeServiceStub(channel).ListModels(pb.ListModelsRequest(), timeout=10)
    assert server.stop() == 0
    assert not path.exists()


def test_health_is_truthful_and_a_drain_loses_nothing():
    server = Server(MODEL, "--drain_delay_ms=1500", "--max_batch_rows=64")
    health = health_pb2_grpc.HealthStub(server.channel())
    for service in ("", "cvae.v1.CvaeService"):
        assert health.Check(health_pb2.HealthCheckRequest(service=service)).status == health_pb2.HealthCheckResponse.SERVING
    with pytest.raises(grpc.RpcError) as unknown:
        health.Check(health_pb2.HealthCheckRequest(service="other"))
    assert unknown.value.code() == grpc.StatusCode.NOT_FOUND
    watch = health.Watch(health_pb2.HealthCheckRequest())
    assert next(watch).status == health_pb2.HealthCheckResponse.SERVING
    odd = health.Watch(health_pb2.HealthCheckRequest(service="other"))
    assert next(odd).status == health_pb2.HealthCheckResponse.SERVICE_UNKNOWN

    # Longer than the sleep below, yet a tenth of what the scheduler refuses for its length in the slowest build.
    rows = 1000
    x = matrix(np.random.default_rng(0).random((rows, 256)))
    stub = server.stub()
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        def work(_):
            return stub.Loss(pb.LossRequest(x=x, labels=[1] * rows, num_samples=4, seed=1)).loss
        calls = [pool.submit(work, i) for i in range(8)]
        time.sleep(0.05)  # some are under way; all must be answered either way
        server.process.send_signal(signal.SIGTERM)
        assert next(watch).status == health_pb2.HealthCheckResponse.NOT_SERVING
        # While balancers have not noticed, it still serves.
        stub.ListModels(pb.ListModelsRequest(), timeout=1)
        assert len({call.result() for call in calls}) == 1
    assert server.process.wait(timeout=60) == 0
    with pytest.raises(grpc.RpcError):
        stub.ListModels(pb.ListModelsRequest(), timeout=1)


def test_a_client_killed_amid_calls_harms_nobody(tmp_path):
    server = Server(MODEL)
    script = tmp_path / "client.py"
    script.write_text(
        "import socket, sys, time\n"
        "s = socket.create_connection(sys.argv[1].rsplit(':', 1))\n"
        "s.sendall(b'PRI * HTTP/2.0\\r\\n\\r\\nSM\\r\\n\\r\\n' + bytes(9)[:3] + b'\\x04' + bytes(5) + b'\\x7f' * 999)\n"
        "time.sleep(60)\n")
    clients = [subprocess.Popen([sys.executable, str(script), server.address]) for _ in range(5)]
    stub = server.stub()
    before = stub.Generate(pb.GenerateRequest(labels=[7], seed=1))
    for client in clients:
        client.kill()
        client.wait()
    assert stub.Generate(pb.GenerateRequest(labels=[7], seed=1)) == before
    assert server.stop() == 0


def test_clients_killed_amid_calls_leave_nothing_behind():
    """Whatever their calls were doing: queued, computing, being answered. What the server counted says so."""
    server = Server(MODEL, "--max_batch_rows=64")
    here = str(pathlib.Path(__file__).parent)
    clients = [subprocess.Popen([sys.executable, "-c", CALLING, server.address, here], stdout=subprocess.PIPE)
               for _ in range(3)]
    for client in clients:
        assert client.stdout.readline() == b"calling\n"
    for client in clients:
        time.sleep(0.05)  # each at another moment
        client.kill()
        client.wait()
    assert server.stop() == 0
    assert any("in flight 0, unread bytes 0" in line for line in server.log), server.log


CALLING = """
import sys
sys.path.insert(0, sys.argv[2])
from conftest import cvae_pb2_grpc, grpc, pb, UNLIMITED
stub = cvae_pb2_grpc.CvaeServiceStub(grpc.insecure_channel(sys.argv[1], options=UNLIMITED))
print("calling", flush=True)
while True:
    calls = [stub.Generate.future(pb.GenerateRequest(labels=[7], samples_per_row=n, seed=1)) for n in (1, 30, 3000) * 20]
    for call in calls: call.result()
"""


@pytest.mark.parametrize("network", ["tcp", "unix"])
def test_a_reader_that_never_takes_its_answers(tmp_path, network):
    """A stopped process: its connection stays, and nothing is read from it. Others on the same socket notice nothing."""
    path = f"unix:{tmp_path}/s"
    server = Server(MODEL, f"--listen={path}", "--max_unread_connection_mib=8", "--drain_timeout_ms=1000")
    address = server.address if network == "tcp" else path
    stuck = subprocess.Popen(
        [sys.executable, "-c", STUCK, address, str(pathlib.Path(__file__).parent)], stdout=subprocess.PIPE)
    assert stuck.stdout.readline() == b"sent\n"
    stuck.send_signal(signal.SIGSTOP)
    stub = cvae_pb2_grpc.CvaeServiceStub(grpc.insecure_channel(address))
    slowest = 0.0
    before = stub.Generate(pb.GenerateRequest(labels=[7], seed=1))
    for _ in range(200):
        start = time.monotonic()
        assert stub.Generate(pb.GenerateRequest(labels=[7], seed=1), timeout=20) == before
        slowest = max(slowest, time.monotonic() - start)
    stuck.kill()
    stuck.wait()
    assert stub.Generate(pb.GenerateRequest(labels=[7], seed=1)) == before
    assert server.stop() == 0


STUCK = """
import sys
sys.path.insert(0, sys.argv[2])
import numpy as np
from conftest import cvae_pb2_grpc, grpc, pb, UNLIMITED
channel = grpc.insecure_channel(sys.argv[1], options=UNLIMITED)
stub = cvae_pb2_grpc.CvaeServiceStub(channel)
calls = [stub.Generate.future(pb.GenerateRequest(labels=[7], samples_per_row=20000, seed=i)) for i in range(60)]
print("sent", flush=True)
import time
time.sleep(600)
"""


def test_a_unix_path_has_any_name_and_comes_back_after_a_kill(tmp_path):
    path = tmp_path / "100%41 ?#"
    for end in (Server.kill, Server.stop):
        server = Server(MODEL, f"--listen=unix:{path}")
        assert path.is_socket()
        end(server)
    assert not path.exists()


def test_started_without_standard_streams():
    """Whatever is opened next would get their numbers, and the log with it."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    process = subprocess.Popen(["sh", "-c", 'exec "$0" "$@" <&- >&- 2>&-', SERVER, MODEL, f"--listen=127.0.0.1:{port}"])
    with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
        cvae_pb2_grpc.CvaeServiceStub(channel).ListModels(pb.ListModelsRequest(), timeout=20, wait_for_ready=True)
    assert {os.readlink(f"/proc/{process.pid}/fd/{fd}") for fd in range(3)} == {"/dev/null"}
    process.terminate()
    assert process.wait(timeout=20) == 0


def test_several_listeners_serve_the_same(tmp_path):
    server = Server(f"--model=tiny={GOLDEN}/tiny.model.safetensors", f"--listen=unix:{tmp_path}/s", "--listen=[::1]:0")
    with grpc.insecure_channel(f"unix:{tmp_path}/s") as channel:
        over_unix = cvae_pb2_grpc.CvaeServiceStub(channel).Generate(pb.GenerateRequest(labels=[1], seed=3))
    assert over_unix == server.stub().Generate(pb.GenerateRequest(labels=[1], seed=3))
    assert server.stop() == 0
