"""A checkpoint's tensors, out of whatever it wraps them in. Pickles are opened with weights_only, so they run no code."""

import pickle
from typing import Any, Dict, Mapping

import torch

from . import safetensors
from .refusal import Refusal

_WRAPPERS = ("model_state_dict", "state_dict", "model", "net", "weights")
_TENSORS = ("_rebuild_tensor", "_rebuild_tensor_v2", "_rebuild_parameter")
_PREFIXES = ("module.", "_orig_mod.", "model.")


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        plain = (module, name) in (("collections", "OrderedDict"), ("torch", "Size"), ("torch", "device"))
        if plain or (module == "torch._utils" and name in _TENSORS) or (module == "torch" and name.endswith("Storage")):
            return super().find_class(module, name)
        raise pickle.UnpicklingError(f"it needs {module}.{name}")


class _Plain:
    """A pickle module for torch.load that makes tensors and plain values, as weights_only does."""

    __name__ = "pickle"
    Unpickler = _Unpickler

    @staticmethod
    def load(file: Any, **keywords: Any) -> Any:
        return _Unpickler(file, **keywords).load()


def load(path: str) -> Dict[str, torch.Tensor]:
    """The state_dict in a .safetensors file or in what torch.save wrote."""
    if path.endswith(".safetensors"):
        return {name: torch.from_numpy(array.copy()) for name, array in safetensors.read(path)[0].items()}
    try:
        if torch.__version__.startswith("1."):  # whose weights_only takes no float, such as a checkpoint's loss
            found = torch.load(path, map_location="cpu", pickle_module=_Plain)
        else:
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
