"""`faultwire.config.agent`: our types and Flakestorm's."""

from __future__ import annotations

import pytest

from faultwire.agents.settings import (
    CommandSettings,
    HttpSettings,
    LangchainSettings,
    OpenAISettings,
    PythonSettings,
)
from faultwire.config.agent import FLAKESTORM, TYPES

PROMPTS = "golden_prompts: [hi]\n"


@pytest.fixture
def agent(config):
    return lambda text: config("", base=f"agent: {text}\n{PROMPTS}").agent


@pytest.fixture
def wrong(refused):
    return lambda text: refused("", base=f"agent: {text}\n{PROMPTS}")


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("{command: [a, '{prompt}']}", CommandSettings),
        ("{type: command, command: [a], stdin: true}", CommandSettings),
        ("{command: [a, '{prompt_file}']}", CommandSettings),
        ("{endpoint: 'http://localhost:8000/invoke'}", HttpSettings),
        ("{type: http, endpoint: 'https://h/', method: get}", HttpSettings),
        ("{type: openai, endpoint: 'http://h/v1', model: m}", OpenAISettings),
        ("{type: python, endpoint: 'pkg.mod:agent'}", PythonSettings),
        ("{type: langchain, endpoint: 'mod:chain'}", LangchainSettings),
    ],
)
def test_types(agent, text, kind):
    assert type(agent(text)) is kind


def test_flakestorms_whole_http_shape(agent):
    found = agent(
        """
  endpoint: http://localhost:8000/invoke
  type: http
  method: post
  request_template: |
    {"message": "{prompt}", "stream": false}
  response_path: "$.choices[0].message"
  parse_structured_input: true
  query_params: {lang: en, n: 3}
  headers: {Content-Type: application/json}
  timeout: 60000
  reset_endpoint: http://localhost:8000/reset
"""
    )
    assert isinstance(found, HttpSettings)
    assert (found.method, found.timeout, found.query_params) == ("POST", 60000, {"lang": "en", "n": "3"})
    assert found.request_template == '{"message": "{prompt}", "stream": false}\n'


def test_a_command_in_one_text_is_cut_into_words(agent):
    found = agent("{command: 'python agent.py \"two words\" {prompt}', reset_command: rm -f state}")
    assert found.command == ("python", "agent.py", "two words", "{prompt}")
    assert found.reset_command == ("rm", "-f", "state")


def test_variables_of_a_process_may_be_numbers(agent):
    found = agent("{command: [a, '{prompt}'], env: {PORT: 80, DEBUG: true, NAME: x}}")
    assert found.env == {"PORT": "80", "DEBUG": "true", "NAME": "x"}


@pytest.mark.parametrize(
    "text",
    [
        "{command: [a, '{prompt}'], env: {'A=B': x}}",
        "{type: python, endpoint: 'm:f', env: {'': x}}",
        "{endpoint: 'http://h/', start: {command: serve, ready_url: 'http://h/', env: {'A=B': x}}}",
    ],
)
def test_invalid_variable_names_are_reported_before_the_run(refused, text):
    (said,) = refused(f"agent: {text}\ngolden_prompts: [a]", base='version: "2.0"\n')
    assert "expected the name of a variable: not empty, and without `=`" in said
    assert said.startswith("faultwire.yaml:2:")


def test_working_directories_start_from_the_files_folder(agent, tmp_path):
    assert agent("{command: [a, '{prompt}']}").cwd == str(tmp_path)
    assert agent("{type: python, endpoint: 'm:f', cwd: sub}").cwd == str(tmp_path / "sub")
    start = "{endpoint: 'http://h/', start: {command: serve --port 1, ready_url: 'http://h/', cwd: s}}"
    found = agent(start).start
    assert (found.command, found.cwd) == (("serve", "--port", "1"), str(tmp_path / "s"))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("~", "found no `agent`, expected the program under test"),
        ("[]", "found a list for `agent`, expected a mapping"),
        ("{type: htpp}", "found `htpp` for `agent.type`, expected `command`, `http`, `openai`"),
        ("{type: command}", "found no `command` in `agent`, expected a list of texts"),
        ("{type: http}", "found no `endpoint` in `agent`, expected text"),
        ("{type: python}", "found no `endpoint` in `agent`, expected text"),
        ("{type: openai, endpoint: 'http://h/'}", "found no `model` in `agent`, expected text"),
        ("{command: [a]}", "found no `{prompt}` in `agent.command`, expected a place for the prompt"),
        ("{command: []}", "found an empty `agent.command`, expected a program"),
        ("{command: 'a \"b {prompt}'}", "found an unclosed quote in `agent.command`"),
        ("{command: [a, '{prompt}'], timeout: 0}", "found `0` for `agent.timeout`, expected an integer from"),
        ("{command: [a, '{prompt}'], timeuot: 1}", "found key `timeuot`, expected a key of `agent`"),
        ("{endpoint: 'localhost:8000'}", "found `localhost:8000` for `agent.endpoint`, expected a URL"),
        ("{endpoint: 'http://h/', method: FETCH}", "found `FETCH` for `agent.method`, expected `GET`"),
        ("{endpoint: 'http://h/', timeout: fast}", "found `fast` for `agent.timeout`, expected an integer"),
        (
            "{endpoint: 'http://h/', reset_function: reset}",
            "found `reset` for `agent.reset_function`, expected `mod",
        ),
        (
            "{endpoint: 'http://h/', reset_function: 'm:f', reset_endpoint: /reset}",
            "found `reset_function` beside `reset_endpoint`, expected one way to reset the agent",
        ),
    ],
)
def test_what_is_refused(wrong, text, said):
    found = wrong(text)
    assert any(said in line for line in found), found


def test_unknown_keys_of_flakestorms_types_are_warnings(warned):
    base = "agent: {endpoint: 'http://h/', timeuot: 1, retries: 3, stdin: true}\n" + PROMPTS
    assert warned("", base=base) == [
        "faultwire.yaml:1:32: `timeuot` is not a key of `agent` and is ignored; did you mean `timeout`?",
        "faultwire.yaml:1:44: `retries` is ignored in `agent`: set `advanced: {retries: …}`",
        "faultwire.yaml:1:56: `stdin` is ignored by agent",
    ]


def test_a_template_without_a_place_is_a_warning(warned):
    base = "agent: {endpoint: 'http://h/', request_template: '{\"a\": 1}'}\n" + PROMPTS
    (said,) = warned("", base=base)
    assert said.endswith("found no `{prompt}` in `agent.request_template`: the agent never sees a prompt")


def test_every_type_has_a_model():
    assert set(FLAKESTORM) < set(TYPES) == {"command", "http", "openai", "python", "langchain"}
