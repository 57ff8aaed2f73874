"""cvae.export: a module traced, folded, compared with itself, written."""

import copy
import json
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence

import numpy as np
import torch

from . import safetensors
from .graph import Node, Value
from .heads import linear_of, logvar_of, split_output
from .interpret import decode, forward
from .lower import Lowering, Operation
from .noise import answered, sampling
from .refusal import Refusal
from .trace import ROWS, Traced, draw_noise, run, traced

TOLERANCE = 1e-6  # relative norm: the folded float32 weights against the module, both computed in float64
PROBE_ROWS = 16
_NO_LAYERS = (torch.nn.modules.conv._ConvNd, torch.nn.RNNBase, torch.nn.RNNCellBase, torch.nn.MultiheadAttention)


def export(
    module: torch.nn.Module,
    path: str,
    *,
    data: int,
    condition: Sequence[Mapping[str, Any]] = (),
    arguments: Optional[Sequence[str]] = None,
    spread: Optional[str] = None,
    latent: Optional[int] = None,
    name: Optional[str] = None,
    loss: Optional[Mapping[str, Any]] = None,
    noise: str = "sample",
    report: Callable[[str], Any] = lambda line: None,
) -> Dict[str, Any]:
    """Writes `module` as a model file. Returns the description.

    data: D, the columns of x.
    condition: the description's parts, in the order of [x, y]; {"ids": True} beside "classes": the module takes class ids.
    arguments: what forward takes, in order: "x" (or "z") and names of parts. Default: x, then the parts.
    spread: None: forward is traced, and what it returns (first, of several) is x_hat. "logvar" or "log_std": encode and
        decode are, and encode returns mu and this.
    latent: Z, of a decoder alone, whose forward takes z in place of x.
    loss: the description's; default squared_error with weights 1 and 1, means. noise: "sample" or "mean".
    report: takes the lines of a table of what was found and measured.
    Raises Refusal, and writes nothing, where the format cannot say what the module computes.
    """
    for where, child in module.named_modules():
        if isinstance(child, _NO_LAYERS):
            raise Refusal(f"{where} ({type(child).__name__}): convolutions, recurrent layers and attention are no layers of the format")
    module = copy.deepcopy(module).double()
    if spread:
        module = _ByParts(module, spread)
    first = Node("reparameterized" if latent else "input", latent or data, where="z" if latent else "x")
    nodes = [first] + [Node("input", _width(part), where=part["name"]) for part in condition]
    order = _order(arguments, condition)
    x_hat, output = split_output(_trace(module, nodes, condition, order))
    tensors: Dict[str, np.ndarray] = {}
    description: Dict[str, Any] = {"format": 1, "input": {"width": data}}
    if name:
        description["name"] = name
    description["condition"] = [{key: value for key, value in part.items() if key != "ids"} for part in condition]
    z = first
    if not latent:
        z = _find_z(x_hat)
        _describe_encoder(z, nodes, description, tensors)
    description["decoder"] = _name(Lowering([z] + nodes[1:]).list(x_hat), "decoder", tensors)
    if output:
        description["output"] = {"scale": "output.scale", "shift": "output.shift"}
        tensors["output.scale"], tensors["output.shift"] = output
    description.update({"loss": dict(loss or {}), "noise": noise, "probe": {}})
    tensors = {key: np.float32(value) for key, value in tensors.items()}
    tensors.update(_probe(module, description, tensors, condition, order, first.width, z.width, report))
    safetensors.write(path, tensors, {"cvae": json.dumps(description)})
    report(f"{path}: written")
    return description


class _ByParts(torch.nn.Module):
    """encode, the reparameterization, decode."""

    def __init__(self, inner: torch.nn.Module, spread: str) -> None:
        super().__init__()
        self.inner, self.factor = inner, {"logvar": 0.5, "log_std": 1.0}[spread]

    def forward(self, x: Any, *y: Any) -> Any:
        mu, spread = self.inner.encode(x, *y)[:2]
        return self.inner.decode(mu + torch.exp(self.factor * spread) * torch.randn_like(mu), *y)


def _width(part: Mapping[str, Any]) -> int:
    return int(part["classes"] if "classes" in part else part["width"])


def _order(arguments: Optional[Sequence[str]], condition: Sequence[Mapping[str, Any]]) -> List[int]:
    """Places in [x, parts...], in the order that forward takes them."""
    names = [str(part["name"]) for part in condition]
    places = [0 if each in ("x", "z") and each not in names else 1 + names.index(each) for each in arguments or ["x"] + names]
    if sorted(places) != list(range(1 + len(names))):
        raise ValueError(f"arguments: got {arguments}, expected x and each of {names} once")
    return places


