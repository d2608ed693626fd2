import pytest

from faultwire.contract.silence import key_variable, missing_key, why_silent
from faultwire.events import AgentResult

OPENAI = (
    "openai.OpenAIError: The api_key client option must be set either by passing api_key to the client or by "
    "setting the OPENAI_API_KEY environment variable"
)
ANTHROPIC = (
    'TypeError: "Could not resolve authentication method. Expected either api_key or auth_token to be set."'
)


@pytest.mark.parametrize(
    ("line", "variable"),
    [
        (OPENAI, "OPENAI_API_KEY"),
        (OPENAI.replace("OPENAI", "GROQ"), "GROQ_API_KEY"),
        (ANTHROPIC, None),
        (
            "OpenAIError: Missing credentials. Please pass an `apiKey`, or set OPENAI_API_KEY.",
            "OPENAI_API_KEY",
        ),
        ("Error: The OPENAI_API_KEY environment variable is missing or empty", "OPENAI_API_KEY"),
        ("ValueError: Missing key inputs argument! To use the Google AI API, provide (`api_key`).", None),
        ("ValueError: No API key was provided.", None),
        ("botocore.exceptions.NoCredentialsError: Unable to locate credentials", None),
    ],
)
def test_an_sdk_states_that_it_has_no_key(line, variable):
    assert missing_key(f"Traceback\n  File x\n{line}\n") == line
    assert key_variable(line) == variable


@pytest.mark.parametrize(
    "stderr",
    [
        "",
        "KeyError: 'answer'",
        "openai.RateLimitError: Error code: 429",
        "ModuleNotFoundError: No module named 'openai'",
        "sqlite3.OperationalError: no such table: keys",
        "requests.exceptions.ConnectionError: connection refused",
        "\n".join([OPENAI, *["at line"] * 40]),
    ],
)
def test_other_ends_are_not_taken_for_a_missing_key(stderr):
    assert missing_key(stderr) is None


@pytest.mark.parametrize(
    ("agent", "words"),
    [
        (None, "the agent sent no traffic through the proxy"),
        (AgentResult("", 0, 1.0), "the agent sent no traffic through the proxy"),
        (AgentResult("", 0, 1.0, OPENAI), "the agent sent no traffic through the proxy"),
        (AgentResult("", 3, 1.0), "the agent exited with 3 before it sent any traffic through the proxy"),
        (
            AgentResult("", -9, 1.0, timed_out=True),
            "the agent was stopped at its timeout, and had sent no traffic through the proxy",
        ),
        (
            AgentResult("", 1, 1.0, OPENAI),
            "the agent exited with 1: its SDK found no API key (`OPENAI_API_KEY`), and sent no request",
        ),
        (
            AgentResult("", 1, 1.0, ANTHROPIC),
            "the agent exited with 1: its SDK found no API key, and sent no request",
        ),
    ],
)
def test_why_there_was_no_traffic(agent, words):
    assert why_silent(agent) == words
