"""A checkpoint's tensors, out of whatever it wraps them in. Pickles are opened with weights_only, so they run no code."""

from typing import Any, Dict, Mapping

import torch

from . import safetensors
from .refusal import Refusal

_WRAPPERS = ("model_state_dict", "state_dict", "model", "net", "weights")
_PREFIXES = ("module.", "_orig_mod.", "model.")


def load(path: str) -> Dict[str, torch.Tensor]:
    """The state_dict in a .safetensors file or in what torch.save wrote."""
    if path.endswith(".safetensors"):
        return {name: torch.from_numpy(array.copy()) for name, array in safetensors.read(path)[0].items()}
    try:
        found = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:
        raise Refusal(f"{path}: is not plain tensors, and what else a pickle holds could run code: {error}") from error
    return unwrap(found, path)


def unwrap(found: Any, path: str) -> Dict[str, torch.Tensor]:
    """The mapping from names to tensors inside `found`."""
    while isinstance(found, Mapping) and not _is_state_dict(found):
        inner = [found[key] for key in _WRAPPERS if isinstance(found.get(key), Mapping)]
        if not inner:
            raise Refusal(f"{path}: no state_dict in it, only {', '.join(map(str, list(found)[:8]))}")
        found = inner[0]
    if not isinstance(found, Mapping):
        raise Refusal(f"{path}: holds a {type(found).__name__}, expected a state_dict")
    return dict(found)


def fit(module: torch.nn.Module, state: Mapping[str, torch.Tensor], path: str) -> None:
    """Loads `state`, less prefixes that the module's names do not have. Every name must be there, and no other."""
    expected = set(module.state_dict())
    names = dict(state)
    while set(names) != expected:
        prefix = next((p for p in _PREFIXES if names and all(name.startswith(p) for name in names)), None)
        if prefix is None:
            extra, missing = sorted(set(names) - expected)[:5], sorted(expected - set(names))[:5]
            raise Refusal(f"{path}: does not fit the module: it lacks {missing}, and has beside it {extra}")
        names = {name[len(prefix) :]: tensor for name, tensor in names.items()}
    module.load_state_dict(names)


def _is_state_dict(found: Mapping[Any, Any]) -> bool:
    return bool(found) and all(isinstance(value, torch.Tensor) for value in found.values())
