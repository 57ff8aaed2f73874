"""From a PyTorch module to a model file: see export."""

from .export import export
from .refusal import Refusal

__all__ = ["Refusal", "export"]
