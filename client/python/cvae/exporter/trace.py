"""Runs a module on example rows that record what is done to them."""

from typing import Any, Dict, List, Optional, Tuple

import numpy as np
import torch

from .graph import Node, Value, concatenate
from .refusal import Refusal

ROWS = 3  # of the examples; no width that a module squeezes away or broadcasts
_PLAIN = {"relu": "relu", "relu_": "relu", "tanh": "tanh", "sigmoid": "sigmoid", "silu": "silu", "softplus": "softplus"}
_SAME = {"dropout", "contiguous", "clone", "detach", "to", "float", "double", "dropout_", "alpha_dropout", "type_as", "requires_grad_"}
_ASKED = {"__get__", "size", "dim", "__len__", "numel", "is_floating_point", "type", "dtype", "device", "get_device"}
_stack: List[str] = []  # the modules that run now, innermost last


def where(operation: str) -> str:
    return f"{_stack[-1]}: {operation}" if _stack and _stack[-1] else operation


def numbers(tensor: Any) -> np.ndarray:
    array = np.asarray(tensor.detach().double().cpu().numpy() if isinstance(tensor, torch.Tensor) else tensor, np.float64)
    return array[0] if array.ndim == 2 and len(array) == 1 else array


class Traced(torch.Tensor):
    """Rows with the Value that they are."""

    value: Optional[Value] = None
    ids: Optional[Node] = None  # of class ids

    @classmethod
    def __torch_function__(cls, function: Any, types: Any, arguments: Any = (), keywords: Any = None) -> Any:
        keywords = keywords or {}
        name = getattr(function, "__name__", str(function))
        if name in ("__bool__", "item", "tolist", "numpy", "__int__", "__float__"):
            raise Refusal(f"{where(name)}: what is computed depends on the values of a row")
        plain = [_strip(each) for each in arguments]
        result = function(*plain, **{key: _strip(each) for key, each in keywords.items()})
        if name in _ASKED or not _has_tensor(result):
            return result
        return record(name, result, arguments, keywords)


def _strip(argument: Any) -> Any:
    if isinstance(argument, Traced):
        return argument.as_subclass(torch.Tensor)
    if isinstance(argument, (list, tuple)) and any(isinstance(each, Traced) for each in argument):
        return type(argument)(_strip(each) for each in argument)
    return argument


def _has_tensor(result: Any) -> bool:
    return isinstance(result, torch.Tensor) or (isinstance(result, (list, tuple)) and any(isinstance(e, torch.Tensor) for e in result))


def traced(tensor: torch.Tensor, value: Optional[Value], ids: Optional[Node] = None) -> Traced:
    out = tensor.detach().as_subclass(Traced)
    out.value, out.ids = value, ids
    return out


def record(name: str, result: Any, arguments: Any, keywords: Dict[str, Any]) -> Any:
    first = arguments[0] if arguments else None
    if name in ("zeros_like", "ones_like"):
        return result
    if name == "broadcast_tensors":
        return tuple(traced(plain, each.value) if isinstance(each, Traced) else plain for plain, each in zip(result, arguments))
    if name in ("expand", "expand_as") and result.shape == first.shape:
        return traced(result, first.value)
    if name in ("cat", "concat", "concatenate"):
        return traced(result, concatenate([_value(each, name) for each in first]))
    if name in ("chunk", "split", "split_with_sizes", "unbind", "tensor_split"):
        value, parts, at = _value(first, name), [], 0
        for part in result:
            parts.append(traced(part, value[at : at + part.shape[-1]]))
            at += part.shape[-1]
        return tuple(parts)
    if name == "one_hot":
        return traced(result, Value.of(first.ids), first.ids)
    if name == "embedding":
        weight = numbers(arguments[1]) if isinstance(first, Traced) else None
        node = Node("linear", weight.shape[1], (Value.of(first.ids),), {"weight": weight.T.copy(), "bias": np.zeros(weight.shape[1])}, where(name))
        return traced(result, Value.of(node))
    if isinstance(first, Traced) and first.value is None and first.ids is not None:
        return traced(result, None, first.ids)  # class ids: squeeze, long, view
    if name in _SAME:
        return traced(result, _value(first, name), getattr(first, "ids", None))
    if name in ("view", "reshape", "flatten", "squeeze", "unsqueeze"):
        if result.shape[-1] != _value(first, name).width:
            raise Refusal(f"{where(name)}: a change of shape to {list(result.shape)}")
        return traced(result, first.value)
    if name == "__getitem__":
        index = torch.arange(first.value.width).expand(first.shape)[arguments[1]]
        if result.shape[:-1] != first.shape[:-1]:
            raise Refusal(f"{where('an index')} that is no slice of columns")
        return traced(result, first.value[index.reshape(-1, result.shape[-1])[0].numpy()])
    if name == "linear":
        weight = numbers(arguments[1])
        bias = arguments[2] if len(arguments) > 2 else keywords.get("bias")
        node = Node("linear", len(weight), (_value(first, name),), {"weight": weight, "bias": np.zeros(len(weight)) if bias is None else numbers(bias)}, where(name))
        return traced(result, Value.of(node))
    if name == "batch_norm":
        mean, variance = arguments[1:3]
        if mean is None:
            raise Refusal(f"{where(name)}: statistics of the batch, not of training (track_running_stats is off)")
        weight, bias = (arguments[3:5] + (None, None))[:2] if len(arguments) > 3 else (keywords.get("weight"), keywords.get("bias"))
        eps = arguments[7] if len(arguments) > 7 else keywords.get("eps", 1e-5)
        scale = (1.0 if weight is None else numbers(weight)) / np.sqrt(numbers(variance) + eps)
        return traced(result, _value(first, name).affine(scale, (0.0 if bias is None else numbers(bias)) - numbers(mean) * scale))
    if name == "layer_norm":
        width = result.shape[-1]
        got = dict(zip(("input", "normalized_shape", "weight", "bias", "eps"), arguments), **keywords)
        weight = np.ones(width) if got.get("weight") is None else numbers(got["weight"])
        bias = np.zeros(width) if got.get("bias") is None else numbers(got["bias"])
        return _node(result, "layer_norm", first, (weight, bias, got.get("eps", 1e-5)))
    if name in ("clamp", "clamp_", "clip", "hardtanh"):
        low, high = (tuple(arguments[1:]) + (keywords.get("min"), keywords.get("max")))[:2] if len(arguments) < 3 else arguments[1:3]
        return _node(result, "clamp", first, (low, high))
    activation = _activation(name, arguments, keywords)
    if activation is not None:
        return _node(result, "activation", first, activation)
    if name in ("exp", "sqrt", "exp_"):
        return _node(result, name.rstrip("_"), first, None)
    return _arithmetic(name, result, arguments, keywords)


