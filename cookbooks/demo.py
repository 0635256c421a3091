"""Kill a server with SIGKILL in the middle of a tool call, and watch the answer arrive.

    python -m cookbooks.demo

For each recovery strategy: start a server, ask it something slow with the stock OpenAI client,
kill it while the tool runs, start it again with the same command, and go on reading from the
last event that was seen.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import httpx
from openai import OpenAI, OpenAIError

STRATEGIES = ("agent_session", "event_log")
SECONDS = 3


def main() -> int:
    for strategy in STRATEGIES:
        print(f"\n=== {strategy} " + "=" * (60 - len(strategy)))
        with tempfile.TemporaryDirectory(prefix="langgraph-durable-demo-") as home:
            play(strategy, home)
    return 0


def play(strategy: str, home: str) -> None:
    """One act: ask, kill, restart, go on reading, ask again."""
    port = free_port()
    config = f"cookbooks/{strategy}/langgraph.json"
    arguments = ("dev", "--config", config, "--port", str(port), "--log-level", "error")
    command = (sys.executable, "-m", "langgraph_durable", *arguments)
    client = OpenAI(base_url=f"http://127.0.0.1:{port}/v1", api_key="none", max_retries=5)

    with server(command, home) as process:
        say(f"I ask the agent to wait {SECONDS} seconds, in the background, and watch.")
        stream = client.responses.create(
            model="agent", input=f"wait {SECONDS}", background=True, stream=True
        )
        response_id, seen = watch_until_the_tool_runs(stream)
        say("The tool is running. kill -9 the server.")
        process.send_signal(signal.SIGKILL)
        process.wait()
        read_what_is_left(stream)

    say("The server is dead. I start it again with the same command.")
    with server(command, home):
        say(f"I go on reading after event {seen}.")
        resumed = client.responses.retrieve(response_id, stream=True, starting_after=seen)
        for event in resumed:
            show(event)
        say("The answer is there. Does the agent still know the conversation?")
        again = client.responses.create(
            model="agent", input="what did I ask you?", previous_response_id=response_id
        )
        print(f"      {again.output_text}")
        say("Stop the server with SIGTERM.")


def watch_until_the_tool_runs(stream: Any) -> tuple[str, int]:
    """The response's id and the last event seen, once a tool has been called."""
    response_id, called = "", False
    for event in stream:
        show(event)
        if event.type == "response.created":
            response_id = event.response.id
        called = called or "call" in getattr(getattr(event, "item", None), "type", "")
        if called and event.type in ("response.output_item.added", "response.output_item.done"):
            time.sleep(SECONDS / 3)  # the tool is well on its way
            return response_id, int(event.sequence_number)
    raise SystemExit("the stream ended before the tool was called")


def read_what_is_left(stream: Any) -> None:
    """A killed server cuts the connection; what had arrived is read again later by its cursor."""
    try:
        for _ in stream:
            pass
    except (OpenAIError, httpx.HTTPError) as error:
        print(f"      the connection broke: {type(error).__name__}")


def show(event: Any) -> None:
    """One line for each event, without the repetitive ones."""
    number, kind = getattr(event, "sequence_number", ""), str(event.type)
    detail = ""
    if kind == "response.resumed":
        detail = f"attempt {event.attempt} in {event.conversation_id}"
    elif kind.startswith("response.output_item"):
        detail = f"{event.item.type} {getattr(event.item, 'name', '')}"
    elif kind == "response.output_text.done":
        detail = event.text
    elif kind == "response.completed":
        detail = f"{event.response.status}"
    if not kind.endswith(".delta"):
        print(f"  {number!s:>3} {kind}  {detail}".rstrip())


@contextmanager
def server(command: Sequence[str], home: str) -> Iterator[subprocess.Popen[str]]:
    """A server process that serves; stopped gracefully in the end, if it still lives."""
    print(f"  $ langgraph-durable {' '.join(command[3:])}")
    env = {**os.environ, "LANGGRAPH_DURABLE_HOME": home}
    process = subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    with process.stdout:
        if "ready" not in process.stdout.readline():
            raise SystemExit("the server did not start")
        try:
            yield process
        finally:
            process.terminate()
            process.wait()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def say(text: str) -> None:
    print(f"\n-- {text}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
