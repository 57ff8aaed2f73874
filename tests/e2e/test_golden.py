"""A Python client made from the .proto, given the golden cases' x, y, eps, gets PyTorch's float64 answers back."""

import numpy as np
import pytest
from conftest import array, golden, matrix, pb, relative_error
from google.protobuf import empty_pb2

TOLERANCE = 2e-6


@pytest.mark.parametrize("name", ["seed", "tiny"])
@pytest.mark.parametrize("data", [True, False])
def test_every_output_is_pytorchs(stub, name, data):
    case = golden(name)
    x, y, eps = (matrix(case[key], data) for key in ("x", "y", "eps"))
    encoded = stub.Encode(pb.EncodeRequest(model=name, x=x, y=y))
    assert relative_error(array(encoded.mu), case["mu"]) <= TOLERANCE
    assert relative_error(array(encoded.logvar), case["logvar"]) <= TOLERANCE
    assert bool(encoded.mu.data) == data

    answer = stub.Reconstruct(pb.ReconstructRequest(model=name, x=x, y=y, eps=eps, return_z=True, return_loss=True, per_row=True))
    assert relative_error(array(answer.x_hat), case["x_hat"]) <= TOLERANCE
    assert relative_error(array(answer.z), case["z"]) <= TOLERANCE
    assert relative_error([answer.loss, answer.recon_loss, answer.kl_loss], case["loss"]) <= TOLERANCE
    assert not answer.HasField("seed")

    loss = stub.Loss(pb.LossRequest(model=name, x=x, y=y, eps=eps, per_row=True, per_column=True, per_latent=True))
    assert relative_error(loss.row_recon, case["recon"]) <= TOLERANCE
    assert relative_error(loss.row_kl, case["kl"]) <= TOLERANCE
    assert relative_error([loss.loss, loss.recon_loss, loss.kl_loss], case["loss"]) <= TOLERANCE
    assert (loss.loss, list(loss.row_recon)) == (answer.loss, list(answer.row_recon))
    assert relative_error(array(loss.column_recon).sum(1, dtype=np.float64), case["recon"]) <= TOLERANCE
    assert relative_error(array(loss.latent_kl).sum(1, dtype=np.float64), case["kl"]) <= TOLERANCE

    decoded = stub.Decode(pb.DecodeRequest(model=name, z=matrix(array(answer.z)), y=y))
    assert array(decoded.x_hat).tobytes() == array(answer.x_hat).tobytes()

    at_mean = stub.Reconstruct(pb.ReconstructRequest(model=name, x=x, y=y, mean=empty_pb2.Empty()))
    assert relative_error(array(at_mean.x_hat), case["x_hat_mean"]) <= TOLERANCE
    zeros = stub.Reconstruct(pb.ReconstructRequest(model=name, x=x, y=y, eps=matrix(np.zeros_like(case["eps"]))))
    assert array(zeros.x_hat).tobytes() == array(at_mean.x_hat).tobytes()


@pytest.mark.parametrize("name", ["seed", "tiny"])
def test_class_ids_equal_the_one_hot_in_bits(stub, name):
    case = golden(name)
    labels = case["labels"].astype(int).tolist()
    common = {"model": name, "x": matrix(case["x"]), "seed": 7}
    by_id = stub.Reconstruct(pb.ReconstructRequest(labels=labels, **common))
    by_part = stub.Reconstruct(pb.ReconstructRequest(parts={"label": pb.Part(ids=labels)}, **common))
    dense = stub.Reconstruct(pb.ReconstructRequest(y=matrix(case["y"]), **common))
    assert by_id.x_hat.data == dense.x_hat.data == by_part.x_hat.data


def test_values_and_data_are_the_same_bits(stub):
    case = golden("seed")
    asked = {"model": "seed", "y": matrix(case["y"]), "seed": 3}
    a = stub.Reconstruct(pb.ReconstructRequest(x=matrix(case["x"], True), encoding=pb.Matrix.VALUES, **asked))
    b = stub.Reconstruct(pb.ReconstructRequest(x=matrix(case["x"], False), encoding=pb.Matrix.DATA, **asked))
    assert a.x_hat.values and b.x_hat.data
    assert array(a.x_hat).tobytes() == array(b.x_hat).tobytes()


