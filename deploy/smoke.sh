#!/usr/bin/env bash
# smoke.sh [ADDRESS]: does the server at ADDRESS (127.0.0.1:8001), with the bundled model, answer as it should? Asks every
# method with grpcurl, the one on PATH or else .venv's, as a person would, and checks the answers.
set -euo pipefail
repository=$(dirname "$(readlink -f "$0")")/..
grpcurl=$(command -v grpcurl || echo "$repository/.venv/bin/grpcurl")
if [[ ! -x $grpcurl ]]; then
  echo "smoke.sh: no grpcurl on PATH; pip install -r deploy/requirements.txt brings one" >&2
  exit 1
fi
exec python3 - "$grpcurl" "${1:-127.0.0.1:8001}" <<'PYTHON'
import json
import math
import re
import subprocess
import sys

grpcurl, address = sys.argv[1:]
flags = [grpcurl, "-plaintext", "-max-time", "30"]
INVALID_ARGUMENT, NOT_FOUND = 3, 5


def run(*args):
    return subprocess.run([*flags, *args], capture_output=True, text=True)


def must(*args):
    done = run(*args)
    check(" ".join(args)[:60], done.returncode == 0, done.stderr)
    return done.stdout


def proto_names(fields):
    """Newer grpcurls say xHat where older ones say x_hat."""
    return {re.sub("[A-Z]", lambda c: "_" + c[0].lower(), name): value for name, value in fields.items()}


def call(method, **request):
    return json.loads(must("-d", json.dumps(request), address, method), object_hook=proto_names)


def ask(method, **request):
    return call("cvae.v1.CvaeService/" + method, **request)


def refused(code, names, method, **request):
    done = run("-d", json.dumps(request), address, method)
    # grpcurl ends with 64 + the status code.
    check(f"{method} refused, naming {names}", done.returncode == 64 + code and names in done.stderr, done.stderr)


def check(what, good, seen=""):
    if not good:
        sys.exit(f"smoke.sh: FAILED: {what}\n{seen}")


def matrix(answer, field, rows, cols):
    got = answer[field]
    check(f"{field} is {rows} x {cols}", (got["rows"], got["cols"]) == (rows, cols), got.keys())
    check(f"{field} has its values", len(got["values"]) == rows * cols, len(got["values"]))
    check(f"{field} is finite", all(isinstance(v, (int, float)) and math.isfinite(v) for v in got["values"]), got)
    return got


methods = ["Encode", "Reconstruct", "Loss", "Decode", "Generate", "GetModel", "ListModels"]
services = must(address, "list").split()
for service in ["cvae.v1.CvaeService", "grpc.health.v1.Health"]:
    check(f"list names {service}", service in services, services)
description = must(address, "describe", "cvae.v1.CvaeService")
for method in methods:
    check(f"describe names {method}", f"rpc {method} " in description, description)

for service in ["", "cvae.v1.CvaeService"]:
    health = call("grpc.health.v1.Health/Check", service=service)
    check(f"health of '{service}' is SERVING", health == {"status": "SERVING"}, health)
refused(NOT_FOUND, "", "grpc.health.v1.Health/Check", service="none.such")

model = ask("GetModel")
check("dims are the bundled model's",
      [model[d] for d in ("input_dim", "label_dim", "latent_dim", "output_dim")] == [256, 10, 32, 256], model)
models = ask("ListModels")["models"]
check("ListModels lists it", [(m["name"], m["version"]) for m in models] == [(model["name"], model["version"])], models)

seven = ask("Generate", labels=[7], seed="42")
x = matrix(seven, "x_hat", 1, 256)
check("a seed's answer can be had again", ask("Generate", labels=[7], seed="42") == seven)
check("the answer names its seed and version", (seven["seed"], seven["version"]) == ("42", model["version"]), seven)
check("another seed is another digit", ask("Generate", labels=[7], seed="43")["x_hat"] != x)
drawn = ask("Generate", labels=[7])
check("a seed that the server drew gives its answer again", ask("Generate", labels=[7], seed=drawn["seed"]) == drawn)

latent = ask("Encode", x=x, labels=[7])
mu = matrix(latent, "mu", 1, 32)
matrix(latent, "logvar", 1, 32)
one_hot = {"values": [float(label == 7) for label in range(10)]}
check("one-hot y equals labels", ask("Encode", x=x, y=one_hot) == latent)

again = ask("Reconstruct", x=x, labels=[7], mean={}, return_loss=True)
matrix(again, "x_hat", 1, 256)
check("Decode of mu equals Reconstruct at the mean", ask("Decode", z=mu, labels=[7])["x_hat"] == again["x_hat"])

loss = ask("Loss", x=x, labels=[7], mean={}, per_row=True)
terms = [loss[term] for term in ("loss", "recon_loss", "kl_loss")]
check("Loss equals Reconstruct's loss", [again[term] for term in ("loss", "recon_loss", "kl_loss")] == terms, terms)
weights = json.loads(model["description"]).get("loss", {})
weighted = weights.get("recon_weight", 1) * terms[1] + weights.get("kl_weight", 1) * terms[2]
check("the loss is the weighted sum of its terms", terms[0] == weighted > 0, (terms, weights))
check("one row's terms are the means",
      [math.isclose(loss[row][0], mean, rel_tol=1e-6) for row, mean in zip(("row_recon", "row_kl"), terms[1:])] == [True, True],
      loss)

refused(INVALID_ARGUMENT, "x", "cvae.v1.CvaeService/Encode", x={"values": [0.5] * 255}, labels=[7])
refused(INVALID_ARGUMENT, "labels", "cvae.v1.CvaeService/Generate", labels=[10])
refused(NOT_FOUND, "nosuch", "cvae.v1.CvaeService/GetModel", model="nosuch")
check("and it serves on", ask("Generate", labels=[7], seed="42") == seven)
print(f"smoke.sh: {address} answers as it should: {', '.join(methods)}, health, reflection, errors")
PYTHON
