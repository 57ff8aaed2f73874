"""The client against a real server."""

import dataclasses
import json
import os
import subprocess

import numpy as np
import pytest

import cvae
from cvae import errors

NAMES = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
KWARGS = {
    "encode": {},
    "reconstruct": dict(seed=5, return_z=True, return_loss=True, per_latent=True, decode_labels=3),
    "loss": dict(seed=6, samples=3, per_row=True, per_column=True, first_row=2**40),
    "decode": {},
    "generate": dict(seed=7, samples=2, return_z=True, temperature=0.5),
}


def bits(result):
    fields = dataclasses.asdict(result).items()
    return {name: value.tobytes() if isinstance(value, np.ndarray) else value for name, value in fields}


def call(client, method, x, labels, **more):
    rows = {"generate": [], "decode": [x[:, : client.info().latent_dim]]}.get(method, [x])
    more = {**KWARGS[method], **more}
    if "decode_labels" in more:
        more["decode_labels"] = [more["decode_labels"]] * len(x)
    return getattr(client, method)(*rows, labels=labels, **more)


@pytest.mark.parametrize("method", KWARGS)
@pytest.mark.parametrize("rows", [1, 7, 64])
def test_chunks_have_the_bits_of_one_call(client, x, labels, method, rows):
    whole = bits(call(client, method, x, labels, chunk_rows=1000))
    assert bits(call(client, method, x, labels, chunk_rows=rows)) == whole


@pytest.mark.parametrize("method", KWARGS)
def test_names_parts_and_columns_are_labels(client, x, labels, method):
    part = client.info().condition[0].name
    expected = bits(call(client, method, x, labels))
    assert bits(call(client, method, x, [NAMES[label] for label in labels])) == expected
    assert bits(call(client, method, x, None, parts={part: labels})) == expected
    assert bits(call(client, method, x, None, y=np.eye(10)[labels])) == expected


def test_a_seed_for_all_chunks_is_drawn_and_answered(client, labels):
    drawn = client.generate(labels=labels, chunk_rows=9)
    assert bits(client.generate(labels=labels, seed=drawn.seed)) == bits(drawn)


def test_a_counterfactual_by_any_of_the_three(client, x, labels):
    part, three = client.info().condition[0].name, [3] * 100
    expected = bits(client.reconstruct(x, labels=labels, mean=True, decode_labels=three))
    assert expected != bits(client.reconstruct(x, labels=labels, mean=True))
    for decode in ({"decode_y": np.eye(10)[three]}, {"decode_parts": {part: ["three"] * 100}}, {"decode_labels": ["three"] * 100}):
        assert bits(client.reconstruct(x, labels=labels, mean=True, chunk_rows=33, **decode)) == expected


def test_elements_and_targets(client, x, labels):
    target = np.random.default_rng(4).random((100, 256), np.float32)
    asked = dict(labels=labels, seed=3, target=target, per_row=True, per_column=True, per_latent=True)
    got = client.loss(x, samples=2, **asked)
    assert got.column_recon.shape == (100, 256) and got.latent_kl.shape == (100, client.info().latent_dim)
    np.testing.assert_allclose(got.column_recon.sum(1), got.row_recon, rtol=1e-5)
    np.testing.assert_allclose(got.latent_kl.sum(1), got.row_kl, rtol=1e-5)
    assert bits(client.loss(x, samples=2, chunk_rows=7, **asked)) == bits(got)
    once = client.reconstruct(x, return_loss=True, **asked)
    np.testing.assert_allclose((once.x_hat - target) ** 2, once.column_recon, rtol=1e-5)
    assert got.loss != client.loss(x, labels=labels, seed=3, samples=2).loss  # against x itself


def test_temperature(client):
    hot, cold = (client.generate(labels=["one"], seed=1, return_z=True, temperature=t) for t in (1, 0.5))
    assert np.array_equal(hot.z * np.float32(0.5), cold.z)


def test_chunks_by_the_servers_limits(client, labels):
    big = np.random.default_rng(2).random((5000, 256), np.float32)  # over 2 MiB
    label = [1] * 5000
    whole = client.loss(big, labels=label, seed=1, chunk_rows=10000)
    assert bits(client.loss(big, labels=label, seed=1)) == bits(whole)


def test_loss_is_the_commands(client, address, tmp_path, x, labels):
    np.save(tmp_path / "x.npy", x)
    words = ["loss", f"--in={tmp_path}/x.npy", "--model=digits", "--seed=9", "--json", f"--server={address}",
             "--labels=" + ",".join(map(str, labels))]
    said = json.loads(subprocess.check_output([os.environ["CVAE_CLIENT_BINARY"], *words], timeout=60))
    got = client.loss(x, labels=labels, seed=9)
    assert (said["loss"], said["recon_loss"], said["kl_loss"]) == (got.loss, got.recon_loss, got.kl_loss)


def test_noise(client, x, labels):
    z = client.info().latent_dim
    zeros = client.reconstruct(x, labels=labels, eps=np.zeros((100, z)))
    assert np.array_equal(zeros.x_hat, client.reconstruct(x, labels=labels, mean=True).x_hat)
    eps = np.random.default_rng(3).standard_normal((300, z))
    whole = client.loss(x, labels=labels, eps=eps, samples=3)
    assert bits(client.loss(x, labels=labels, eps=eps, samples=3, chunk_rows=7)) == bits(whole)
    with pytest.raises(ValueError, match="more than one"):
        client.generate(labels=1, seed=1, mean=True)


def test_errors(client, kind, x):
    with pytest.raises(errors.InvalidArgumentError, match="255") as wrong:
        client.encode(x[:, :255], labels=[1] * 100)
    assert wrong.value.violations[0].field == "x.cols"
    with pytest.raises(errors.InvalidArgumentError, match="rows 7 to 13"):
        client.encode(x, labels=[1] * 8 + [10] * 92, chunk_rows=7)
    with pytest.raises(errors.NotFoundError):
        client.info(model="none")
    with pytest.raises(ValueError, match="labels: got 3 rows"):
        client.encode(x, labels=[1, 2, 3])
    with kind("127.0.0.1:1", timeout=5) as nobody, pytest.raises(errors.UnavailableError):
        nobody.info()


def test_non_finite(client, x, labels):
    x[3, 5] = np.nan
    with pytest.raises(errors.InvalidArgumentError):
        client.encode(x, labels=labels)
    nan = np.isnan(client.encode(x, labels=labels, propagate_non_finite=True).mu).any(axis=1)
    assert nan[3] and nan.sum() == 1


def test_models(client):
    assert [model.name for model in client.models()] == ["digits", "seed"]
    assert client.info(model="seed").input_dim == 256


def test_beside_googleapis(client, x):
    """A process that has google.rpc's own messages reads the same details with them."""
    from google.rpc import error_details_pb2
    from grpc_status import rpc_status

    with pytest.raises(errors.InvalidArgumentError) as wrong:
        client.encode(x[:, :255], labels=[1] * 100)
    (detail,) = rpc_status.from_call(wrong.value.__cause__).details
    bad = error_details_pb2.BadRequest()
    assert detail.Unpack(bad) and bad.field_violations[0].field == wrong.value.violations[0].field
