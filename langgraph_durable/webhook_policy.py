"""Where a webhook may lead: rules for its address, and for what its host resolves to.

A server calls addresses that strangers give it. None may reach its own network, so the host is
resolved here, every result is judged, and whoever connects uses those results and no others.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

import httpx

from langgraph_durable.errors import WebhookRefused
from langgraph_durable.webhook_config import WebhookConfig

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Resolve = Callable[[str, int], Awaitable[Sequence[str]]]

RESOLVE_SECONDS = 5.0
_PORTS = {"http": 80, "https": 443}
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")


async def resolve(host: str, port: int) -> list[str]:
    """Every address of a host; OSError or TimeoutError when it has none."""
    async with asyncio.timeout(RESOLVE_SECONDS):
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


@dataclass(frozen=True, kw_only=True)
class WebhookPolicy:
    """The rules of one server. ``loopback`` allows its own machine; ``enabled`` False nothing."""

    config: WebhookConfig
    loopback: bool
    enabled: bool = True
    resolve: Resolve = resolve

    async def targets(self, url: str) -> tuple[httpx.URL, list[str]]:
        """The address as it is read, and the IP addresses behind it, all of them allowed.

        Raises WebhookRefused.
        """
        parsed = self.parsed(url)
        host = host_of(parsed)
        try:
            found = await self.resolve(host, parsed.port or _PORTS[parsed.scheme])
        except (OSError, UnicodeError) as error:
            raise WebhookRefused("Webhook host blocked: it cannot be resolved") from error
        if not found:
            raise WebhookRefused("Webhook host blocked: it cannot be resolved")
        for address in found:
            if reason := refusal(address, loopback=self.loopback):
                raise WebhookRefused(f"Webhook host blocked: {reason}")
        return parsed, list(found)

    def parsed(self, url: str) -> httpx.URL:
        """The address, if its text alone says nothing against it. Raises WebhookRefused."""
        if not self.enabled:
            raise WebhookRefused("'webhook' is given, but this server calls none")
        if len(url) > self.config.max_url_length:
            raise WebhookRefused(
                f"'webhook' is longer than {self.config.max_url_length} characters"
            )
        try:
            parsed = httpx.URL(url)
        except (httpx.InvalidURL, UnicodeError) as error:
            raise WebhookRefused("'webhook' is a malformed URL") from error
        if reason := self._fault(parsed):
            raise WebhookRefused(reason)
        return parsed

    def _fault(self, url: httpx.URL) -> str | None:
        if not url.scheme:
            return "'webhook' must be an absolute URL: a relative one would call this server itself"
        if url.scheme not in _PORTS:
            return f"Webhook host blocked: scheme {url.scheme!r} not allowed"
        if self.config.require_https and url.scheme != "https":
            return "'webhook' must be an https URL"
        if not url.host or url.userinfo:
            return "'webhook' must have a host, and no user or password before it"
        return self._blocked(url)

    def _blocked(self, url: httpx.URL) -> str | None:
        port = url.port or _PORTS[url.scheme]
        if not 0 < port < 2**16:
            return "'webhook' is a malformed URL"
        if self.config.allowed_ports and port not in self.config.allowed_ports:
            return f"Webhook host blocked: port {port} not allowed"
        domains = self.config.allowed_domains
        if domains and not any(_matches(host_of(url), domain) for domain in domains):
            return "Webhook host blocked: domain not allowed"
        return None


def host_of(url: httpx.URL) -> str:
    """The host as names are looked up and certificates are checked."""
    return url.raw_host.decode("ascii").lower().rstrip(".")


def refusal(address: str, *, loopback: bool) -> str | None:
    """Why nobody may be sent to an IP address; None when it is on the public internet."""
    ip = _inner(ipaddress.ip_address(address))
    if ip.is_loopback:
        return None if loopback else "loopback IP range"
    if ip.is_link_local:
        return "link-local IP range"
    if not _is_public(ip):
        return "private IP range"
    return None


def _inner(ip: Address) -> Address:
    """The IPv4 address that an IPv6 one stands for."""
    if isinstance(ip, ipaddress.IPv4Address):
        return ip
    if ip.ipv4_mapped is not None:
        return ip.ipv4_mapped
    return ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF) if ip in _NAT64 else ip


def _is_public(ip: Address) -> bool:
    if not ip.is_global or ip.is_multicast or ip.is_reserved:
        return False
    # Tunnels lead to IPv4 addresses inside them, and site-local is private by another name.
    return ip.version == 4 or not (ip.sixtofour or ip.teredo or ip.is_site_local)


def _matches(host: str, domain: str) -> bool:
    if domain.startswith("*."):
        return host.endswith(domain[1:])
    return host == domain
