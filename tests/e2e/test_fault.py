"""A device fault as callers see it: the real server over an engine that a request can break (faulty_engine.cc)."""

import concurrent.futures
import os
import re

import grpc
import pytest
from conftest import DIGITS, GOLDEN, Server, health_pb2, health_pb2_grpc, pb

FAULTY = os.environ["CVAE_FAULTY_SERVER_BINARY"]
BREAK, HOLD = 666, 667  # seeds: breaks the device; computes until it is broken
FAULT = "the device fell off the bus"
# What a call gets that comes after the fault. CANCELLED is gRPC's own, for what it takes off the wire once it shuts down
# and before the client has its GOAWAY; see ends().
TOO_LATE = {grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED}


def faulty_server(*flags):
    # Ten minutes of drain: a broken server must not keep balancers waiting for it.
    return Server(f"--model={DIGITS}/digits.safetensors", f"--model=tiny={GOLDEN}/tiny.model.safetensors",
                  "--drain_delay_ms=600000", *flags, binary=FAULTY)


def generate(stub, seed, model="digits"):
    return stub.Generate.future(pb.GenerateRequest(model=model, labels=[1], seed=seed), timeout=60)


def ends(server):
    """Waits for the end of a broken server: exit code and last line tell of the fault, the counters of nothing lost."""
    assert server.process.wait(timeout=60) == 1
    server.join()
    assert server.log[-1] == f"cvae-server: {FAULT}\n", server.log
    assert not any("Generate:" in line and "CANCELLED" in line for line in server.log), server.log
    assert any("in flight 0, unread bytes 0" in line for line in server.log), server.log


def test_what_runs_on_any_lane_is_internal_and_the_server_is_not_serving_and_ends():
    server = faulty_server("--lanes=2")
    watch = health_pb2_grpc.HealthStub(server.channel()).Watch(health_pb2.HealthCheckRequest())
    assert next(watch).status == health_pb2.HealthCheckResponse.SERVING
    stub = server.stub()
    assert generate(stub, 1).result().x_hat.rows == 1
    # Together in one batch or on a lane each.
    calls = [generate(stub, HOLD), generate(stub, BREAK)]
    for call in calls:
        assert (call.code(), call.details()) == (grpc.StatusCode.INTERNAL, FAULT)
    assert next(watch).status == health_pb2.HealthCheckResponse.NOT_SERVING
    for model in ("digits", "tiny"):
        assert generate(stub, 1, model).code() in TOO_LATE
    ends(server)


@pytest.mark.parametrize("lanes", [1, 3])
def test_every_call_is_answered_once_rightly_or_with_the_fault(lanes):
    server = faulty_server(f"--lanes={lanes}", "--max_batch_rows=4")
    expected = generate(server.stub(), 1).result()

    def work(worker):
        """Calls until one fails, many at a time; the codes of the last ones."""
        stub = server.stub()
        while True:
            calls = [generate(stub, BREAK if worker == 0 and i == 20 else 1) for i in range(40)]
            for call in calls:
                assert call.code() != grpc.StatusCode.OK or call.result() == expected
            codes = [call.code() for call in calls]
            if set(codes) != {grpc.StatusCode.OK}:
                return codes

    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        codes = [code for last in pool.map(work, range(6)) for code in last]
    assert grpc.StatusCode.INTERNAL in codes
    assert set(codes) <= {grpc.StatusCode.OK, grpc.StatusCode.INTERNAL} | TOO_LATE
    ends(server)

    # What was admitted is what was answered and what failed.
    log = "".join(server.log)
    answered = int(re.search(r"Generate: OK (\d+)", log)[1])
    admitted, cancelled, failed = map(int, re.search(
        r"model digits: admitted (\d+);.* cancelled (\d+), failed (\d+);", log).groups())
    assert (admitted, cancelled) == (answered + failed, 0)
