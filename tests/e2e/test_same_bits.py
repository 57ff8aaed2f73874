"""A row's answer depends on nothing but the row: not on load, neighbours, chunks or a restart."""

import concurrent.futures
import hashlib

import numpy as np
import pytest
from conftest import DIGITS, Server, array, golden, matrix, pb


def every_operation(rng, rows):
    """One request of each operation on the seed model."""
    x, labels = matrix(rng.random((rows, 256))), rng.integers(0, 10, rows).tolist()
    z = matrix(rng.standard_normal((rows, 32)))
    return [
        ("Encode", pb.EncodeRequest(model="seed", x=x, labels=labels)),
        ("Reconstruct", pb.ReconstructRequest(model="seed", x=x, labels=labels, seed=5, return_z=True, return_loss=True)),
        ("Loss", pb.LossRequest(model="seed", x=x, labels=labels, seed=6, num_samples=3, per_row=True, per_latent=True)),
        ("Decode", pb.DecodeRequest(model="seed", z=z, labels=labels)),
        ("Generate", pb.GenerateRequest(model="seed", labels=labels, seed=8, samples_per_row=2)),
    ]


def call(stub, operation):
    return getattr(stub, operation[0])(operation[1]).SerializeToString(deterministic=True)


def test_alone_and_among_64_others(server):
    asked = every_operation(np.random.default_rng(0), 9)
    alone = [call(server.stub(), operation) for operation in asked]

    def flood(worker):
        rng, stub = np.random.default_rng(worker), server.stub()
        for _ in range(6):
            for operation in every_operation(rng, int(rng.integers(1, 80))):
                call(stub, operation)

    def repeat():
        stub = server.stub()
        return [[call(stub, operation) for operation in asked] for _ in range(20)]

    with concurrent.futures.ThreadPoolExecutor(65) as pool:
        others = [pool.submit(flood, worker) for worker in range(64)]
        answers = pool.submit(repeat).result()
        for other in others:
            other.result()
    assert all(answer == alone for answer in answers)


def test_after_a_restart_and_with_other_lanes_and_threads():
    digests = set()
    flags = ([], ["--threads=1", "--lanes=1", "--max_batch_rows=5"], ["--threads=3", "--lanes=4", "--queues=1"])
    for extra in flags:
        server = Server(f"--model=seed={DIGITS}/digits.safetensors", *extra)
        stub = server.stub()
        answers = [call(stub, operation) for operation in every_operation(np.random.default_rng(3), 33)]
        digests.add(hashlib.sha256(b"".join(answers)).hexdigest())
        assert server.stop() == 0
    assert len(digests) == 1


@pytest.mark.parametrize("rows", [1, 7])
def test_chunks_are_one_set(stub, rows):
    x = np.random.default_rng(4).random((1000, 256)).astype(np.float32)
    labels = [i % 10 for i in range(1000)]
    whole = stub.Reconstruct(pb.ReconstructRequest(model="seed", x=matrix(x), labels=labels, seed=11, first_row=2**40))
    scored = stub.Loss(pb.LossRequest(model="seed", x=matrix(x), labels=labels, seed=11, first_row=2**40, per_row=True))
    x_hat, recon, kl = [], [], []
    for first in range(0, 1000, rows):
        asked = {"model": "seed", "x": matrix(x[first:first + rows]), "labels": labels[first:first + rows], "seed": 11,
                 "first_row": 2**40 + first}
        x_hat.append(array(stub.Reconstruct(pb.ReconstructRequest(**asked)).x_hat))
        part = stub.Loss(pb.LossRequest(per_row=True, **asked))
        recon += part.row_recon
        kl += part.row_kl
    assert np.concatenate(x_hat).tobytes() == array(whole.x_hat).tobytes()
    assert recon == list(scored.row_recon) and kl == list(scored.row_kl)
    assert scored.recon_loss == sum(recon) / 1000  # floats, as doubles, ascending


def test_a_request_larger_than_a_batch(stub):
    x = np.random.default_rng(5).random((9001, 256)).astype(np.float32)
    labels = [i % 10 for i in range(9001)]
    whole = array(stub.Reconstruct(pb.ReconstructRequest(model="seed", x=matrix(x), labels=labels, seed=12)).x_hat)
    for row in (0, 4095, 4096, 9000):
        one = stub.Reconstruct(pb.ReconstructRequest(model="seed", x=matrix(x[row:row + 1]), labels=labels[row:row + 1],
                                                     seed=12, first_row=row))
        assert array(one.x_hat).tobytes() == whole[row].tobytes()


def test_the_version_freezes_the_bits(stub):
    """Raise kNumericsRevision, and this hash with it, when bits are meant to change."""
    case = golden("seed")
    answer = stub.Reconstruct(pb.ReconstructRequest(model="seed", x=matrix(case["x"]), y=matrix(case["y"]), seed=1))
    assert answer.version == "9d6ee6362c46-fp32.n1"
    assert (hashlib.sha256(answer.x_hat.data).hexdigest() ==
            "60ae2d83caf1c3b2407fe5fb77cb8d37f84b55126c56b2553f430cefb1f49949")
