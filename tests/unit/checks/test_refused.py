"""Frameworks that refuse a call whose arguments are no JSON did not run its tool."""

import pytest
from tests.unit.checks.conftest import at_limit, call, cut_call, result, said, user

from faultwire.checks._refused import refused
from faultwire.checks.tool_called import ToolCalled
from faultwire.checks.tool_not_called import ToolNotCalled
from faultwire.checks.truncated_stream_not_accepted import TruncatedStreamNotAccepted

HALF = '{"q": "17'
REFUSALS = [
    '{"error":[{"type":"json_invalid","loc":[],"msg":"Invalid JSON: EOF while parsing an object"}]}',
    "Invalid input for tool search: JSON parsing failed: Text: {.",
    "An error occurred while parsing tool arguments. Please try again with valid JSON. Error: x",
    "Error invoking tool 'search' with kwargs {} with error: q: Field required",
    "Could not parse the arguments",
    "error: the arguments are no JSON; call again",
    "Error: invalid arguments",
    '{"error": "invalid_arguments", "message": "arguments were truncated"}',
    "Malformed JSON",
]
PARSERS = [
    "error: unexpected end of JSON input",
    "invalid arguments: invalid character 'x' in string literal",
    "Error: Unterminated string in JSON at position 9 (line 1 column 10)",
    "SyntaxError: Expected ',' or '}' after property value in JSON at position 5",
    "json.decoder.JSONDecodeError: Unterminated string starting at: line 1 column 7 (char 6)",
    "Expecting value: line 1 column 1 (char 0)",
    "failed to parse arguments: EOF while parsing a string at line 1 column 9",
    "Error: expected `,` or `}` at line 1 column 9",
    '{"error": "Unexpected end-of-input: was expecting closing quote"}',
    "com.fasterxml.jackson.core.io.JsonEOFException: Unexpected end-of-input in VALUE_STRING",
    "1 validation error for Search\n  Invalid JSON: EOF while parsing a string at line 1 column 9",
    "JSON Parse error: Unterminated string",
]
"""As hand-written loops send them, from Go, Node, Python, Rust, Java and Safari's engine."""
ASKED = [user()]


def talks(wire, text, arguments=HALF):
    return [
        cut_call(1, ASKED),
        wire.talk(
            2, [*ASKED, said("", call("search", arguments)), result(text)], answer="Please say it again."
        ),
    ]


@pytest.mark.parametrize("text", [*REFUSALS, *PARSERS])
def test_the_words_of_frameworks_are_known(verdict, wire, text):
    assert refused(HALF, text)
    exchanges = talks(wire, text)
    found = verdict(TruncatedStreamNotAccepted(), exchanges, "Please say it again.")
    assert (found.verdict, found.exchanges) == ("pass", (1, 2))
    assert found.explanation == "the agent answered the unfinished call of `search` with an error"
    assert verdict(ToolCalled(tool="search"), exchanges, "").verdict == "fail"
    assert verdict(ToolNotCalled(tool="search"), exchanges, "").verdict == "unknown"


def test_sdks_that_close_the_arguments_refuse_them_all_the_same(verdict, wire):
    found = verdict(TruncatedStreamNotAccepted(), talks(wire, REFUSALS[1], "{}"), "Please say it again.")
    assert found.verdict == "pass", found.explanation


@pytest.mark.parametrize(
    "text",
    [
        "no such thing",
        "Servers want valid JSON: https://docs.example/json",
        "3 hits. The log of Monday says: could not parse the arguments",
        '{"hits": ["invalid input for tool search: JSON parsing failed"]}',
        "3 hits: unexpected end of JSON input",
        "The error of Monday was seen by Ann. It said: unexpected end of JSON input",
        "Error: no such article",
        "Error: no such article. The arguments of Ann are in another",
        "Errors and arguments are what we live by",
    ],
)
def test_a_result_of_the_tool_shows_that_it_ran(verdict, wire, text):
    exchanges = talks(wire, text)
    assert verdict(TruncatedStreamNotAccepted(), exchanges, "Please say it again.").verdict == "fail"
    assert verdict(ToolCalled(tool="search"), exchanges, "").verdict == "pass"
    assert verdict(ToolNotCalled(tool="search"), exchanges, "").verdict == "fail"


def test_a_tool_may_say_the_same_of_whole_arguments():
    assert not any(refused('{"q": 17}', text) for text in [*REFUSALS, *PARSERS])


def test_the_limit_s_half_of_a_call_may_be_refused_too(verdict, wire):
    cut = at_limit(1, ASKED)
    again = wire.talk(2, [*ASKED, said("", call("search", HALF)), result(REFUSALS[0])], answer="Sorry.")
    found = verdict(TruncatedStreamNotAccepted(count_length=True), [cut, again], "Sorry.")
    assert found.verdict == "pass", found.explanation