def _activation(name: str, arguments: Any, keywords: Any) -> Any:
    if name in _PLAIN:
        return _PLAIN[name]
    if name in ("leaky_relu", "leaky_relu_", "elu", "elu_"):
        key, default = ("leaky_relu", 0.01) if "leaky" in name else ("elu", 1.0)
        given = arguments[1] if len(arguments) > 1 else keywords.get("negative_slope", keywords.get("alpha", default))
        return {key: float(given)}
    if name == "gelu":
        return "gelu_tanh" if keywords.get("approximate", "none") == "tanh" else "gelu"
    return None


def _arithmetic(name: str, result: Any, arguments: Any, keywords: Any) -> Any:
    kind = name.strip("_").rstrip("_")
    if kind == "neg":
        return traced(result, _value(arguments[0], name).affine(-1.0, 0.0))
    if kind not in ("add", "iadd", "radd", "sub", "isub", "rsub", "mul", "imul", "rmul", "div", "idiv", "truediv", "itruediv") or keywords.get("alpha", 1) != 1:
        raise Refusal(f"{where(name)} is nothing that a layer list can say")
    a, b = arguments[:2]
    for each in (a, b):
        if not isinstance(each, Traced) and isinstance(each, torch.Tensor) and each.dim() > 1 and each.shape[0] > 1:
            raise Refusal(f"{where(name)}: a constant of shape {list(each.shape)}, or a random call that is no standard normal")
    if kind == "rsub":
        a, b, kind = b, a, "sub"
    kind = kind[1:] if kind[0] in "ri" else kind
    if isinstance(a, Traced) and isinstance(b, Traced):
        return traced(result, _of_two(kind, _value(a, name), _value(b, name)))
    if isinstance(a, Traced):
        other, value = numbers(b), _value(a, name)
        scale, shift = {"add": (1.0, other), "sub": (1.0, -other), "mul": (other, 0.0)}.get(kind, (1 / other if "div" in kind else None, 0.0))
    else:
        other, value = numbers(a), _value(b, name)
        if "div" in kind:
            raise Refusal(f"{where(name)}: a division by what depends on the row")
        scale, shift = {"add": (1.0, other), "sub": (-1.0, other), "mul": (other, 0.0)}[kind]
    return traced(result, value.affine(scale, shift))


def _of_two(kind: str, a: Value, b: Value) -> Value:
    for x, y in ((a, b), (b, a)):
        noise = y.used()[0]
        if kind == "mul" and noise.kind == "noise":
            if not y.plain(noise):
                raise Refusal(f"{noise.where}: noise that is scaled or shifted")
            return Value.of(Node("noisy", x.width, (x,), where=noise.where))
        if kind == "add" and noise.kind == "noisy" and y.plain(noise):
            return Value.of(Node("reparameterized", x.width, (x, noise.inputs[0]), where=noise.where))
    if kind == "add":
        return Value.of(Node("add", a.width, (a, b), where=where("a sum")))
    raise Refusal(f"{where(kind)} of two values that both depend on the row")


def _node(result: Any, kind: str, first: Any, what: Any) -> Any:
    value = _value(first, kind)
    return traced(result, Value.of(Node(kind, value.width, (value,), {"what": what}, where(kind))))


def _value(tensor: Any, name: str) -> Value:
    if isinstance(tensor, Traced) and tensor.value is not None:
        return tensor.value
    raise Refusal(f"{where(name)} takes something that does not come from the inputs")


def _leave(*_: Any) -> None:
    _stack.pop()


def draw_noise(shape: Any) -> Traced:
    """The standard normal that stands for eps."""
    node = Node("noise", int(shape[-1]), where=where("noise"))
    return traced(torch.zeros(*shape, dtype=torch.float64), Value.of(node))


def run(module: torch.nn.Module, function: Any, inputs: Tuple[Any, ...]) -> Any:
    """function(*inputs) with the names of the modules for messages."""
    handles = []
    for name, child in module.named_modules():
        text = f"{name} ({type(child).__name__})" if name else ""
        handles.append(child.register_forward_pre_hook(lambda *_, text=text: _stack.append(text)))
        handles.append(child.register_forward_hook(_leave))
    try:
        return function(*inputs)
    finally:
        _stack.clear()
        for handle in handles:
            handle.remove()
