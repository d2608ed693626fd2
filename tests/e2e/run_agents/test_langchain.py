"""Real LangChain and LangGraph in an environment of their own, asked as the type `langchain` asks."""

from __future__ import annotations

import json

import pytest
from tests.e2e.agents import environments
from tests.e2e.run_agents.conftest import CALM, Bench, asked, scenario

from faultwire.agents.settings import LangchainSettings
from faultwire.contract.cells import Prompt
from faultwire.errors import CaptureError

pytestmark = pytest.mark.nightly

BROKEN = scenario("broken", "  - status: {code: 400}\n    on: {kind: llm}\n")
MODULE = """
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnableLambda
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import MemorySaver
from langgraph.prebuilt import create_react_agent

model = ChatOpenAI(model="gpt-4o-mini", api_key="k", max_retries=0)
chain = ChatPromptTemplate.from_messages([("system", "Be brief."), ("user", "{question}")]) | model
graph = create_react_agent(model, [])
keeping = create_react_agent(model, [], checkpointer=MemorySaver())
plain = RunnableLambda(lambda asked: {"output": model.invoke(asked["input"]).content})
"""


@pytest.fixture(scope="module")
def python() -> str:
    return str(environments.python("langchain-1"))


def agent(world: Bench, python: str, name: str) -> object:
    (world.folder / "user_chains.py").write_text(MODULE)
    settings = LangchainSettings(endpoint=f"user_chains:{name}", python=python, timeout=120_000)
    return world.agent(settings)


@pytest.mark.parametrize("name", ["model", "chain", "graph", "plain"])
def test_every_shape_of_runnable(world: Bench, python: str, name: str) -> None:
    for one in world.play(
        agent(world, python, name), [CALM, BROKEN], [Prompt("p1", "my-mark")], concurrency=2
    ):
        (body,) = asked(one.history)
        assert "my-mark" in body
        result = one.history.agent
        if one.invocation.scenario is CALM:
            assert result.exit_code == 0, result.stderr
            assert result.answer
        else:
            assert (result.answer, result.exit_code) == ("", 1)
            assert "BadRequestError" in result.stderr


@pytest.mark.parametrize("name", ["graph", "keeping"])
def test_a_conversation_with_a_graph(world: Bench, python: str, name: str) -> None:
    prompt = Prompt("p1", "second-mark", turns=("first-mark", "second-mark"))
    (one,) = world.play(agent(world, python, name), [CALM], [prompt])
    assert one.history.agent.exit_code == 0, one.history.agent.stderr
    told = [
        [message["content"] for message in json.loads(body)["messages"] if message["role"] == "user"]
        for body in asked(one.history)
    ]
    assert told == [["first-mark"], ["first-mark", "second-mark"]]


def test_an_interpreter_without_it_states_what_is_missing(world: Bench) -> None:
    other = str(environments.python("openai-3"))
    with pytest.raises(CaptureError) as error:
        world.play(agent(world, other, "model"), [CALM], [Prompt("p1", "x")])
    assert "No module named 'langchain_core'" in error.value.message
