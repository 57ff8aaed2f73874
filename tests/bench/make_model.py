"""A reference model of any shape with random weights: python3 tests/bench/make_model.py D L H Z model.safetensors"""

import sys

import numpy as np
from safetensors.numpy import save_file

d, l, h, z = map(int, sys.argv[1:5])
rng = np.random.default_rng(1)
shapes = {"enc.0": (h, d + l), "enc_mu": (z, h), "enc_logvar": (z, h), "dec.0": (h, z + l), "dec.2": (d, h)}
tensors = {}
for name, (out, width) in shapes.items():
    bound = width**-0.5
    tensors[f"{name}.weight"] = rng.uniform(-bound, bound, (out, width)).astype(np.float32)
    tensors[f"{name}.bias"] = rng.uniform(-bound, bound, out).astype(np.float32)
save_file(tensors, sys.argv[5])
