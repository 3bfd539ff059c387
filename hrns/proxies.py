"""Which proxy a server is reached through, and what a server is called in messages."""

from __future__ import annotations

from contextlib import suppress
from urllib.parse import urlsplit

__all__ = ["is_loopback", "place", "proxy_for"]


def place(url: str) -> str:
    """The host and port of a URL, for messages: `host`, `host:8080`, `[::1]:8080`."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "?", parts.port
    except ValueError:
        return "?"
    name = f"[{host}]" if ":" in host else host
    return f"{name}:{port}" if port else name


def proxy_for(url: str) -> str | None:
    """The proxy that the environment (or the system) names for a URL, or None.

    HTTP_PROXY, HTTPS_PROXY and ALL_PROXY are read, in either case. NO_PROXY lists hosts, domains,
    networks such as 10.0.0.0/8, or `*`. This machine itself is never reached through a proxy.
    """
    from urllib.request import getproxies, proxy_bypass

    parts = urlsplit(url)
    host = parts.hostname or ""
    proxies = getproxies()
    proxy = proxies.get(parts.scheme) or proxies.get("all")
    if not proxy or is_loopback(host) or _in_networks(host, proxies.get("no", "")):
        return None
    if proxy_bypass(parts.netloc.rpartition("@")[2]):
        return None
    return proxy if "://" in proxy else f"http://{proxy}"


def is_loopback(host: str) -> bool:
    """Whether a host of a URL is this machine itself."""
    from ipaddress import ip_address

    if host == "localhost" or host.endswith(".localhost"):
        return True
    with suppress(ValueError):
        return ip_address(host).is_loopback
    return False


def _in_networks(host: str, no_proxy: str) -> bool:
    from ipaddress import ip_address, ip_network

    try:
        address = ip_address(host)
    except ValueError:
        return False
    for item in no_proxy.split(","):
        with suppress(ValueError):
            if "/" in item and address in ip_network(item.strip(), strict=False):
                return True
    return False
