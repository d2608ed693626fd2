from dataclasses import dataclass, replace

import pytest

from faultwire.contract.cells import Invocation, Prompt, Scenario
from faultwire.errors import CaptureError, ConfigError
from faultwire.events import AgentResult, History, Recorded, Request
from faultwire.profile.model import Profile
from faultwire.runner.setup import flaw

NO_KEY = "openai.OpenAIError: The api_key client option must be set by OPENAI_API_KEY"
HERE = "found no `answer.text` in an object with `output`"


@dataclass(frozen=True)
class Asked:
    network: bool = False


def exchange():
    values = dict.fromkeys(("protocol", "provider", "tool", "upstream", "delivered", "error"))
    request = Request("POST", "https", "h", 443, "/")
    numbers = {"number": 1, "attempt": 0, "started_ms": 0, "duration_ms": 0}
    return Recorded(session="s", kind="llm", request=request, ending="complete", **numbers, **values)


def played(*agents, traffic=True, origin=None, voids=()):
    exchanges = (exchange(),) if traffic else ()
    call = Invocation(Scenario("calm", Profile(name="calm")), Prompt("p", "hi", origin=origin))
    return [(call, History("s", exchanges, agent, voids=voids)) for agent in agents]


def ended(code=0, **changes):
    return AgentResult("", code, 2.0, **changes)


def test_answers_that_are_never_where_they_are_looked_for_are_a_mistake_of_the_file():
    wrong = ended(1, misplaced=HERE)
    error = flaw(played(wrong, wrong), Asked(network=True))
    assert isinstance(error, ConfigError)
    assert error.exit_code == 2
    assert error.code == "config.answer_not_found"
    assert error.message == f"none of 2 answers of the agent stands where `agent` looks for it: {HERE}"
    assert error.hint.startswith("correct `response_path`")
    one = flaw(played(wrong, ended(1)), Asked())
    assert one.message.startswith("the only answer of the agent does not stand where")
    assert one.hint.startswith("correct `answer_path` or `answer_file`")


@pytest.mark.parametrize(
    "results",
    [
        (),
        played(ended(1, misplaced=HERE), ended(0)),
        played(ended(1), ended(1)),
        played(ended(1, misplaced=HERE), voids=("the engine ended",)),
        played(ended(1, misplaced=HERE), origin="malformed_json") + played(ended(0)),
    ],
)
def test_one_answer_that_was_found_shows_that_the_place_is_right(results):
    assert flaw(results, Asked()) is None


def test_a_changed_prompt_proves_nothing_of_the_place():
    wrong = played(ended(1, misplaced=HERE))
    changed = played(ended(0), origin="malformed_json")
    assert isinstance(flaw(wrong + changed, Asked()), ConfigError)
    assert flaw(played(ended(1, misplaced=HERE), origin="empty"), Asked()) is None


def test_a_missing_key_is_named():
    results = played(ended(1, stderr=f"Traceback\n{NO_KEY}\n"), traffic=False)
    error = flaw(results, Asked())
    assert isinstance(error, CaptureError)
    assert (error.code, error.exit_code) == ("capture.no_key", 3)
    assert "ended before its first request, because its SDK has no API key" in error.message
    assert "set `OPENAI_API_KEY`" in error.hint
    assert flaw(played(ended(1, stderr=NO_KEY)), Asked()) is None, "it sent something"
    mixed = results + played(ended(1, stderr="KeyError"), traffic=False)
    assert flaw(mixed, Asked()).code == "capture.no_traffic"
    assert flaw(played(ended(0, stderr=NO_KEY), traffic=False), Asked()).code == "capture.no_traffic"


def test_a_timeout_is_named():
    late = ended(-9, timed_out=True, stderr="waiting for input")
    error = flaw(played(late, late, traffic=False), Asked())
    assert error.code == "capture.timeout"
    assert error.message == (
        "the agent ran 2 times, and was stopped at its timeout each time (after 2.0 s) without a request "
        "through the proxy; its last output line: `waiting for input`"
    )
    assert "`agent.timeout`" in error.hint
    assert flaw(played(late, ended(0), traffic=False), Asked()).code == "capture.no_traffic"


def test_a_server_that_refuses_every_request_was_never_at_work():
    refused = ended(1, stderr="faultwire: the agent answered HTTP 404 Not Found: nothing here")
    error = flaw(played(refused, refused, traffic=False), Asked(network=True))
    assert "was asked 2 times and was never at work: `answered HTTP 404 Not Found" in error.message
    assert "`agent.endpoint`" in error.hint
    other = flaw(played(replace(refused, exit_code=0), traffic=False), Asked(network=True))
    assert other.message.startswith("the agent ran once and sent no traffic through the proxy")
