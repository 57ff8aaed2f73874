"""A server of its own for each module, stubs made from the .proto, and the golden cases."""

import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import threading

import grpc
import numpy as np
import pytest
from grpc_tools import protoc
from safetensors.numpy import load_file

ROOT = pathlib.Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "tests" / "golden"
DIGITS = ROOT / "deploy" / "models" / "digits"
SERVER = os.environ["CVAE_SERVER_BINARY"]
CLIENT = os.environ["CVAE_CLIENT_BINARY"]

_stubs = tempfile.TemporaryDirectory()
assert protoc.main(["protoc", f"-I{ROOT}/proto", f"--python_out={_stubs.name}", f"--grpc_python_out={_stubs.name}",
                    "cvae/v1/cvae.proto", "grpc/health/v1/health.proto", "google/rpc/error_details.proto",
                    "google/rpc/status.proto"]) == 0
# Only ours is put on the path as it is: `grpc` and `google` are packages of others, theirs are loaded by name below.
sys.path.insert(0, _stubs.name)
for package in ("grpc", "google"):
    module = __import__(package)
    module.__path__ = list(module.__path__) + [f"{_stubs.name}/{package}"]

from cvae.v1 import cvae_pb2 as pb  # noqa: E402
from cvae.v1 import cvae_pb2_grpc  # noqa: E402
from google.rpc import error_details_pb2, status_pb2  # noqa: E402
from grpc.health.v1 import health_pb2, health_pb2_grpc  # noqa: E402

UNLIMITED = [("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1)]


class Server:
    """A cvae-server process on a free port."""

    def __init__(self, *flags, binary=SERVER):
        self.process = subprocess.Popen([binary, "--listen=127.0.0.1:0", *flags], stderr=subprocess.PIPE, text=True)
        self.log = []
        for line in self.process.stderr:
            self.log.append(line)
            found = re.search(r"listening on (127\.0\.0\.1:\d+)", line)
            if found:
                self.address = found[1]
                break
        else:
            raise RuntimeError("the server did not start: " + "".join(self.log))
        # Read on, or a full pipe would stop it.
        self._reader = threading.Thread(target=lambda: self.log.extend(self.process.stderr), daemon=True)
        self._reader.start()

    def channel(self, *options):
        # Channels with the same options would share a connection.
        return grpc.insecure_channel(self.address, options=[*UNLIMITED, ("grpc.use_local_subchannel_pool", 1), *options])

    def stub(self):
        return cvae_pb2_grpc.CvaeServiceStub(self.channel())

    def alive(self):
        return self.process.poll() is None

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(timeout=60)
        self.join()
        return code

    def join(self):
        """Once it has ended: its log is complete."""
        self._reader.join(timeout=10)


@pytest.fixture(scope="module")
def server():
    server = Server(f"--model=seed={GOLDEN}/seed.model.safetensors", f"--model=tiny={GOLDEN}/tiny.model.safetensors",
                    f"--model={DIGITS}/digits.safetensors")
    yield server
    assert server.stop() == 0, "".join(server.log)


@pytest.fixture(scope="module")
def stub(server):
    return server.stub()


def golden(name):
    return load_file(str(GOLDEN / f"{name}.case.safetensors"))


def matrix(values, data=True):
    values = np.ascontiguousarray(values, dtype="<f4")
    if data:
        return pb.Matrix(rows=values.shape[0], cols=values.shape[1], data=values.tobytes())
    return pb.Matrix(rows=values.shape[0], cols=values.shape[1], values=values.ravel().tolist())


def array(answer):
    flat = np.frombuffer(answer.data, "<f4") if answer.data else np.array(answer.values, "<f4")
    return flat.reshape(answer.rows, answer.cols)


def relative_error(out, expected):
    return np.linalg.norm(np.asarray(out, np.float64) - expected) / np.linalg.norm(expected)
