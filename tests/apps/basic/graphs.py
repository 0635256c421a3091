"""Small graphs for contract tests: one per thing that a client can see."""

from __future__ import annotations

import asyncio
import operator
from collections.abc import Iterator
from typing import Annotated, Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    ToolMessage,
    message_chunk_to_message,
)
from langchain_core.messages.tool import tool_call_chunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langgraph.config import get_stream_writer
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.types import interrupt
from typing_extensions import TypedDict


def chain(
    state: type[Any], *, context: type[Any] | None = None, **nodes: Any
) -> StateGraph[Any, Any, Any, Any]:
    """A graph that runs ``nodes`` one after the other."""
    builder = StateGraph(state, context)
    return builder.add_sequence(list(nodes.items())).add_edge(START, next(iter(nodes)))


class Echo(TypedDict, total=False):
    x: Any
    y: Any


def say(state: Echo) -> Echo:
    return {"y": state.get("x")}


def fail(state: Echo) -> Echo:
    raise ValueError("boom")


echo = chain(Echo, echo=say).compile()
boom = chain(Echo, boom=fail).compile()


class Steps(TypedDict, total=False):
    items: Annotated[list[str], operator.add]
    delay: float
    n: int


def step(number: int) -> Any:
    async def run(state: Steps) -> Steps:
        get_stream_writer()({"step": number})
        await asyncio.sleep(state.get("delay", 0))
        return {"items": [f"s{number}"]}

    return run


async def emit(state: Steps) -> Steps:
    write = get_stream_writer()
    for number in range(state.get("n", 200)):
        write({"token": f"t{number}"})
        await asyncio.sleep(state.get("delay", 0))
    return {"items": ["done"]}


steps = chain(Steps, **{f"n{number}": step(number) for number in range(8)}).compile()
tokens = chain(Steps, emit=emit).compile()


class Slow(TypedDict, total=False):
    tag: str
    fail_at: int
    delay: float
    steps: Annotated[list[str], operator.add]


def slow_step(number: int) -> Any:
    async def run(state: Slow) -> Slow:
        write = get_stream_writer()
        write({"node": number, "phase": "start"})
        await asyncio.sleep(state.get("delay", 0))
        if state.get("fail_at") == number:
            raise ValueError(f"boom at {number}")
        write({"node": number, "phase": "end"})
        return {"steps": [f"{state.get('tag', '')}{number}"]}

    return run


slow = chain(Slow, **{f"n{number}": slow_step(number) for number in range(1, 6)}).compile()


async def reply(state: MessagesState) -> dict[str, Any]:
    model = GenericFakeChatModel(messages=iter([AIMessage("You said something.")]))
    return {"messages": [await model.ainvoke(state["messages"])]}


chat = chain(MessagesState, chat=reply).compile()


class Calculator(BaseChatModel):
    """Asks for the tool ``add`` first, then tells its result, chunk by chunk."""

    @property
    def _llm_type(self) -> str:
        return "calculator"

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        for chunk in self._chunks(messages[-1]):
            yield ChatGenerationChunk(message=chunk)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        first, *rest = self._chunks(messages[-1])
        whole = message_chunk_to_message(sum(rest, start=first))
        return ChatResult(generations=[ChatGeneration(message=whole)])

    def _chunks(self, last: BaseMessage) -> list[AIMessageChunk]:
        if isinstance(last, ToolMessage):
            words = ("The ", "answer ", "is ", str(last.content))
            return [AIMessageChunk(content=word) for word in words]
        heads = tool_call_chunk(name="add", args='{"a": 2', id="call_1", index=0)
        tails = tool_call_chunk(args=', "b": 3}', index=0)
        return [AIMessageChunk(content="", tool_call_chunks=[part]) for part in (heads, tails)]


async def think(state: MessagesState) -> dict[str, Any]:
    return {"messages": [await Calculator().ainvoke(state["messages"])]}


def add(state: MessagesState) -> dict[str, Any]:
    asked = state["messages"][-1]
    assert isinstance(asked, AIMessage)
    [call] = asked.tool_calls
    total = call["args"]["a"] + call["args"]["b"]
    return {"messages": [ToolMessage(str(total), name="add", tool_call_id=call["id"])]}


def next_step(state: MessagesState) -> str:
    last = state["messages"][-1]
    return "tool" if isinstance(last, AIMessage) and last.tool_calls else END


agent = (
    StateGraph(MessagesState)
    .add_node("model", think)
    .add_node("tool", add)
    .add_edge(START, "model")
    .add_conditional_edges("model", next_step, ["tool", END])
    .add_edge("tool", "model")
    .compile()
)


class Question(TypedDict, total=False):
    q: str
    a: Any


def ask(state: Question) -> Question:
    return {"a": interrupt({"question": state.get("q")})}


def shout(state: Question) -> Question:
    return {"a": f"{state.get('a')}!"}


hitl = chain(Question, ask=ask).compile()
inside = chain(Question, person=hitl, shout=shout).compile()
nested = chain(Question, middle=inside, shout=shout).compile()


class Approval(TypedDict, total=False):
    request: str
    decision: str
    log: Annotated[list[str], operator.add]


def prepare(state: Approval) -> Approval:
    return {"log": ["prepared"]}


def decide(state: Approval) -> Approval:
    decision = interrupt({"question": "approve?", "request": state.get("request")})
    return {"decision": decision, "log": [f"decided:{decision}"]}


def finish(state: Approval) -> Approval:
    return {"log": ["finished"]}


approval = chain(Approval, prepare=prepare, ask=decide, finish=finish).compile()


class Answers(TypedDict, total=False):
    answers: Annotated[list[str], operator.add]


def question(name: str) -> Any:
    def run(state: Answers) -> Answers:
        return {"answers": [f"{name}:{interrupt(name)}"]}

    return run


two_questions = (
    StateGraph(Answers)
    .add_node("left", question("left"))
    .add_node("right", question("right"))
    .add_edge(START, "left")
    .add_edge(START, "right")
    .compile()
)


class Child(TypedDict, total=False):
    x: int
    trail: Annotated[list[str], operator.add]


def first(state: Child) -> Child:
    return {"x": state["x"] + 1, "trail": ["c1"]}


def second(state: Child) -> Child:
    get_stream_writer()({"in": "c2", "x": state["x"]})
    return {"x": state["x"] * 10, "trail": ["c2"]}


class Parent(TypedDict, total=False):
    x: int


def before(state: Parent) -> Parent:
    return {"x": state["x"] + 1}


def after(state: Parent) -> Parent:
    return {"x": state["x"] - 1}


child = chain(Child, c1=first, c2=second).compile()
subgraph = chain(Parent, p1=before, child=child, p2=after).compile()