def _describe_encoder(z: Node, nodes: List[Node], description: Dict[str, Any], tensors: Dict[str, np.ndarray]) -> None:
    mu, sigma = z.inputs
    logvar, keys = logvar_of(sigma)
    mu_weight, mu_bias, h = linear_of(mu, "mu")
    logvar_weight, logvar_bias, other = linear_of(logvar, "logvar")
    if other is not h and other.used() != h.used():
        raise Refusal("heads: mu and logvar are linears of different layers")
    # Both through the same list: their columns of h may differ in order and scale.
    encoder = Lowering(nodes).linear(np.concatenate([mu_weight, logvar_weight]), np.concatenate([mu_bias, logvar_bias]), h)
    _, (weight, bias) = encoder.pop()
    latent = len(mu_weight)
    if other is not h:
        again = Lowering(nodes).linear(logvar_weight, logvar_bias, other)
        weight, bias = np.concatenate([weight[:latent], again[-1][1][0]]), np.concatenate([bias[:latent], again[-1][1][1]])
    description["encoder"] = _name(encoder, "encoder", tensors)
    description["heads"] = {"mu": "mu", "logvar": "logvar", **keys}
    tensors.update({"mu.weight": weight[:latent], "mu.bias": bias[:latent], "logvar.weight": weight[latent:], "logvar.bias": bias[latent:]})


def _trace(module: torch.nn.Module, nodes: List[Node], condition: Sequence[Mapping[str, Any]], order: Sequence[int]) -> Value:
    inputs = []
    for i, node in enumerate(nodes):
        if i and condition[i - 1].get("ids"):
            inputs.append(traced(torch.zeros(ROWS, dtype=torch.int64), None, node))
        else:
            inputs.append(traced(torch.zeros(ROWS, node.width, dtype=torch.float64), Value.of(node)))
    with sampling(module), answered(draw_noise):
        out = run(module, module, tuple(inputs[i] for i in order))
    first = out[0] if isinstance(out, (tuple, list)) else out
    if not isinstance(first, Traced) or first.value is None:
        raise Refusal(f"forward: returns a {type(first).__name__} first, expected x_hat")
    return first.value


def _find_z(x_hat: Value) -> Node:
    seen: Dict[int, Node] = {}
    todo, found = list(x_hat.used()), []
    while todo:
        node = todo.pop()
        if id(node) in seen:
            continue
        seen[id(node)] = node
        if node.kind == "reparameterized":
            found.append(node)
        else:
            todo += [each for value in node.inputs for each in value.used()]
    if len(found) == 1:
        return found[0]
    if found:
        raise Refusal(f"forward: {len(found)} latents ({', '.join(node.where for node in found)}), expected one")
    raise Refusal("forward: no mu + sigma * noise on the way to what it returns first; spread= goes by encode and decode")


def _name(operations: List[Operation], prefix: str, tensors: Dict[str, np.ndarray]) -> List[Any]:
    """The description's list, whose tensors are added to `tensors`."""
    out: List[Any] = []
    for i, (kind, what) in enumerate(operations):
        key = f"{prefix}.{i}"
        if kind in ("linear", "layer_norm"):
            tensors[key + ".weight"], tensors[key + ".bias"] = what[:2]
            out.append({kind: key, **({"eps": what[2]} if kind == "layer_norm" else {})})
        elif kind == "residual":
            out.append({"residual": _name(what, key, tensors)})
        else:
            out.append(what)
    return out


def _probe(module: torch.nn.Module, description: Any, tensors: Any, condition: Any, order: Sequence[int], width: int, latent: int, report: Any) -> Dict[str, np.ndarray]:
    """Random rows through the module, with the noise given, and through the description: what both give, if it is one."""
    random = np.random.default_rng(0)
    x, eps = np.float32(random.random((PROBE_ROWS, width))), np.float32(random.standard_normal((PROBE_ROWS, latent)))
    alone = "encoder" not in description
    if alone:
        x = eps
    columns, given = [], [torch.from_numpy(x.astype(np.float64))]
    for part in condition:
        n = _width(part)
        ids = random.integers(0, n, PROBE_ROWS)
        rows = np.eye(n, dtype=np.float32)[ids] if "classes" in part else np.float32(random.standard_normal((PROBE_ROWS, n)))
        columns.append(rows)
        given.append(torch.from_numpy(ids if part.get("ids") else rows.astype(np.float64)))
    y = np.concatenate(columns, 1) if columns else np.zeros((PROBE_ROWS, 0), np.float32)
    if alone:
        probe = {"eps": eps, "x_hat": decode(description, tensors, eps, y)}
    else:
        mu, logvar, x_hat = forward(description, tensors, x, y, eps)
        probe = {"x": x, "eps": eps, "mu": mu, "logvar": logvar, "x_hat": x_hat}
    with sampling(module), answered(lambda shape: torch.from_numpy(eps.astype(np.float64)).reshape(shape)):
        out = module(*(given[i] for i in order))
    expected = (out[0] if isinstance(out, (tuple, list)) else out).numpy().reshape(PROBE_ROWS, -1)
    error = float(np.linalg.norm(probe["x_hat"] - expected) / max(float(np.linalg.norm(expected)), 1e-300))
    for key in ("encoder", "heads", "decoder", "output"):
        report(f"{key:<8} {json.dumps(description.get(key))}")
    report(f"x_hat    within {error:.1e} of the module, relative norm over {PROBE_ROWS} random rows (allowed {TOLERANCE:g})")
    if not error < TOLERANCE:
        raise Refusal(f"x_hat: what was folded differs from the module by {error:.1e} in relative norm, allowed {TOLERANCE:g}")
    if columns:
        probe["condition"] = y
    return {f"cvae.probe.{key}": np.float32(value) for key, value in probe.items()}
