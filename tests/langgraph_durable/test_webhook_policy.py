"""Where a webhook may lead, and what ``langgraph.json`` says about it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from langgraph_durable.errors import WebhookRefused
from langgraph_durable.webhook_config import WebhookConfig, read_webhooks, unknown_keys
from langgraph_durable.webhook_policy import WebhookPolicy, refusal


def policy(*addresses: str, loopback: bool = False, **config: Any) -> WebhookPolicy:
    async def resolve(host: str, port: int) -> Sequence[str]:
        return addresses

    return WebhookPolicy(config=WebhookConfig(**config), loopback=loopback, resolve=resolve)


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        ("8.8.8.8", None),
        ("2606:4700::1111", None),
        ("::ffff:8.8.8.8", None),
        ("64:ff9b::8.8.8.8", None),
        ("127.0.0.1", "loopback IP range"),
        ("127.9.9.9", "loopback IP range"),
        ("::1", "loopback IP range"),
        ("::ffff:127.0.0.1", "loopback IP range"),
        ("64:ff9b::7f00:1", "loopback IP range"),
        ("169.254.169.254", "link-local IP range"),
        ("::ffff:169.254.169.254", "link-local IP range"),
        ("fe80::1", "link-local IP range"),
        ("fe80::1%eth0", "link-local IP range"),
        ("0.0.0.0", "private IP range"),
        ("::", "private IP range"),
        ("10.0.0.1", "private IP range"),
        ("172.16.0.1", "private IP range"),
        ("192.168.1.1", "private IP range"),
        ("100.64.0.1", "private IP range"),
        ("192.0.0.1", "private IP range"),
        ("198.18.0.1", "private IP range"),
        ("224.0.0.1", "private IP range"),
        ("255.255.255.255", "private IP range"),
        ("fd00::1", "private IP range"),
        ("fec0::1", "private IP range"),
        ("ff02::1", "private IP range"),
        ("::127.0.0.1", "private IP range"),
        ("64:ff9b::10.0.0.1", "private IP range"),
        ("64:ff9b:1::1", "private IP range"),
        ("2002:7f00:1::", "private IP range"),
        ("2001:0:1::1", "private IP range"),
    ],
)
def test_only_addresses_on_the_public_internet_are_called(address: str, reason: str | None) -> None:
    assert refusal(address, loopback=False) == reason


@pytest.mark.parametrize("address", ["127.0.0.1", "::1", "10.0.0.1", "169.254.1.1", "0.0.0.0"])
def test_loopback_allows_this_machine_and_nothing_else(address: str) -> None:
    assert (refusal(address, loopback=True) is None) == (address in ("127.0.0.1", "::1"))


async def test_one_private_address_among_public_ones_is_enough_to_refuse() -> None:
    with pytest.raises(WebhookRefused, match="private"):
        await policy("8.8.8.8", "10.0.0.1").targets("https://example.com/")


async def test_what_was_resolved_is_what_is_called() -> None:
    url, addresses = await policy("8.8.8.8").targets("https://Example.com/hook?a=1")
    assert (url.host, url.path, addresses) == ("example.com", "/hook", ["8.8.8.8"])


async def test_a_host_without_an_address_is_refused() -> None:
    with pytest.raises(WebhookRefused, match="cannot be resolved"):
        await policy().targets("https://example.com/")


@pytest.mark.parametrize(
    ("url", "allowed"),
    [
        ("https://hooks.example.com/x", True),
        ("https://HOOKS.example.com./x", True),
        ("https://a.example.org/x", True),
        ("https://a.b.example.org:8443/x", True),
        ("https://example.com/x", False),
        ("https://example.org/x", False),
        ("https://evilexample.org/x", False),
        ("https://example.org.evil.com/x", False),
        ("https://evil.com\\@hooks.example.com/x", False),
        ("http://hooks.example.com/x", False),
        ("https://hooks.example.com:22/x", False),
        ("https://hooks.example.com/" + "x" * 100, False),
        ("https://hooks.example.com/\n", False),
        ("https://hooks.example.com/\ud800", False),
    ],
)
async def test_a_project_narrows_down_whom_its_runs_call(url: str, allowed: bool) -> None:
    narrow = policy(
        "8.8.8.8",
        require_https=True,
        allowed_domains=("hooks.example.com", "*.example.org"),
        allowed_ports=(443, 8443),
        max_url_length=80,
    )
    if allowed:
        assert (await narrow.targets(url))[1] == ["8.8.8.8"]
    else:
        with pytest.raises(WebhookRefused):
            await narrow.targets(url)


def read(raw: Any, **env: str) -> tuple[WebhookConfig, list[str]]:
    problems: list[str] = []
    return read_webhooks(raw, env, problems), problems


def test_a_webhooks_block_switches_https_on_unless_it_says_otherwise() -> None:
    assert read(None)[0].require_https is False
    assert read({})[0].require_https is True
    assert read({"url": {"require_https": False}})[0].require_https is False


def test_every_key_is_read() -> None:
    config, problems = read(
        {
            "env_prefix": "HOOK_",
            "url": {
                "allowed_domains": ["*.Example.com"],
                "allowed_ports": [443],
                "max_url_length": 100,
                "disable_loopback": True,
            },
            "headers": {"Authorization": "Bearer ${{ env.HOOK_TOKEN }}", "X-Static": "yes"},
        },
        HOOK_TOKEN="t0ken",
    )
    assert problems == []
    assert config.headers == {"Authorization": "Bearer t0ken", "X-Static": "yes"}
    assert (config.allowed_domains, config.allowed_ports) == (("*.example.com",), (443,))
    assert (config.max_url_length, config.disable_loopback) == (100, True)
    assert "t0ken" not in repr(config)


@pytest.mark.parametrize(
    ("raw", "problem"),
    [
        ([], "webhooks: must be an object"),
        ({"url": []}, "webhooks.url: must be an object"),
        ({"url": {"require_https": "yes"}}, "webhooks.url.require_https: must be true or false"),
        ({"url": {"allowed_domains": "a.com"}}, "webhooks.url.allowed_domains: "),
        ({"url": {"allowed_ports": ["443"]}}, "webhooks.url.allowed_ports: "),
        ({"url": {"allowed_ports": [True]}}, "webhooks.url.allowed_ports: "),
        ({"url": {"max_url_length": 0}}, "webhooks.url.max_url_length: "),
        ({"env_prefix": ""}, "webhooks.env_prefix: "),
        ({"headers": {"A": 5}}, "webhooks.headers.A: "),
        ({"headers": {"A B": "x"}}, "webhooks.headers.A B: "),
        ({"headers": {"A": "x\r\nB: y"}}, "webhooks.headers.A: must be printable ASCII"),
        ({"headers": {"A": "${{ env.LG_WEBHOOK_NO }}"}}, "webhooks.headers.A: LG_WEBHOOK_NO is"),
        ({"headers": {"A": "${{ env.OTHER }}"}}, "webhooks.headers.A: OTHER does not begin with"),
        ({"headers": {"A": "${{ secrets.X }}"}}, "webhooks.headers.A: only"),
    ],
)
def test_what_is_wrong_is_named_and_no_value_is_shown(raw: Any, problem: str) -> None:
    _, problems = read(raw, OTHER="s3cret")
    assert len(problems) == 1
    assert problems[0].startswith(problem)
    assert "s3cret" not in problems[0]


def test_keys_that_do_nothing_are_told() -> None:
    assert unknown_keys({"url": {"a": 1, "require_https": True}, "b": 2}) == ["b", "url.a"]
    assert unknown_keys([]) == []
