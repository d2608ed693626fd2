import os
import sys

import pytest
from pydantic import TypeAdapter, ValidationError

from faultwire.agents._api import Asked
from faultwire.agents.command import CommandAgent
from faultwire.agents.http import HttpAgent
from faultwire.agents.make import exports, prepared
from faultwire.agents.openai import OpenAIAgent
from faultwire.agents.python import PythonAgent
from faultwire.agents.settings import AgentSettings
from faultwire.errors import AgentError, ConfigError

ENV = {"PATH": os.environ["PATH"]}
ADAPTER = TypeAdapter(AgentSettings)


def settings(**given):
    return ADAPTER.validate_python(given)


class Shared(list):
    def __call__(self, *, unnamed=False):
        self.append(unnamed)
        return {**ENV, "HTTPS_PROXY": "http://ours"}


def made(tmp_path, **given):
    shared = Shared()
    with prepared(settings(**given), shared, folder=tmp_path, base=tmp_path) as agent:
        return agent, shared


def test_a_command(tmp_path):
    (tmp_path / "sub").mkdir()
    command = [sys.executable, "-c", "import os; print(os.getcwd(), os.environ['A'])", "{prompt}"]
    agent, shared = made(tmp_path, type="command", command=command, cwd="sub", env={"A": "1"}, timeout=5000)
    assert isinstance(agent, CommandAgent)
    assert (agent.timeout_s, shared) == (5.0, [])
    assert agent.invoke(Asked(("x",)), ENV).answer == f"{tmp_path / 'sub'} 1\n"
    turns, _ = made(tmp_path, type="command", command=["a"], stdin="turns")
    assert (turns.stdin, turns.stdin_turns, turns.takes_turns) == (False, True, True)


def test_a_server_that_we_do_not_start_takes_what_names_no_user(tmp_path):
    agent, shared = made(tmp_path, type="http", endpoint="http://u:p@localhost:1/ask?key=k", propagates=True)
    assert isinstance(agent, HttpAgent)
    assert (agent.label, agent.network, agent.concurrent) == ("http://localhost:1/ask", True, True)
    assert shared == [True]
    said = (tmp_path / "agent.env").read_text()
    assert "export HTTPS_PROXY=http://ours\n" in said
    assert "unset HOME\n" in said
    agent, _ = made(
        tmp_path, type="http", endpoint="http://localhost:1/", propagates=True, reset_endpoint="/reset"
    )
    assert (agent.concurrent, agent.resets) == (False, True)  # a reset in the middle of other cells


def test_an_openai_endpoint(tmp_path):
    agent, _ = made(tmp_path, type="openai", endpoint="https://h/v1", model="m", api_key="sk-1", system="s")
    assert isinstance(agent, OpenAIAgent)
    assert "sk-1" not in repr(agent)
    assert (agent.label, agent.concurrent) == ("https://h/v1", False)


def test_python_and_langchain(tmp_path):
    agent, _ = made(tmp_path, type="python", endpoint="m:a", python="venv/bin/python")
    assert isinstance(agent, PythonAgent)
    assert (agent.python, agent.langchain) == (str(tmp_path / "venv/bin/python"), False)
    agent, _ = made(tmp_path, type="langchain", endpoint="m:a", input_key="question")
    assert (agent.python, agent.langchain, agent.key) == ("python3", True, "question")


def test_resets(tmp_path):
    touch = [sys.executable, "-c", "open('forgot', 'w')"]
    agent, _ = made(tmp_path, type="command", command=["a", "{prompt}"], reset_command=touch)
    assert (agent.resets, agent.concurrent) == (True, False)
    agent.reset({"HTTPS_PROXY": "http://never-asked"})
    assert (tmp_path / "forgot").exists()
    fails = [sys.executable, "-c", "import sys; sys.exit('the database is locked')"]
    agent, _ = made(tmp_path, type="command", command=["a", "{prompt}"], reset_command=fails)
    with pytest.raises(AgentError) as error:
        agent.reset({})
    assert error.value.message == (
        f"the agent was not reset: `{sys.executable}` ended with 1: `the database is locked`"
    )
    assert error.value.code == "agent.reset"


def test_exports_are_inert_in_a_shell():
    said = exports({"A": "1", "GONE": "x", "BASH_FUNC_x%%": "()"}, {"A": "1", "B": "$(id) 'q'", "C d": "x"})
    assert said == "unset GONE\nexport B='$(id) '\"'\"'q'\"'\"''\n"


def test_what_makes_no_agent(tmp_path):
    for given, why in (
        ({"type": "command", "command": ["a", "{prompt}"], "cwd": "nowhere"}, "found no folder"),
        ({"type": "command", "command": ["a"]}, "found no `{prompt}` in `command`"),
        (
            {"type": "command", "command": ["a", "{prompt}"], "reset_endpoint": "/reset"},
            "expected a whole URL",
        ),
    ):
        with pytest.raises(ConfigError) as error:
            made(tmp_path, **given)
        assert why in error.value.message


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"type": "http", "endpoint": "x", "response_path": "a["}, "found `[`, expected `.name`"),
        (
            {"type": "http", "endpoint": "x", "request_template": "say {turns}"},
            "found `{turns}` inside a text",
        ),
        ({"type": "http", "endpoint": "x", "headers": {"a b": "c"}}, "expected the name of a header field"),
        (
            {"type": "http", "endpoint": "x", "headers": {"a": "b\r\nc: d"}},
            "found a line end in the value of `a`",
        ),
        ({"type": "openai", "endpoint": "x", "model": "m", "parameters": {"stream": True}}, "found `stream`"),
        ({"type": "command", "command": []}, "at least 1 item"),
        ({"type": "command", "command": ["a"], "answer_path": ""}, "found an empty path"),
    ],
)
def test_settings_that_make_no_sense_are_errors_at_load(given, why):
    with pytest.raises(ValidationError) as error:
        settings(**given)
    assert why in str(error.value)


def test_which_agents_take_conversations():
    assert settings(type="http", endpoint="x").takes_turns
    assert settings(type="langchain", endpoint="m:a").takes_turns
    for command, stdin, turns, prompt in (
        (["a", "{prompt}"], False, False, True),
        (["a"], True, False, True),
        (["a"], "turns", True, True),
        (["a", "--all={turns}"], False, True, True),
        (["a", "{turns_file}"], False, True, True),
        (["a", "{prompt_file}"], False, False, True),
        (["a"], False, False, False),
    ):
        found = settings(type="command", command=command, stdin=stdin)
        assert (found.takes_turns, found.takes_prompt) == (turns, prompt)


def test_the_pause_of_a_user(tmp_path):
    agent, _ = made(tmp_path, type="http", endpoint="http://localhost:1/", pause_between_turns=1500)
    assert agent.pause_s == 1.5
    assert made(tmp_path, type="http", endpoint="http://localhost:1/")[0].pause_s == 0.0
    at_once = {"type": "http", "endpoint": "http://localhost:1/", "request_template": '{"all": {turns}}'}
    settings(**at_once)
    with pytest.raises(ValidationError, match="found `pause_between_turns` with"):
        settings(**at_once, pause_between_turns=1)
    with pytest.raises(ValidationError, match="pause_between_turns"):
        settings(type="http", endpoint="http://localhost:1/", pause_between_turns=-1)
