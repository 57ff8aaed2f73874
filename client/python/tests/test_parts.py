"""A model of several condition parts, whose output is not as wide as its input."""

import json

import numpy as np
import pytest
from conftest import serving
from safetensors.numpy import save_file

from cvae import errors
from test_client import bits

B, D, H, Z, O = 20, 6, 8, 3, 4
COLOURS = ["red", "green", "blue"]
PARTS = [{"name": "colour", "classes": 3, "class_names": COLOURS}, {"name": "tilt", "width": 2}, {"name": "size", "classes": 4}]
L = 3 + 2 + 4
rng = np.random.default_rng(7)


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    shapes = {"enc.0": (H, D + L), "enc_mu": (Z, H), "enc_logvar": (Z, H), "dec.0": (H, Z + L), "dec.2": (O, H)}
    tensors = {}
    for name, (rows, columns) in shapes.items():
        tensors[name + ".weight"] = rng.normal(0, 0.4, (rows, columns)).astype(np.float32)
        tensors[name + ".bias"] = rng.normal(0, 0.4, rows).astype(np.float32)
    description = {
        "format": 1, "input": {"width": D}, "condition": PARTS, "encoder": [{"linear": "enc.0"}, "relu"],
        "heads": {"mu": "enc_mu", "logvar": "enc_logvar"}, "decoder": [{"linear": "dec.0"}, "relu", {"linear": "dec.2"}]}
    path = tmp_path_factory.mktemp("model") / "parts.safetensors"
    save_file(tensors, path, {"cvae": json.dumps(description)})
    with serving(path) as address:
        yield address


@pytest.fixture(scope="module")
def client(kind, address):
    with kind(address) as client:
        yield client


def a_condition():
    """The same one three ways: ids, names and columns."""
    colours, sizes = rng.integers(0, 3, B), rng.integers(0, 4, B)
    tilt = rng.normal(size=(B, 2)).astype(np.float32)
    ids = {"colour": colours, "tilt": tilt, "size": sizes}
    columns = np.hstack([np.eye(3)[colours], tilt, np.eye(4)[sizes]])
    return ids, {**ids, "colour": [COLOURS[i] for i in colours]}, columns


X = rng.normal(size=(B, D)).astype(np.float32)
TARGET = rng.normal(size=(B, O)).astype(np.float32)
HERE, THERE = a_condition(), a_condition()


@pytest.mark.parametrize("chunk_rows", [None, 7])
def test_ids_names_and_columns_have_the_same_bits(client, chunk_rows):
    ids, names, columns = HERE
    for method, rows, more in (
        ("encode", [X], {}),
        ("loss", [X], dict(seed=3, samples=2, target=TARGET, per_row=True, per_column=True, per_latent=True)),
        ("decode", [X[:, :Z]], {}),
        ("generate", [], dict(seed=4, samples=3, return_z=True, temperature=0.5)),
    ):
        expected = bits(getattr(client, method)(*rows, y=columns, **more))
        for parts in (ids, names):
            assert bits(getattr(client, method)(*rows, parts=parts, chunk_rows=chunk_rows, **more)) == expected


@pytest.mark.parametrize("chunk_rows", [None, 7])
def test_a_counterfactual_is_a_decode_under_the_other_condition(client, chunk_rows):
    decoded = client.decode(client.encode(X, parts=HERE[0]).mu, parts=THERE[0]).x_hat
    for decode in ({"decode_parts": THERE[0]}, {"decode_parts": THERE[1]}, {"decode_y": THERE[2]}):
        got = client.reconstruct(X, parts=HERE[1], mean=True, chunk_rows=chunk_rows, **decode)
        assert got.x_hat.tobytes() == decoded.tobytes()


def test_the_terms_are_against_the_target(client):
    got = client.reconstruct(X, parts=HERE[0], mean=True, return_loss=True, per_column=True, target=TARGET)
    np.testing.assert_allclose(got.column_recon, (got.x_hat - TARGET) ** 2, rtol=1e-5)
    with pytest.raises(errors.InvalidArgumentError, match="target"):
        client.loss(X, parts=HERE[0], mean=True)


def test_info_names_the_parts(client):
    parts = client.info().condition
    assert [part.name for part in parts] == ["colour", "tilt", "size"] and list(parts[0].class_names) == COLOURS


@pytest.mark.parametrize(
    "change, words",
    [({"colour": None}, "colour"), ({"colour": ["red", "mauve"] * (B // 2)}, "blue"), ({"hue": [1] * B}, "hue"), ({"size": [4] * B}, "size")],
    ids=["missing", "no such name", "no such part", "no such id"])
def test_what_is_wrong_with_parts_is_named(client, change, words):
    parts = {name: values for name, values in {**HERE[0], **change}.items() if values is not None}
    with pytest.raises(errors.InvalidArgumentError, match=words):
        client.encode(X, parts=parts)
    with pytest.raises(ValueError, match="parts"):
        client.encode(X, labels=["red"] * B)
