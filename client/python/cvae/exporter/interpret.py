"""A description in float64 over numpy: what the server computes."""

import math
from typing import Any, List, Mapping, Tuple

import numpy as np

Array = np.ndarray
_erf = np.vectorize(math.erf, otypes=[np.float64])


def layers(operations: List[Any], tensors: Mapping[str, Array], v: Array) -> Array:
    """A layer list over rows."""
    for operation in operations:
        v = _apply(operation, tensors, v)
    return v


def _apply(operation: Any, tensors: Mapping[str, Array], v: Array) -> Array:
    if isinstance(operation, str):
        return _activation(operation, 0.0, v)
    if "residual" in operation:
        return v + layers(operation["residual"], tensors, v)
    for kind in ("linear", "layer_norm"):
        if kind in operation:
            weight, bias = (np.float64(tensors[f"{operation[kind]}.{part}"]) for part in ("weight", "bias"))
            if kind == "linear":
                return v @ weight.T + bias
            d = v - v.mean(1, keepdims=True)
            return d / np.sqrt((d**2).mean(1, keepdims=True) + operation["eps"]) * weight + bias
    (kind, a), = operation.items()
    return _activation(kind, a, v)


def _activation(kind: str, a: float, v: Array) -> Array:
    sigmoid = lambda v: 0.5 * (1 + np.tanh(0.5 * v))
    return {
        "identity": lambda: v, "relu": lambda: np.maximum(v, 0), "tanh": lambda: np.tanh(v), "sigmoid": lambda: sigmoid(v),
        "silu": lambda: v * sigmoid(v), "softplus": lambda: np.logaddexp(0, v), "gelu": lambda: 0.5 * v * (1 + _erf(v * math.sqrt(0.5))),
        "gelu_tanh": lambda: 0.5 * v * (1 + np.tanh(math.sqrt(2 / math.pi) * (v + 0.044715 * v**3))),
        "leaky_relu": lambda: np.where(v > 0, v, a * v), "elu": lambda: np.where(v > 0, v, a * np.expm1(np.minimum(v, 0))),
    }[kind]()


def forward(description: Mapping[str, Any], tensors: Mapping[str, Array], x: Array, y: Array, eps: Array) -> Tuple[Array, Array, Array]:
    """mu, logvar and x_hat of rows."""
    h = layers(description["encoder"], tensors, np.concatenate([np.float64(x), y], 1))
    heads = description["heads"]
    mu, logvar = (_apply({"linear": heads[name]}, tensors, h) for name in ("mu", "logvar"))
    logvar = np.clip(logvar, *heads["logvar_clamp"]) if "logvar_clamp" in heads else logvar
    z = mu + np.sqrt(np.exp(logvar) + heads.get("variance_eps", 0.0)) * eps
    return mu, logvar, decode(description, tensors, z, y)


def decode(description: Mapping[str, Any], tensors: Mapping[str, Array], z: Array, y: Array) -> Array:
    """x_hat of rows."""
    x_hat = layers(description["decoder"], tensors, np.concatenate([np.float64(z), y], 1))
    if "output" in description:
        x_hat = x_hat * tensors["output.scale"] + tensors["output.shift"]
    return x_hat
