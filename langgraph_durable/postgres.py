"""Connections: how they are made, named and kept from hanging anybody else."""

from __future__ import annotations

import asyncio
import copy
import select
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import psycopg
from psycopg import AsyncConnection, Connection
from psycopg.conninfo import make_conninfo
from psycopg.rows import DictRow, dict_row
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from langgraph_durable.credentials import Credentials
from langgraph_durable.errors import (
    DurableError,
    InvalidRequest,
    OutcomeUnknown,
    StoreUnavailable,
)
from langgraph_durable.settings import Settings

UNAVAILABLE = (
    psycopg.OperationalError,
    psycopg.InterfaceError,
    psycopg.errors.ReadOnlySqlTransaction,
    psycopg.errors.IdleInTransactionSessionTimeout,
    PoolTimeout,
)
"""What psycopg raises when the server, the network or the pool is gone (and for lock time-outs),
when the server is a standby that only reads for the moment, or when this process was held up so
long inside a transaction that the server has ended its session."""

REFUSED = (psycopg.DataError, psycopg.IntegrityError, UnicodeEncodeError)
"""What is raised for values that no database takes: NUL or half a character in a text, a negative
limit, an id that is taken."""

Row = DictRow


class Database:
    """Makes every connection of one process, all under one ``application_name``.

    The name is the worker's: whoever takes over a frozen worker ends its sessions by it.
    """

    def __init__(self, settings: Settings, worker_id: str, *, url: str | None = None) -> None:
        self._settings = settings
        self._credentials = Credentials()
        self._url = url
        self._session: Mapping[str, str] = {}
        self.application_name = f"langgraph-durable {worker_id}"

    def tuned(self, session: Mapping[str, str]) -> Database:
        """The same database, for connections with these session parameters as well."""
        other = copy.copy(self)
        other._session = {**self._session, **session}
        return other

    def conninfo(self, *, direct: bool = False) -> str:
        """The connection string of this moment: a password may have expired since the last.

        Blocking, while a provider of passwords is asked. What that raises is an OperationalError:
        without a password the database cannot be reached.
        """
        try:
            base = self._url or self._credentials.conninfo(self._settings, direct=direct)
        except DurableError:
            raise
        except Exception as error:
            reason = f"credentials: {type(error).__name__}: {error}"
            raise psycopg.OperationalError(reason) from error
        return make_conninfo(
            base,
            application_name=self.application_name,
            connect_timeout=5,
            keepalives_idle=5,
            keepalives_interval=2,
            keepalives_count=3,
            tcp_user_timeout=int(self._settings.lease_seconds * 1000),
            options=self._options(),
        )

    def _options(self) -> str:
        half_a_lease = int(self._settings.lease_seconds * 500)
        options = {
            "search_path": "langgraph_durable,public",
            "idle_in_transaction_session_timeout": half_a_lease,
            "lock_timeout": 5000,
        }
        if self._prepares:
            options["plan_cache_mode"] = "force_generic_plan"
        options |= self._session
        return " ".join(f"-c {name}={value}" for name, value in options.items())

    @property
    def pooled(self) -> bool:
        """Is there a pooler, and an address beside it?"""
        return self._settings.direct_database_url is not None

    @property
    def _prepares(self) -> bool:
        return self._settings.prepare_statements and not self.pooled

    @property
    def prepare_threshold(self) -> int | None:
        """0 prepares at once; None never, for poolers that share sessions."""
        return 0 if self._prepares else None

    def connect(self, *, direct: bool = True, autocommit: bool = True) -> Connection[Row]:
        """A connection of its own for a thread of the engine."""
        options: Any = {
            "autocommit": autocommit,
            "row_factory": dict_row,
            "prepare_threshold": self.prepare_threshold,
        }
        try:
            return psycopg.connect(self.conninfo(direct=direct), **options)
        except psycopg.OperationalError as error:
            if not self._renewed(error):
                raise
            return psycopg.connect(self.conninfo(direct=direct), **options)

    async def connect_async(self) -> AsyncConnection[Row]:
        """A direct connection of its own for the listener."""
        options = {"autocommit": True, "row_factory": dict_row}
        made: AsyncConnection[Row] = await self._connect(
            AsyncConnection.connect, direct=True, **options
        )
        return made

    async def _connect(
        self, connect: Callable[..., Awaitable[Any]], *, direct: bool = False, **options: Any
    ) -> Any:
        try:
            return await connect(await self._address(direct), **options)
        except psycopg.OperationalError as error:
            if not self._renewed(error):
                raise
            return await connect(await self._address(direct), **options)

    async def _address(self, direct: bool) -> str:
        if self._settings.credentials is None:
            return self.conninfo(direct=direct)
        return await asyncio.to_thread(self.conninfo, direct=direct)

    def _renewed(self, error: psycopg.OperationalError) -> bool:
        """Was a password sent and refused, and may the next one be another?"""
        connection = error.pgconn
        if connection is None or not connection.used_password:
            return False
        return self._credentials.renew((connection.password or b"").decode())

    def pool(self, size: int, *, least: int = 1) -> AsyncConnectionPool[AsyncConnection[Row]]:
        """A pool for one event loop, not yet open; broken connections are replaced on use."""
        database = self

        class Connecting(AsyncConnection[Row]):
            @classmethod
            async def connect(cls, conninfo: str = "", **kwargs: Any) -> Any:
                return await database._connect(super().connect, **kwargs)

        return AsyncConnectionPool(
            "",
            connection_class=Connecting,
            min_size=least,
            max_size=size,
            timeout=10,
            reconnect_timeout=2,  # then at the next use: its pauses double, ours must stay short
            max_idle=120,
            open=False,
            check=_check_open,
            kwargs={
                "autocommit": True,
                "row_factory": dict_row,
                "prepare_threshold": self.prepare_threshold,
            },
        )


