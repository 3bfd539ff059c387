"""Which addresses a fetch may reach: public ones, and those that the configuration allows.

What counts is the address that a name resolves to and that is connected to, never how it is
spelled: `0x7f.1`, `2130706433` and `localhost.` all resolve to 127.0.0.1.
"""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Callable, Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from ipaddress import IPv4Address, IPv6Address
from typing import TypeAlias

from attrs import frozen

from hrns.errors import ToolFailure

__all__ = ["Address", "Allowed", "Resolve", "check", "resolve"]

Address: TypeAlias = IPv4Address | IPv6Address
Resolve: TypeAlias = Callable[[str, int], Sequence[str]]
"""`(host, port)` gives the texts of its addresses; raises OSError if there is none."""

_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_COMPATIBLE = ipaddress.IPv6Network("::/96")
_REFUSED = [
    ipaddress.ip_network(text)
    for text in (
        "0.0.0.0/8",
        "100.64.0.0/10",  # carriers, and the metadata of one cloud
        "192.0.0.0/24",
        "192.88.99.0/24",
        "198.18.0.0/15",
        "fec0::/10",  # what site-local was
        "64:ff9b:1::/48",  # NAT64 of one's own network
        "2001::/23",
        "::/96",  # no address, oneself, and what was "IPv4-compatible"
    )
]


@frozen
class Allowed:
    """What the configuration allows besides public addresses.

    Parameters:
        names: patterns of host names, in lower case, such as `*.corp.example`.
        networks: ranges of addresses.
    """

    names: tuple[str, ...] = ()
    networks: tuple[ipaddress.IPv4Network | ipaddress.IPv6Network, ...] = ()

    @classmethod
    def parse(cls, entries: Iterable[object]) -> Allowed:
        """What the entries of `webFetch.allow` stand for; what is no text is passed over."""
        names, networks = [], []
        for entry in entries:
            if not isinstance(entry, str):
                continue
            try:
                networks.append(ipaddress.ip_network(entry.strip("[]"), strict=False))
            except ValueError:
                names.append(_plain(entry))
        return cls(tuple(names), tuple(networks))

    def has_name(self, host: str) -> bool:
        """Whether a host is allowed by its name, whatever its addresses."""
        return any(fnmatchcase(_plain(host), name) for name in self.names)

    def has_address(self, address: Address) -> bool:
        """Whether an address is in an allowed range."""
        return any(address in network for network in self.networks)


def resolve(host: str, port: int) -> list[str]:
    """The addresses of a host, as the system knows them."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(sockaddr[0]) for *_, sockaddr in found))


def check(host: str, addresses: Iterable[str], allowed: Allowed) -> None:
    """That a fetch may reach a host, whichever of its addresses is taken.

    Raises:
        ToolFailure: one of them is where no fetch may go.
    """
    if allowed.has_name(host):
        return
    for text in addresses:
        address = ipaddress.ip_address(text.partition("%")[0])
        if not (_is_public(address) or allowed.has_address(address)):
            at = "" if text == host else f" is at {text}, which"
            raise ToolFailure(
                f"{host}{at} is not a public address, and is not fetched. "
                "The user can allow it in the configuration: webFetch.allow."
            )


def _is_public(address: Address) -> bool:
    return all(
        each.is_global
        and not each.is_multicast
        and not each.is_reserved
        and not any(each in network for network in _REFUSED)
        for each in _all_forms(address)
    )


def _all_forms(address: Address) -> Iterator[Address]:
    """The address, and the IPv4 address that it carries inside, if it does."""
    if isinstance(address, IPv4Address):
        yield address
    elif address.ipv4_mapped is not None:
        yield address.ipv4_mapped
    elif address in _NAT64:
        yield IPv4Address(int(address) & 0xFFFFFFFF)
    else:
        yield address
        if address.sixtofour is not None:
            yield address.sixtofour


def _plain(name: str) -> str:
    return name.strip().rstrip(".").lower()
