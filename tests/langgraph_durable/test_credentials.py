from __future__ import annotations

import sys
from threading import Thread
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from psycopg.conninfo import conninfo_to_dict

from langgraph_durable.credentials import EARLY_SECONDS, Credentials, load_provider
from langgraph_durable.errors import SettingsError
from langgraph_durable.settings import Settings

SETTINGS = Settings(
    database_url="postgresql://u@pooler/d", direct_database_url="postgresql://u@direct/d"
)


class Minting:
    """A provider whose tokens live a while, on a clock that the test moves."""

    def __init__(self, lifetime: float) -> None:
        self.now = 1000.0
        self.minted = 0
        self._lifetime = lifetime

    def __call__(self) -> tuple[str, float]:
        self.minted += 1
        return f"token-{self.minted}", self.now + self._lifetime

    def clock(self) -> float:
        return self.now


def password(credentials: Credentials, settings: Settings = SETTINGS) -> object:
    return conninfo_to_dict(credentials.conninfo(settings)).get("password")


def from_module() -> str:
    return "from-module"


def test_without_a_provider_the_address_is_used_as_it_stands() -> None:
    assert Credentials().conninfo(SETTINGS) == SETTINGS.database_url
    assert Credentials().conninfo(SETTINGS, direct=True) == SETTINGS.direct_database_url


def test_without_a_direct_address_the_other_is_used() -> None:
    settings = Settings(database_url="postgresql://u@h/d")
    assert Credentials().conninfo(settings, direct=True) == "postgresql://u@h/d"


def test_a_token_is_kept_until_shortly_before_it_expires() -> None:
    minting = Minting(lifetime=3600)
    credentials = Credentials(minting, clock=minting.clock)
    assert [password(credentials), password(credentials)] == ["token-1", "token-1"]
    minting.now += 3600 - EARLY_SECONDS
    assert password(credentials) == "token-2"
    assert minting.minted == 2


def test_a_plain_password_is_asked_for_on_every_connection() -> None:
    passwords = iter(["one", "two"])
    credentials = Credentials(lambda: next(passwords))
    assert [password(credentials), password(credentials)] == ["one", "two"]


def test_a_burst_of_connections_mints_one_token() -> None:
    minting = Minting(lifetime=3600)
    credentials = Credentials(minting, clock=minting.clock)
    threads = [Thread(target=credentials.conninfo, args=(SETTINGS,)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert minting.minted == 1


def test_a_refused_token_is_forgotten_once_however_many_connections_it_had() -> None:
    minting = Minting(lifetime=3600)
    credentials = Credentials(minting, clock=minting.clock)
    assert password(credentials) == "token-1"
    assert credentials.renew("token-1")
    assert password(credentials) == "token-2"
    assert credentials.renew("token-1")  # by a connection that was slower to hear it
    assert password(credentials) == "token-2"


def test_a_password_without_a_provider_cannot_be_renewed() -> None:
    credentials = Credentials()
    assert password(credentials) is None
    assert not credentials.renew("")


@pytest.mark.parametrize("given", [None, 5, b"text", ("text",), ("text", "soon"), (5, 5.0)])
def test_a_provider_that_gives_no_password_is_a_settings_error(given: Any) -> None:
    with pytest.raises(SettingsError, match="neither a password nor"):
        password(Credentials(lambda: given))


def test_a_provider_is_found_by_its_name() -> None:
    settings = Settings(
        database_url="postgresql://u@h/d", credentials=f"{__name__}:{from_module.__name__}"
    )
    assert password(Credentials(), settings) == "from-module"


@pytest.mark.parametrize("name", ["nowhere:x", "os:nothing", "os:name", "os", ":", ""])
def test_a_provider_that_cannot_be_loaded_is_a_settings_error(name: str) -> None:
    with pytest.raises(SettingsError, match="credentials"):
        load_provider(name)


def test_without_a_database_there_is_nothing_to_connect_to() -> None:
    with pytest.raises(SettingsError, match="DATABASE_URL"):
        Credentials().conninfo(Settings())


@pytest.fixture
def workspace(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """A stand-in for the SDK, which notes what it was asked for."""
    asked: list[Any] = []

    def for_instances(*, request_id: str, instance_names: list[str]) -> Any:
        asked.append(instance_names)
        return SimpleNamespace(token="instance", expiration_time="2030-01-01T00:00:00Z")

    def for_endpoint(endpoint: str) -> Any:
        asked.append(endpoint)
        return SimpleNamespace(token="endpoint", expire_time=SimpleNamespace(seconds=1893456000))

    client = SimpleNamespace(
        database=SimpleNamespace(generate_database_credential=for_instances),
        postgres=SimpleNamespace(generate_database_credential=for_endpoint),
        config=SimpleNamespace(oauth_token=lambda: SimpleNamespace(access_token="oauth")),
    )
    sdk: Any = ModuleType("databricks.sdk")
    sdk.WorkspaceClient = lambda: client
    monkeypatch.setitem(sys.modules, "databricks", ModuleType("databricks"))
    monkeypatch.setitem(sys.modules, "databricks.sdk", sdk)
    for name in ("LAKEBASE_INSTANCE_NAME", "LAKEBASE_AUTOSCALING_ENDPOINT"):
        monkeypatch.delenv(name, raising=False)
    return asked


@pytest.mark.parametrize(
    ("variable", "value", "asked_for", "token"),
    [
        ("LAKEBASE_INSTANCE_NAME", "one,two", ["one", "two"], "instance"),
        ("LAKEBASE_AUTOSCALING_ENDPOINT", "projects/p", "projects/p", "endpoint"),
    ],
)
def test_databricks_mints_a_token_for_what_is_named(
    workspace: list[Any],
    monkeypatch: pytest.MonkeyPatch,
    variable: str,
    value: str,
    asked_for: object,
    token: str,
) -> None:
    monkeypatch.setenv(variable, value)
    assert load_provider("databricks")() == (token, 1893456000.0)
    assert workspace == [asked_for]


def test_databricks_gives_an_oauth_token_when_nothing_is_named(workspace: list[Any]) -> None:
    assert load_provider("databricks")() == "oauth"


def test_a_missing_databricks_sdk_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "databricks.sdk", None)
    with pytest.raises(SettingsError, match=r"langgraph-durable\[databricks\]"):
        load_provider("databricks")