def test_samples_are_averaged_as_said(stub):
    case = golden("seed")
    x, y = matrix(case["x"]), matrix(case["y"])
    rows, samples, latents = len(case["x"]), 5, case["eps"].shape[1]
    eps = np.random.default_rng(0).standard_normal((rows * samples, latents)).astype(np.float32)
    many = stub.Loss(pb.LossRequest(model="seed", x=x, y=y, eps=matrix(eps), num_samples=samples, per_row=True, per_column=True))
    each = [stub.Loss(pb.LossRequest(model="seed", x=x, y=y, eps=matrix(eps[s::samples]), per_row=True, per_column=True))
            for s in range(samples)]
    recon = np.zeros(rows)
    columns = np.zeros((rows, case["x"].shape[1]))
    for answer in each:
        recon += np.array(answer.row_recon, np.float32).astype(np.float64)
        columns += array(answer.column_recon).astype(np.float64)
    assert np.array_equal(np.array(many.row_recon, np.float32), (recon / samples).astype(np.float32))
    assert np.array_equal(array(many.column_recon), (columns / samples).astype(np.float32))
    assert list(many.row_kl) == list(each[0].row_kl)


def test_names_and_counterfactuals(stub):
    names = ["seven", "three"]
    x = matrix(np.random.default_rng(1).random((2, 256)))
    named = stub.Reconstruct(pb.ReconstructRequest(model="digits", x=x, parts={"digit": pb.Part(names=names)}))
    ids = stub.Reconstruct(pb.ReconstructRequest(model="digits", x=x, labels=[7, 3]))
    assert named.x_hat == ids.x_hat
    assert not named.HasField("seed")  # the model's default noise is the mean
    other = stub.Reconstruct(pb.ReconstructRequest(model="digits", x=x, labels=[7, 3], return_z=True,
                                                   decode_condition=pb.Condition(labels=[1, 2])))
    decoded = stub.Decode(pb.DecodeRequest(model="digits", z=other.z, labels=[1, 2]))
    assert other.x_hat == decoded.x_hat != ids.x_hat


def test_target_replaces_x_in_the_loss(stub):
    rng = np.random.default_rng(2)
    x, target = rng.random((3, 256)), rng.random((3, 256))
    asked = {"model": "digits", "x": matrix(x), "labels": [1, 2, 3]}
    x_hat = array(stub.Reconstruct(pb.ReconstructRequest(**asked)).x_hat).astype(np.float64)
    loss = stub.Loss(pb.LossRequest(target=matrix(target), per_row=True, **asked))
    assert relative_error(loss.row_recon, ((x_hat - target.astype(np.float32)) ** 2).sum(1)) < 1e-5


def test_generate(stub):
    asked = {"model": "digits", "labels": [7, 1]}
    drawn = stub.Generate(pb.GenerateRequest(seed=42, samples_per_row=3, return_z=True, **asked))
    assert drawn.seed == 42 and (drawn.x_hat.rows, drawn.x_hat.cols) == (6, 256) and (drawn.z.rows, drawn.z.cols) == (6, 32)
    again = stub.Generate(pb.GenerateRequest(eps=drawn.z, samples_per_row=3, encoding=pb.Matrix.VALUES, **asked))
    assert array(again.x_hat).tobytes() == array(drawn.x_hat).tobytes()
    cold = stub.Generate(pb.GenerateRequest(seed=42, samples_per_row=3, temperature=0.5, return_z=True, **asked))
    assert np.array_equal(array(cold.z), array(drawn.z) * np.float32(0.5))
    unseeded = stub.Generate(pb.GenerateRequest(**asked))
    assert unseeded.HasField("seed")
    same = stub.Generate(pb.GenerateRequest(seed=unseeded.seed, **asked))
    assert same.x_hat == unseeded.x_hat


def test_the_models_are_described(stub):
    listed = stub.ListModels(pb.ListModelsRequest())
    assert [model.name for model in listed.models] == ["seed", "tiny", "digits"]
    model = stub.GetModel(pb.GetModelRequest(model="digits"))
    assert (model.input_dim, model.label_dim, model.latent_dim, model.output_dim) == (256, 10, 32, 256)
    assert model.condition[0].class_names[7] == "seven" and model.engine == "cpu" and model.version.endswith("-fp32.n1")
    assert model.limits.rows > 0 and model.limits.rows_in_4_mib == (4 * 1024 * 1024 - 256) // 1024