async def _check_open(conn: AsyncConnection[Row]) -> None:
    """Raise OperationalError when the server has closed an idle connection.

    It has nothing to say on one that is open: only where there is something to read it is asked.
    """
    poller = select.poll()
    poller.register(conn.fileno(), select.POLLIN)
    if poller.poll(0):
        await AsyncConnectionPool.check_connection(conn)


def _refused(error: Exception) -> InvalidRequest:
    """In words of our own: the database's tell of its tables."""
    if isinstance(error, psycopg.IntegrityError):
        return InvalidRequest("An id in the request is taken, or names nothing that is there.")
    return InvalidRequest("A value in the request is not one that can be stored.")


@contextmanager
def reaching() -> Iterator[None]:
    """StoreUnavailable when the database is gone, InvalidRequest when it does not take a value."""
    try:
        yield
    except UNAVAILABLE as error:
        raise StoreUnavailable from error
    except REFUSED as error:
        raise _refused(error) from error


@asynccontextmanager
async def transaction(
    pool: AsyncConnectionPool[AsyncConnection[Row]],
) -> AsyncIterator[AsyncConnection[Row]]:
    """One transaction on a pooled connection.

    Not in libpq's pipeline mode: PostgreSQL would not count its silence as idle, and the locks of a
    process that freezes in it would stay.

    Raises:
        StoreUnavailable: the database cannot be reached, nothing was written.
        OutcomeUnknown: it was lost between a commit and its confirmation.
        InvalidRequest: it does not take a value.
    """
    committing = False
    try:
        async with pool.connection() as conn, conn.transaction():
            yield conn
            committing = True
    except UNAVAILABLE as error:
        raise (OutcomeUnknown if committing else StoreUnavailable) from error
    except REFUSED as error:
        raise _refused(error) from error


@asynccontextmanager
async def single(
    pool: AsyncConnectionPool[AsyncConnection[Row]],
) -> AsyncIterator[AsyncConnection[Row]]:
    """A pooled connection for one statement that writes, its own transaction.

    Raises as :func:`transaction` does; OutcomeUnknown whenever the statement was sent.
    """
    sent = False
    try:
        async with pool.connection() as conn:
            sent = True
            yield conn
    except UNAVAILABLE as error:
        raise (OutcomeUnknown if sent else StoreUnavailable) from error
    except REFUSED as error:
        raise _refused(error) from error


@asynccontextmanager
async def reading(
    pool: AsyncConnectionPool[AsyncConnection[Row]],
) -> AsyncIterator[AsyncConnection[Row]]:
    """A pooled connection for single statements, each its own transaction.

    Raises:
        StoreUnavailable: the database cannot be reached.
        InvalidRequest: it does not take a value.
    """
    with reaching():
        async with pool.connection() as conn:
            yield conn
