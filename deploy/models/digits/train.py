#!/usr/bin/env python3
"""Trains the bundled model: a CVAE of 8x8 digits scaled to 16x16, and writes it with its held-out rows.

Deterministic: the same versions on the same kind of processor give the same bytes. PyTorch 1.13 or later, scikit-learn.
"""

import argparse
import json
import pathlib
import struct

import numpy as np
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.nn import functional as F

WIDTH, CLASSES, HIDDEN, LATENT = 256, 10, 128, 32
NAMES = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]


class CVAE(nn.Module):
    """[x, y] -> mu, logvar; [z, y] -> x_hat, a pixel each."""

    def __init__(self):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(WIDTH + CLASSES, HIDDEN), nn.ReLU())
        self.enc_mu = nn.Linear(HIDDEN, LATENT)
        self.enc_logvar = nn.Linear(HIDDEN, LATENT)
        self.dec = nn.Sequential(nn.Linear(LATENT + CLASSES, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, WIDTH))

    def encode(self, x, y):
        h = self.enc(torch.cat([x, y], 1))
        return self.enc_mu(h), self.enc_logvar(h)

    def decode(self, z, y):
        return self.dec(torch.cat([z, y], 1))

    def forward(self, x, y, eps):
        mu, logvar = self.encode(x, y)
        return self.decode(mu + torch.exp(logvar / 2) * eps, y), mu, logvar


def one_hot(labels):
    return F.one_hot(labels, CLASSES).to(torch.float32)


def load(held_out):
    """Pixels in [0, 1] and labels: what is trained on, and what is not."""
    digits = load_digits()
    small = torch.tensor(digits.images / 16.0, dtype=torch.float32)[:, None]
    x = F.interpolate(small, size=(16, 16), mode="bicubic", align_corners=False).clamp(0, 1).flatten(1)
    labels = torch.tensor(digits.target, dtype=torch.int64)
    order = torch.tensor(np.random.RandomState(0).permutation(len(labels)))
    train, test = order[held_out:], order[:held_out]
    return x[train], labels[train], x[test], labels[test]


def terms(model, x, y, eps):
    """Mean of the rows' squared error and KL divergence."""
    x_hat, mu, logvar = model(x, y, eps)
    recon = ((x_hat - x) ** 2).sum(1)
    kl = 0.5 * (mu**2 + logvar.exp() - 1 - logvar).sum(1)
    return recon.mean(), kl.mean()


def train(model, x, labels, epochs, recon_weight):
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, epochs)
    for epoch in range(epochs):
        for batch in torch.randperm(len(x)).split(128):
            recon, kl = terms(model, x[batch], one_hot(labels[batch]), torch.randn(len(batch), LATENT))
            optimizer.zero_grad()
            (recon_weight * recon + kl).backward()
            optimizer.step()
        schedule.step()
        if (epoch + 1) % max(1, epochs // 10) == 0:
            print(f"epoch {epoch + 1}/{epochs}: recon {recon.item():.3f}, kl {kl.item():.3f}", flush=True)


def write_safetensors(path, tensors, metadata=None):
    header, data = {}, b""
    if metadata:
        header["__metadata__"] = metadata
    for name, array in sorted(tensors.items(), key=lambda item: (-item[1].itemsize, item[0])):
        dtype = {"float32": "F32", "int64": "I64"}[str(array.dtype)]
        header[name] = {"dtype": dtype, "shape": list(array.shape), "data_offsets": [len(data), len(data) + array.nbytes]}
        data += array.tobytes()
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def probe(model, x, labels):
    """A few rows with what the model makes of them, in float64."""
    exact = CVAE().double()
    exact.load_state_dict(model.state_dict())
    y, eps = one_hot(labels), torch.randn(len(x), LATENT)
    with torch.no_grad():
        x_hat, mu, logvar = exact(x.double(), y.double(), eps.double())
    rows = {"x": x, "condition": y, "eps": eps, "mu": mu, "logvar": logvar, "x_hat": x_hat}
    return {f"cvae.probe.{name}": value.float().numpy() for name, value in rows.items()}


def description(recon_weight):
    return {
        "format": 1,
        "name": "digits",
        "input": {"width": WIDTH},
        "condition": [{"name": "digit", "classes": CLASSES, "class_names": NAMES}],
        "encoder": [{"linear": "enc.0"}, "relu"],
        "heads": {"mu": "enc_mu", "logvar": "enc_logvar"},
        "decoder": [{"linear": "dec.0"}, "relu", {"linear": "dec.2"}],
        "loss": {"element": "squared_error", "recon_weight": recon_weight, "kl_weight": 1, "reduce": "mean"},
        "noise": "mean",
        "probe": {"tolerance": {"fp32": 1e-5, "bf16": 3e-2}},
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path(__file__).parent, help="folder to write to")
    parser.add_argument("--epochs", type=int, default=150)
    parser.add_argument("--held-out", type=int, default=297, help="rows that are not trained on; 64 of them are written")
    parser.add_argument("--recon-weight", type=float, default=2, help="1 / (2 variance) of a pixel, next to the KL's 1")
    options = parser.parse_args()

    torch.use_deterministic_algorithms(True)
    torch.set_num_threads(1)
    torch.manual_seed(0)
    x, labels, test_x, test_labels = load(options.held_out)
    model = CVAE()
    train(model, x, labels, options.epochs, options.recon_weight)

    with torch.no_grad():
        for what, rows in (("all held-out rows", options.held_out), ("the 64 written", 64)):
            recon, kl = terms(model, test_x[:rows], one_hot(test_labels[:rows]), torch.zeros(rows, LATENT))
            loss = options.recon_weight * recon + kl
            print(f"{what}, z = mu: loss {loss:.4f} = {options.recon_weight:g} * recon {recon:.4f} + kl {kl:.4f}")

    tensors = {name: value.numpy() for name, value in model.state_dict().items()}
    tensors.update(probe(model, test_x[:4], test_labels[:4]))
    write_safetensors(options.out / "digits.safetensors", tensors, {"cvae": json.dumps(description(options.recon_weight))})
    write_safetensors(options.out / "test.safetensors", {"x": test_x[:64].numpy(), "labels": test_labels[:64].numpy()})


if __name__ == "__main__":
    main()
