"""The cvae command against a real server, as a person types it."""

import json
import subprocess

import numpy as np
from conftest import CLIENT, DIGITS, array, pb
from safetensors.numpy import load_file, save_file

HELD_OUT = str(DIGITS / "test.safetensors")


def cvae(server, *words, code=0):
    done = subprocess.run([CLIENT, *words, f"--server={server.address}"], capture_output=True, text=True, timeout=60)
    assert done.returncode == code, done.stderr
    return done


def test_info(server):
    assert "seven" in cvae(server, "info", "--model=digits").stdout


def test_loss_in_chunks_is_that_of_one_call(server, stub):
    rows = load_file(HELD_OUT)
    whole = stub.Loss(pb.LossRequest(model="digits", x=pb.Matrix(data=rows["x"].tobytes()), labels=rows["labels"].tolist(), seed=9))
    for chunk in ("1", "7", "64"):
        out = cvae(server, "loss", "--model=digits", f"--in={HELD_OUT}", "--seed=9", f"--chunk-rows={chunk}", "--json").stdout
        got = json.loads(out)
        assert (got["loss"], got["recon_loss"], got["kl_loss"]) == (whole.loss, whole.recon_loss, whole.kl_loss)


def test_reconstruct_writes_what_the_server_says(server, stub, tmp_path):
    rows = load_file(HELD_OUT)
    cvae(server, "reconstruct", "--model=digits", f"--in={HELD_OUT}", "--mean", f"--out={tmp_path}/out.safetensors",
         f"--picture={tmp_path}/out.png")
    expected = stub.Reconstruct(pb.ReconstructRequest(model="digits", x=pb.Matrix(data=rows["x"].tobytes()),
                                                      labels=rows["labels"].tolist()))
    assert np.array_equal(load_file(f"{tmp_path}/out.safetensors")["x_hat"], array(expected.x_hat))
    assert (tmp_path / "out.png").read_bytes().startswith(b"\x89PNG")


def test_generate_by_name(server, tmp_path):
    cvae(server, "generate", "--model=digits", "--labels=seven,one", "--seed=4", f"--out={tmp_path}/g.npy")
    assert np.load(tmp_path / "g.npy").shape == (2, 256)


def test_mistakes_end_with_one_line(server, tmp_path):
    assert "cvae: " in cvae(server, "generate", "--model=digits", "--labels=eleven", code=2).stderr
    save_file({"x": np.zeros((2, 255), np.float32)}, f"{tmp_path}/narrow.safetensors")
    narrow = cvae(server, "loss", "--model=digits", f"--in={tmp_path}/narrow.safetensors", "--labels=1,2", code=2)
    assert "255" in narrow.stderr and "256" in narrow.stderr
    unreachable = subprocess.run([CLIENT, "info", "--server=127.0.0.1:1", "--timeout=2"], capture_output=True, text=True)
    assert unreachable.returncode == 1 and unreachable.stderr.startswith("cvae: ")
