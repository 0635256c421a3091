"""Where the database password of a new connection comes from.

Static: it stands in the address. Environment: libpq reads ``PGPASSWORD`` itself. Otherwise a
provider is asked, and asked again when what it gave has expired.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from datetime import datetime
from importlib import import_module
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from langgraph_durable.errors import SettingsError

if TYPE_CHECKING:
    from langgraph_durable.settings import Settings

Provider = Callable[[], "str | tuple[str, float]"]
"""Gives a password, alone or with the epoch second at which it expires."""

EARLY_SECONDS = 60.0
"""A password is renewed this long before it expires."""


class Credentials:
    """Addresses complete with the password of the moment; safe to share between threads."""

    def __init__(
        self, provider: Provider | None = None, *, clock: Callable[[], float] = time.time
    ) -> None:
        self._provider = provider
        self._clock = clock
        self._lock = threading.Lock()
        self._password = ""
        self._expires_at = float("-inf")

    def conninfo(self, settings: Settings, *, direct: bool = False) -> str:
        """The address for one new connection.

        Raises SettingsError when no database is configured or the provider cannot be loaded.
        """
        url = (settings.direct_database_url if direct else None) or settings.database_url
        if url is None:
            raise SettingsError("No database is configured: set DATABASE_URL")
        if self._provider is None and settings.credentials is not None:
            self._provider = load_provider(settings.credentials)
        if self._provider is None:
            return url
        from psycopg.conninfo import make_conninfo

        return make_conninfo(url, password=self._current(self._provider))

    def renew(self, refused: str) -> bool:
        """Forget a password that the database refused; False when there is no other to be had."""
        with self._lock:
            if self._password == refused:
                self._expires_at = float("-inf")
        return self._provider is not None

    def _current(self, provider: Provider) -> str:
        with self._lock:  # a burst of connections asks once
            if self._clock() >= self._expires_at - EARLY_SECONDS:
                self._password, self._expires_at = _checked(provider())
            return self._password


def _checked(given: Any) -> tuple[str, float]:
    """A password and when it expires; SettingsError when a provider gave something else."""
    match given:
        case str():
            return given, float("-inf")
        case (str() as password, int() | float() as expires_at):
            return password, float(expires_at)
    raise SettingsError("credentials: the provider gave neither a password nor (password, expiry)")


def load_provider(name: str) -> Provider:
    """The provider that ``module:callable`` or ``databricks`` names.

    Raises SettingsError when there is none.
    """
    if name == "databricks":
        return databricks_provider()
    module, _, attribute = name.partition(":")
    try:
        found: Any = getattr(import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise SettingsError(f"credentials: {name!r} cannot be loaded: {error}") from error
    if not callable(found):
        raise SettingsError(f"credentials: {name!r} is not callable")
    provider: Provider = found
    return provider


def databricks_provider() -> Provider:
    """Mints tokens for Lakebase: for the instances named in ``LAKEBASE_INSTANCE_NAME`` (separated
    by commas), or the endpoint in ``LAKEBASE_AUTOSCALING_ENDPOINT``; else an OAuth token.

    Raises SettingsError when the SDK is not installed.
    """
    try:
        from databricks.sdk import WorkspaceClient
    except ImportError as error:
        raise SettingsError(
            "credentials: databricks needs: pip install 'langgraph-durable[databricks]'"
        ) from error
    client: Any = WorkspaceClient()
    if names := os.environ.get("LAKEBASE_INSTANCE_NAME"):
        return lambda: _instance_token(client, names.split(","))
    if endpoint := os.environ.get("LAKEBASE_AUTOSCALING_ENDPOINT"):
        return lambda: _endpoint_token(client, endpoint)
    return lambda: str(client.config.oauth_token().access_token)


def _instance_token(client: Any, names: list[str]) -> tuple[str, float]:
    minted = client.database.generate_database_credential(
        request_id=str(uuid4()), instance_names=names
    )
    expires_at = datetime.fromisoformat(str(minted.expiration_time).replace("Z", "+00:00"))
    return str(minted.token), expires_at.timestamp()


def _endpoint_token(client: Any, endpoint: str) -> tuple[str, float]:
    minted = client.postgres.generate_database_credential(endpoint)
    return str(minted.token), float(minted.expire_time.seconds)
