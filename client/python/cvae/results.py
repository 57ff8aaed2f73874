"""What calls answer. Shape letters as in proto/cvae/v1/cvae.proto: B rows, S samples a row, Z latents, O output columns.

Arrays are float32 and, where an answer came in one piece, views of its bytes: read-only. `version` says what computed
it: equal version, rows, noise and index, equal bits. `seed` is what the noise was drawn with; None: none was drawn.
"""

from dataclasses import dataclass
from typing import Optional

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float32]


@dataclass(frozen=True)
class Encoding:
    """The latent distribution of each row."""

    version: str
    mu: Array  # [B, Z]
    logvar: Array  # [B, Z]


@dataclass(frozen=True)
class Reconstruction:
    """Rows encoded and decoded; z and the loss terms of the same pass if they were asked for."""

    version: str
    seed: Optional[int]
    x_hat: Array  # [B, O]
    z: Optional[Array]  # [B, Z]
    loss: Optional[float]  # these as in Loss
    recon_loss: Optional[float]
    kl_loss: Optional[float]
    row_recon: Optional[Array]
    row_kl: Optional[Array]
    column_recon: Optional[Array]
    latent_kl: Optional[Array]


@dataclass(frozen=True)
class Loss:
    """Loss terms over all rows, and of each row, column and latent if they were asked for."""

    version: str
    seed: Optional[int]
    loss: float  # recon_weight * recon_loss + kl_weight * kl_loss, the weights being the model's
    recon_loss: float  # the mean over the rows, or the sum where the model says so
    kl_loss: float
    row_recon: Optional[Array]  # [B], raw and unweighted
    row_kl: Optional[Array]  # [B]
    column_recon: Optional[Array]  # [B, O]
    latent_kl: Optional[Array]  # [B, Z]


@dataclass(frozen=True)
class Decoding:
    """Latents decoded."""

    version: str
    x_hat: Array  # [B, O]


@dataclass(frozen=True)
class Generation:
    """New rows, row i's sample s at i * S + s."""

    version: str
    seed: Optional[int]
    x_hat: Array  # [B * S, O]
    z: Optional[Array]  # [B * S, Z]
