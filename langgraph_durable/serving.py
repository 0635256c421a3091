"""One server process: an engine, its app and a socket, from start to a graceful end."""

from __future__ import annotations

import argparse
import asyncio
import atexit
import contextlib
import gc
import logging
import os
import signal
import socket
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import uvicorn

from langgraph_durable import __version__
from langgraph_durable.errors import SettingsError
from langgraph_durable.launch import Launch

if TYPE_CHECKING:
    from langgraph_durable.engine import DurableEngine

_log = logging.getLogger(__name__)

LAST_WORDS_SECONDS = 2.0
"""What a connection has, after the engine has drained, to say its last bytes."""

LEAVE_SECONDS = 0.5
"""What threads of user code have, after everything else has stopped, to end by themselves."""


def serve(launch: Launch, options: argparse.Namespace) -> int:
    """Serve until SIGTERM or Ctrl-C; blocking. Raises DurableError when it cannot start."""
    with listen(options) as listening:
        try:
            # Graphs are imported on the main thread and outside any event loop, as a script would.
            asyncio.run(_serve(launch.engine(), launch, listening, options))
        finally:
            launch.stop()
    return _ending(0)


def work(launch: Launch, options: argparse.Namespace) -> int:
    """Execute runs until SIGTERM or Ctrl-C, without HTTP; blocking."""
    try:
        asyncio.run(_work(launch.engine(), launch))
    finally:
        launch.stop()
    return _ending(0)


def _ending(code: int) -> int:
    """The exit status of a process that ends now, at the latest in ``LEAVE_SECONDS``.

    A node that is no coroutine runs in a thread that nobody can stop, and Python waits for it.
    Its run was handed back.
    """
    joined = threading.Event()
    atexit.register(joined.set)  # such hooks run behind that wait, the newest first

    def leave() -> None:
        if not joined.wait(LEAVE_SECONDS):
            _log.warning("the process ends although a thread of a node still runs")
            logging.shutdown()
            for stream in (sys.stdout, sys.stderr):
                with contextlib.suppress(OSError, ValueError):
                    stream.flush()
            os._exit(code)

    threading.Thread(target=leave, name="durable-leave", daemon=True).start()
    return code


def listen(options: argparse.Namespace) -> socket.socket:
    """The socket to serve on: inherited, or bound here. SettingsError when it is taken."""
    if options.socket_fd is not None:
        return socket.socket(fileno=options.socket_fd)
    family = socket.AF_INET6 if ":" in options.host else socket.AF_INET
    # asyncio turns Nagle's algorithm off only where the protocol is named; it costs 40 ms a time.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((options.host, options.port))
    except (OSError, OverflowError) as error:  # the latter: a port that is none
        listening.close()
        where, why = f"{options.host}:{options.port}", getattr(error, "strerror", None) or error
        raise SettingsError(f"Cannot listen on {where}: {why}") from error
    return listening


async def _serve(
    engine: DurableEngine, launch: Launch, listening: socket.socket, options: argparse.Namespace
) -> None:
    server = _server(engine, launch, options.log_level)
    try:
        await engine.start()
        server.when_ready = lambda: _ready(launch, listening, options)
        async with _stopping(engine, server):
            await server.serve([listening])
    finally:
        await engine.stop()


async def _work(engine: DurableEngine, launch: Launch) -> None:
    stopped = asyncio.Event()
    # By name, as above: what the doors make of a log is to be stored before it goes.
    engine.keepers.extend(import_module("protocol_adapter.app").keepers(engine))
    try:
        await engine.start()
        _say(f"worker ready in {launch.seconds:.1f} s, {launch.database_name}")
        gc.freeze()
        with _signals(stopped.set):
            await stopped.wait()
            await engine.stop()
    finally:
        await engine.stop()


class _Server(uvicorn.Server):
    """Uvicorn that tells when it is ready and leaves signals to us.

    Its own handling ends the process by the signal before the database is stopped.
    """

    when_ready: Callable[[], None] | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started and self.when_ready is not None:
            self.when_ready()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def _server(engine: DurableEngine, launch: Launch, log_level: str) -> _Server:
    # By name: the engine knows no HTTP, and this is its one way to the front door.
    app: Any = import_module("protocol_adapter.app").create_app(engine)
    grace = launch.settings.shutdown_grace_seconds + LAST_WORDS_SECONDS
    config = uvicorn.Config(
        app,
        http="httptools" if find_spec("httptools") else "h11",
        ws="none",
        lifespan="on",
        proxy_headers=False,
        server_header=False,
        access_log=log_level == "debug",
        log_config=None,
        timeout_graceful_shutdown=max(1, round(grace)),
    )
    return _Server(config)


@contextlib.asynccontextmanager
async def _stopping(engine: DurableEngine, server: _Server) -> AsyncIterator[None]:
    """While inside, a signal drains the engine and lets the server go with it."""
    draining: list[asyncio.Task[None]] = []

    def stop() -> None:
        draining.append(asyncio.create_task(engine.stop()))
        server.should_exit = True

    with _signals(stop):
        yield
        await asyncio.gather(*draining)


@contextlib.contextmanager
def _signals(stop: Callable[[], None]) -> Iterator[None]:
    """The first SIGTERM or SIGINT calls ``stop``; the next ends the process at once."""
    loop = asyncio.get_running_loop()
    asked: list[int] = []

    def received(number: int) -> None:
        asked.append(number)
        if len(asked) > 1:
            os._exit(128 + number)
        stop()

    numbers = (signal.SIGTERM, signal.SIGINT)
    for number in numbers:
        loop.add_signal_handler(number, received, number)
    try:
        yield
    finally:
        for number in numbers:
            loop.remove_signal_handler(number)


def _ready(launch: Launch, listening: socket.socket, options: argparse.Namespace) -> None:
    _tell_ready(launch, listening, options)
    # Modules and graphs live as long as the process: the collector looks at them no more.
    gc.freeze()


def _tell_ready(launch: Launch, listening: socket.socket, options: argparse.Namespace) -> None:
    for part, seconds in launch.took.items():
        _log.debug("%s took %.2f s", part, seconds)
    if options.parent_fd is not None:
        _join_parent(options.parent_fd)
        return
    host, port = listening.getsockname()[:2]
    _say(ready_message(launch, host, port))


def _join_parent(descriptor: int) -> None:
    """Tell the supervisor that we serve; when it dies, however, we stop."""
    parent = socket.socket(fileno=descriptor)

    def watch() -> None:
        with contextlib.suppress(OSError):
            parent.sendall(b"ready")
            parent.recv(1)
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, name="parent", daemon=True).start()


def ready_message(launch: Launch, host: str, port: int) -> str:
    """Where to go, and one line to paste."""
    shown = "127.0.0.1" if host in ("0.0.0.0", "::") else host
    url = f"http://[{shown}]:{port}" if ":" in shown else f"http://{shown}:{port}"
    url += launch.settings.mount_prefix
    graph = next(iter(launch.config.graphs))
    body = f'{{"model": "{graph}", "input": "wait 5", "stream": true}}'
    return (
        f"langgraph-durable {__version__} ready in {launch.seconds:.1f} s,"
        f" {launch.database_name}\n"
        f"  LangGraph  {url}\n"
        f"  Responses  {url}/v1/responses\n"
        f"  try        curl -N {url}/v1/responses -d '{body}'"
    )


def _say(text: str) -> None:
    print(text, flush=True)
