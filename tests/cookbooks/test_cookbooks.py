"""What a newcomer runs first has to work."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from cookbooks.wait_agent.agent import graph
from cookbooks.wait_agent.scripted_model import ScriptedModel

MODEL = ScriptedModel(pause=0.0)


def calls(messages: Sequence[BaseMessage]) -> list[dict[str, Any]]:
    answer = MODEL.invoke(messages)
    return [call["args"] for call in answer.tool_calls]


def test_the_demo_shows_both_strategies_surviving_a_kill() -> None:
    done = subprocess.run(
        (sys.executable, "-m", "cookbooks.demo"), capture_output=True, text=True, timeout=100
    )
    assert done.returncode == 0, done.stderr
    resumed = re.findall(r"response\.resumed  attempt (\d) in (\S+)", done.stdout)
    assert [attempt for attempt, _ in resumed] == ["2", "2"]
    assert [conversation.endswith("::attempt-2") for _, conversation in resumed] == [False, True]
    assert done.stdout.count("response.completed") == 2
    assert done.stdout.count('You have asked me 2 things: "wait 3", "what did I ask you?".') == 2


@pytest.mark.parametrize("name", ["agent_session", "event_log"])
def test_three_lines_of_python_make_a_server(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    monkeypatch.setenv("LANGGRAPH_DURABLE_HOME", str(tmp_path_factory.mktemp("home")))
    app = import_module(f"cookbooks.{name}.server").app
    assert app.title == "langgraph-durable"


async def test_the_agent_waits_as_often_as_asked_and_then_answers() -> None:
    asked: Any = {"messages": [HumanMessage("wait 0.01 and wait for 0.02 seconds")]}
    messages = (await graph.ainvoke(asked))["messages"]
    assert sorted(m.content for m in messages if isinstance(m, ToolMessage)) == [
        "waited 0.01 seconds",
        "waited 0.02 seconds",
    ]
    assert messages[-1].content == (
        "I waited 0.01 and 0.02 seconds."
        ' You have asked me one thing: "wait 0.01 and wait for 0.02 seconds".'
    )


def test_the_model_waits_once_more_when_a_recovery_lost_the_result() -> None:
    lost = [HumanMessage("wait 5"), HumanMessage("[RECOVERY] wait(5) was called; no result")]
    known = [HumanMessage("wait 5"), HumanMessage("[RECOVERY] wait(5): waited 5 seconds")]
    assert calls(lost) == [{"seconds": 5}]
    assert calls(known) == []
    assert (
        MODEL.invoke(known).content == 'I waited 5 seconds. You have asked me one thing: "wait 5".'
    )


def test_an_earlier_wait_does_not_answer_a_later_one() -> None:
    messages = [
        HumanMessage("wait 5"),
        ToolMessage("waited 5 seconds", tool_call_id="a"),
        AIMessage("I waited 5 seconds."),
        HumanMessage("wait 2"),
    ]
    assert calls(messages) == [{"seconds": 2}]


def test_a_real_model_can_be_named(monkeypatch: pytest.MonkeyPatch) -> None:
    agent = import_module("cookbooks.wait_agent.agent")
    asked: list[str] = []
    monkeypatch.setattr("langchain.chat_models.init_chat_model", lambda name: asked.append(name))
    monkeypatch.setitem(os.environ, "MODEL", "openai:gpt-5-mini")
    agent.chat_model()
    assert asked == ["openai:gpt-5-mini"]
