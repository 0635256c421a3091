from __future__ import annotations

from threading import Thread

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
