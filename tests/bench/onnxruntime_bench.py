#!/usr/bin/env python3
"""ONNX Runtime on the reference shape, paired with cpu_engine_bench: one line a batch size, median of the pairs.

    onnxruntime_bench.py build/release/tests/bench/cpu_engine_bench

Same inputs and outputs (x, y, eps in; mu, logvar, x_hat out), the same number of threads. The call's own overhead, measured
with a graph of the same inputs and outputs that computes nothing, is taken off.
"""

import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper
from safetensors.numpy import load_file

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAIRS = 7


def value(name, width):
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, ["B", width])


def session(nodes, initializers, threads):
    graph = helper.make_graph(nodes, "cvae", [value("x", 256), value("y", 10), value("eps", 32)],
                              [value("mu", 32), value("logvar", 32), value("x_hat", 256)], initializers)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.checker.check_model(model)
    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    return ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def forward(threads):
    weights = load_file(ROOT / "tests/golden/seed.model.safetensors")
    initializers = [numpy_helper.from_array(array, name) for name, array in weights.items()]
    initializers.append(numpy_helper.from_array(np.float32(0.5), "half"))

    def linear(layer, inputs, output):
        return helper.make_node("Gemm", [inputs, f"{layer}.weight", f"{layer}.bias"], [output], transB=1)

    return session([
        helper.make_node("Concat", ["x", "y"], ["xy"], axis=1), linear("enc.0", "xy", "a"), helper.make_node("Relu", ["a"], ["h"]),
        linear("enc_mu", "h", "mu"), linear("enc_logvar", "h", "logvar"),
        helper.make_node("Mul", ["logvar", "half"], ["b"]), helper.make_node("Exp", ["b"], ["std"]),
        helper.make_node("Mul", ["std", "eps"], ["c"]), helper.make_node("Add", ["mu", "c"], ["z"]),
        helper.make_node("Concat", ["z", "y"], ["zy"], axis=1), linear("dec.0", "zy", "d"), helper.make_node("Relu", ["d"], ["e"]),
        linear("dec.2", "e", "x_hat"),
    ], initializers, threads)


def nothing(threads):
    return session([helper.make_node("Identity", ["eps"], ["mu"]), helper.make_node("Identity", ["eps"], ["logvar"]),
                    helper.make_node("Identity", ["x"], ["x_hat"])], [], threads)


def microseconds(run, inputs, seconds=0.25):
    for _ in range(50):
        run(None, inputs)
    times, end = [], time.perf_counter() + seconds
    while time.perf_counter() < end:
        start = time.perf_counter()
        run(None, inputs)
        times.append((time.perf_counter() - start) * 1e6)
    return statistics.median(times)


def engine_microseconds(binary, rows):
    out = subprocess.run([binary, f"--benchmark_filter=^Engine/forward/{rows}/", "--benchmark_min_time=0.25",
                          "--benchmark_format=json"], capture_output=True, check=True).stdout
    return json.loads(out)["benchmarks"][0]["real_time"]


def main():
    binary, threads = sys.argv[1], len(os.sched_getaffinity(0))
    model, empty = forward(threads), nothing(threads)
    case = load_file(ROOT / "tests/golden/seed.case.safetensors")
    x_hat = model.run(["x_hat"], {name: case[name] for name in ("x", "y", "eps")})[0]
    assert np.linalg.norm(x_hat - case["x_hat"]) / np.linalg.norm(case["x_hat"]) < 2e-6
    rng = np.random.default_rng(0)
    print(f"onnxruntime {ort.__version__}, {threads} threads, median of {PAIRS} pairs, us")
    for rows in (1, 64, 1024):
        inputs = {"x": rng.standard_normal((rows, 256), np.float32), "eps": rng.standard_normal((rows, 32), np.float32),
                  "y": np.eye(10, dtype=np.float32)[rng.integers(0, 10, rows)]}
        pairs = []
        for _ in range(PAIRS):
            own = engine_microseconds(binary, rows)
            pairs.append((own, microseconds(model.run, inputs) - microseconds(empty.run, inputs)))
        ratio = statistics.median(theirs / own for own, theirs in pairs)
        own, theirs = (statistics.median(column) for column in zip(*pairs))
        print(f"B={rows} engine={own:.1f} onnxruntime={theirs:.1f} ratio={ratio:.2f}", flush=True)


if __name__ == "__main__":
    main()
