"""Client of cvae-serve, a server of conditional variational autoencoders.

    with cvae.Client("localhost:8001") as client:
        latents = client.encode(x, labels=["seven", "one"]).mu

cvae.aio.Client is the same for asyncio. help(cvae.Client) says what all methods take.
"""

from typing import Any

from . import aio
from ._connection import Tls
from .client import Client
from .errors import CvaeError, FieldViolation
from .results import Decoding, Encoding, Generation, Loss, Reconstruction

__all__ = [
    "Client",
    "CvaeError",
    "Decoding",
    "Encoding",
    "FieldViolation",
    "Generation",
    "Loss",
    "Reconstruction",
    "Tls",
    "aio",
]


def __getattr__(name: str) -> Any:
    if name != "export":
        raise AttributeError(f"module 'cvae' has no attribute {name!r}")
    try:  # here, not above: it needs PyTorch, which calling a server does not
        from .exporter import export  # type: ignore[import-not-found, unused-ignore]
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "torch":
            raise
        raise ImportError(f"cvae.export needs {error.name}: pip install 'cvae[export]'") from error
    return export
