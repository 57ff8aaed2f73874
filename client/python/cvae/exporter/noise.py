"""The random calls of a module, answered by us while it runs."""

import contextlib
from typing import Any, Callable, Iterator

import torch


@contextlib.contextmanager
def answered(draw: Callable[[Any], Any]) -> Iterator[None]:
    """torch.randn, randn_like, normal and Tensor.normal_, and so Normal.rsample, give draw(shape)."""

    def randn(*size: Any, **_: Any) -> Any:
        return draw(tuple(size[0]) if len(size) == 1 and not isinstance(size[0], int) else size)

    def normal(mean: Any = 0.0, std: Any = 1.0, *_: Any, **keywords: Any) -> Any:
        shape = keywords.get("size") or (_ and _[0]) or torch.as_tensor(mean).shape
        return mean + std * draw(shape) if torch.as_tensor(std).ne(1).any() or torch.as_tensor(mean).ne(0).any() else draw(shape)

    patches = [
        (torch, "randn", randn),
        (torch, "randn_like", lambda like, **_: draw(like.shape)),
        (torch, "normal", normal),
        (torch.Tensor, "normal_", lambda like, mean=0.0, std=1.0, **_: mean + std * draw(like.shape)),
    ]
    before = [(owner, name, getattr(owner, name)) for owner, name, _ in patches]
    for owner, name, replacement in patches:
        setattr(owner, name, replacement)
    torch.distributions.Distribution.set_default_validate_args(False)
    try:
        yield
    finally:
        torch.distributions.Distribution.set_default_validate_args(__debug__)
        for owner, name, original in before:
            setattr(owner, name, original)


@contextlib.contextmanager
def sampling(module: torch.nn.Module) -> Iterator[None]:
    """In training mode, where many modules sample only then; but dropout and norms as eval() has them."""
    module.train()
    for child in module.modules():
        if "Norm" in type(child).__name__ or "Dropout" in type(child).__name__:
            child.eval()
    try:
        with torch.no_grad():
            yield
    finally:
        module.eval()
