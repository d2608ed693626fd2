import pytest

from faultwire.checks.completes import Completes
from faultwire.events import AgentResult, History

TRACE = "Traceback (most recent call last):\n  File ...\nopenai.APIConnectionError: Connection error.\n\n"


@pytest.mark.parametrize(
    ("settings", "agent", "verdict", "words"),
    [
        ({}, {}, "pass", "the agent exited with 0"),
        ({}, {"exit_code": 1}, "fail", "the agent exited with 1"),
        (
            {},
            {"exit_code": 1, "stderr": TRACE},
            "fail",
            "the agent exited with 1; the last line of its stderr is "
            "`openai.APIConnectionError: Connection error.`",
        ),
        (
            {},
            {"exit_code": 1, "stderr": "faultwire: no answer: timed out\n"},
            "fail",
            "the agent exited with 1: `no answer: timed out`",
        ),
        ({}, {"exit_code": 1, "stderr": " \n"}, "fail", "the agent exited with 1"),
        ({"exit_codes": (0, 1)}, {"exit_code": 1}, "pass", "the agent exited with 1"),
        ({}, {"exit_code": -11}, "fail", "the agent was killed by signal 11"),
        ({}, {"exit_code": 0, "timed_out": True}, "fail", "the agent was stopped after 1.0 s"),
    ],
)
def test_verdicts(history, settings, agent, verdict, words):
    found = Completes(**settings).verdict(history("an answer", **agent))
    assert (found.verdict, found.explanation) == (verdict, words)


def test_an_unknown_ending_is_unknown():
    assert Completes().verdict(History("s", (), AgentResult("x", None, 1.0))).verdict == "unknown"
