"""A server for all tests, and the rows that they send."""

import asyncio
import contextlib
import os
import pathlib
import re
import subprocess
import threading

import numpy as np
import pytest

import cvae

collect_ignore = ["exporter"]  # which needs PyTorch: CTest's python.exporter
ROOT = pathlib.Path(__file__).resolve().parents[3]
DIGITS = ROOT / "deploy" / "models" / "digits" / "digits.safetensors"


@contextlib.contextmanager
def serving(*models):
    """The address of a server of its own."""
    server = subprocess.Popen(
        [os.environ["CVAE_SERVER_BINARY"], "--listen=127.0.0.1:0", *(f"--model={model}" for model in models)],
        stderr=subprocess.PIPE, text=True)
    log = []
    for line in server.stderr:
        log.append(line)
        found = re.search(r"listening on (127\.0\.0\.1:\d+)", line)
        if found:
            break
    else:
        raise RuntimeError("the server did not start: " + "".join(log))
    threading.Thread(target=server.stderr.read, daemon=True).start()  # read on, or a full pipe would stop it
    yield found[1]
    server.terminate()
    assert server.wait(60) == 0


@pytest.fixture(scope="session")
def address():
    with serving(DIGITS, f"seed={ROOT}/tests/golden/seed.model.safetensors") as address:
        yield address


class Awaited:
    """A cvae.aio.Client whose methods are awaited here, so that one test is of both clients."""

    def __init__(self, *args, **kwargs):
        self.loop = asyncio.new_event_loop()
        self.client = cvae.aio.Client(*args, **kwargs)

    def __getattr__(self, name):
        return lambda *args, **kwargs: self.loop.run_until_complete(getattr(self.client, name)(*args, **kwargs))

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.close()
        self.loop.close()


@pytest.fixture(scope="session", params=[cvae.Client, Awaited], ids=["blocking", "asyncio"])
def kind(request):
    return request.param


@pytest.fixture(scope="session")
def client(kind, address):
    with kind(address, model="digits") as client:
        yield client


@pytest.fixture
def x():
    return np.random.default_rng(1).random((100, 256), np.float32)


@pytest.fixture
def labels():
    return [row % 10 for row in range(100)]
