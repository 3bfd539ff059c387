"""Model servers that listen on this machine, at the ports that they are known by."""

from __future__ import annotations

import socket

from hrns.config import ProviderConfig

__all__ = ["local_servers"]

_KNOWN = (
    (11434, ProviderConfig("ollama", "http://127.0.0.1:11434", api="ollama")),
    (8080, ProviderConfig("llama.cpp", "http://127.0.0.1:8080/v1")),
    (1234, ProviderConfig("lm-studio", "http://127.0.0.1:1234/v1")),
    (8000, ProviderConfig("vllm", "http://127.0.0.1:8000/v1")),
)
_TIMEOUT_S = 0.2


def local_servers() -> tuple[ProviderConfig, ...]:
    """Entries for those that listen on the loopback interface now."""
    return tuple(entry for port, entry in _KNOWN if _listens(port))


def _listens(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=_TIMEOUT_S):
            return True
    except OSError:
        return False
