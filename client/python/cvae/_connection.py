"""How a server is reached, for the blocking and the asyncio channel alike."""

import dataclasses
import os
from typing import Any, Callable, Optional, Sequence, Tuple, Union

import grpc

Path = Union[str, "os.PathLike[str]"]
Token = Union[str, Callable[[], str]]
Metadata = Tuple[Tuple[str, str], ...]

_THIS_MACHINE = ("localhost:", "127.", "[::1]:", "unix:", "unix-abstract:")


@dataclasses.dataclass(frozen=True)
class Tls:
    """How a connection is encrypted: files in PEM."""

    ca: Optional[Path] = None  # certificates that the server's must be signed by; None: those that gRPC trusts
    certificate: Optional[Path] = None  # ours, for a server that asks for one, together with its key
    key: Optional[Path] = None
    server_name: Optional[str] = None  # in the server's certificate, where it is not the target's

    def credentials(self) -> grpc.ChannelCredentials:
        if (self.certificate is None) != (self.key is None):
            raise ValueError("Tls: certificate and key go together, got one of them")
        return grpc.ssl_channel_credentials(_read(self.ca), _read(self.key), _read(self.certificate))


class Connection:
    """What a channel and its calls are made with. The arguments are those of cvae.Client."""

    def __init__(
        self,
        target: str,
        tls: Union[bool, Tls],
        token: Optional[Token],
        credentials: Optional[grpc.ChannelCredentials],
        metadata: Sequence[Tuple[str, str]],
        options: Sequence[Tuple[str, Any]],
    ) -> None:
        here = target.startswith(_THIS_MACHINE)
        if tls is True:
            tls = Tls()
        if tls and credentials is not None:
            raise ValueError("tls and credentials: got both, expected at most one")
        if token is not None and not (tls or credentials or here):
            raise ValueError(f"token: {target} would get it unencrypted: give tls (or, if that is meant, metadata)")
        self.target = target
        self.credentials = tls.credentials() if tls else credentials
        # Messages of any size: the server has limits of its own.
        self.arguments = [("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1), *options]
        if here:
            self.arguments.append(("grpc.enable_http_proxy", 0))  # a proxy is meant for other hosts
        if tls and tls.server_name is not None:
            self.arguments.append(("grpc.ssl_target_name_override", tls.server_name))
        self._token, self._metadata = token, tuple(metadata)

    def metadata(self) -> Metadata:
        """Of a call that is sent now."""
        if self._token is None:
            return self._metadata
        token = self._token if isinstance(self._token, str) else self._token()
        return (*self._metadata, ("authorization", "Bearer " + token))


def _read(path: Optional[Path]) -> Optional[bytes]:
    if path is None:
        return None
    with open(path, "rb") as file:
        return file.read()
