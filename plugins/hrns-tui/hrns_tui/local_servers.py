"""Model servers that listen on this machine, at the ports that they are known by."""

from __future__ import annotations

import socket
from collections.abc import Sequence
from urllib.parse import urlsplit

from hrns.config import ProviderConfig
from hrns.connecting import list_models, within
from hrns.errors import AuthenticationFailed, HrnsError
from hrns.plugins import Plugins
from hrns.session import build_provider

__all__ = ["KNOWN_SERVERS", "local_servers"]

KNOWN_SERVERS = (
    ProviderConfig("ollama", "http://127.0.0.1:11434", api="ollama"),
    ProviderConfig("llama.cpp", "http://127.0.0.1:8080/v1"),
    ProviderConfig("lm-studio", "http://127.0.0.1:1234/v1"),
    ProviderConfig("vllm", "http://127.0.0.1:8000/v1"),
)
_CONNECT_S = 0.2
_ANSWER_S = 1.0


def local_servers(
    plugins: Plugins, known: Sequence[ProviderConfig] = KNOWN_SERVERS
) -> list[ProviderConfig]:
    """Those of the known ones that listen now and list their models, or want a key for that.

    Other programs listen at the same ports, so a port that is open says nothing.
    """
    listening = [entry for entry in known if _listens(entry)]
    if not listening:
        return []
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(len(listening)) as pool:
        serves = [*pool.map(lambda entry: _serves(entry, plugins), listening)]
    return [entry for entry, found in zip(listening, serves, strict=True) if found]


def _listens(entry: ProviderConfig) -> bool:
    address = urlsplit(entry.url)
    try:
        with socket.create_connection((address.hostname, address.port), timeout=_CONNECT_S):
            return True
    except OSError:
        return False


def _serves(entry: ProviderConfig, plugins: Plugins) -> bool:
    try:
        provider = build_provider(plugins, entry, {})
        within(_ANSWER_S, lambda: list_models(provider))
    except AuthenticationFailed:
        return True
    except HrnsError:
        return False
    return True
