"""The heads from the two values that z is drawn from: z = mu + sigma * eps."""

from typing import Any, Dict, Optional, Tuple

import numpy as np

from .graph import Node, Value
from .refusal import Refusal


def logvar_of(sigma: Value) -> Tuple[Value, Dict[str, Any]]:
    """The log variance as the value it is before a clamp, and the description's keys for the rest."""
    node = sigma.used()[0]
    keys: Dict[str, Any] = {}
    factor = 2.0
    if node.kind == "sqrt" and sigma.plain(node):
        sigma, factor = node.inputs[0], 1.0
        node = sigma.used()[0]
        if node.kind == "exp" and np.all(sigma.scale == 1) and np.ptp(sigma.shift) == 0 and sigma.shift[0]:
            keys["variance_eps"] = float(sigma.shift[0])
            sigma = sigma.affine(1.0, -sigma.shift)
    if node.kind != "exp" or not sigma.plain(node):
        raise Refusal(f"{node.where}: sigma is not exp of a layer's columns, scaled and clamped at the most")
    log = node.inputs[0].affine(factor, 0.0)
    node = log.used()[0]
    if node.kind == "clamp":
        scale, shift = set(log.scale.tolist()), set(log.shift.tolist())
        if len(scale) > 1 or len(shift) > 1:
            raise Refusal(f"{node.where}: a clamp whose columns are scaled differently")
        low, high = node.attributes["what"]
        bounds = [-3.0e38 if low is None else low * log.scale[0] + log.shift[0], 3.0e38 if high is None else high * log.scale[0] + log.shift[0]]
        keys["logvar_clamp"] = bounds
        log = node.inputs[0][log.column].affine(log.scale[0], log.shift[0])
    return log, keys


def linear_of(value: Value, name: str) -> Tuple[np.ndarray, np.ndarray, Value]:
    """weight, bias and what they take, of a head."""
    used = value.used()
    if len(used) != 1 or used[0].kind != "linear":
        raise Refusal(f"{used[0].where or used[0].kind}: {name} is not what a linear gives")
    node: Node = used[0]
    weight = node.attributes["weight"][value.column] * value.scale[:, None]
    return weight, node.attributes["bias"][value.column] * value.scale + value.shift, node.inputs[0]


def split_output(x_hat: Value) -> Tuple[Value, Optional[Tuple[np.ndarray, np.ndarray]]]:
    """x_hat before its scale and shift, and these, where an activation stands between them and the last linear."""
    node = x_hat.used()[0]
    whole = x_hat.used() == [node] and np.array_equal(x_hat.column, np.arange(node.width))
    if not whole or node.kind != "activation" or x_hat.plain(node):
        return x_hat, None
    return Value.of(node), (x_hat.scale, x_hat.shift)
