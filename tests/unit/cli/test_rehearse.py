"""`exec --dry-run`: a profile against recorded traffic, without a network."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from faultwire.cli import main
from faultwire.cli._rehearse import lines, rehearse
from faultwire.events import Exchange, Request, Response
from faultwire.profile.load import inline, merge
from faultwire.profile.model import Profile
from faultwire.tape.read.reader import TapeReader
from faultwire.tape.record.writer import TapeWriter

HEADERS = (("content-type", "application/json"),)
ANSWER = json.dumps(
    {
        "model": "m",
        "choices": [{"index": 0, "message": {"content": "one two three four"}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 4, "total_tokens": 5},
    }
).encode()


def request(text: str, path: str = "/v1/chat/completions") -> Request:
    body = json.dumps({"model": "m", "messages": [{"role": "user", "content": text}]}).encode()
    return Request("POST", "https", "api.openai.com", 443, path, HEADERS, body)


@pytest.fixture
def tape(tmp_path: Path) -> Path:
    path = tmp_path / "t.tape"
    writer = TapeWriter.create(path, origin="test", settings={})
    writer.open_session("s", profile="calm", profile_digest="", seed=1)
    for number, text in enumerate(("first", "second", "third"), 1):
        asked = request(text)
        recording = writer.record(Exchange("s", number, asked, "llm", "openai_chat", "openai"))
        recording.request(asked)
        recording.upstream_head(Response(200, "OK", HEADERS))
        recording.upstream_chunk(ANSWER)
        recording.end("complete", None, ())
    writer.close_session("s")
    writer.close()
    return path


def outcomes(tape: Path, *faults: str) -> list[list[tuple[str, str]]]:
    profile: Profile = merge([inline(text) for text in faults])
    with TapeReader.open(tape) as reader:
        return [[(f.id, f.outcome) for f in one.faults] for one in rehearse(reader, profile, 1)]


def test_what_would_fire_and_what_would_not(tape: Path) -> None:
    assert outcomes(tape, "status: {code: 503, calls: [2]}", "cut_stream: {after_events: 1}") == [
        [("status", "skipped"), ("cut_stream", "inapplicable")],
        [("status", "fired"), ("cut_stream", "inapplicable")],
        [("status", "skipped"), ("cut_stream", "inapplicable")],
    ]


def test_faults_on_the_answer_are_tried_on_the_recorded_one(tape: Path) -> None:
    assert outcomes(tape, "truncate_response: {max_tokens: 2}") == [[("truncate_response", "fired")]] * 3
    assert outcomes(tape, "truncate_response: {max_tokens: 50}") == [[("truncate_response", "no_effect")]] * 3
    assert outcomes(tape, "reset: {at: {after_bytes: 10}}") == [[("reset", "fired")]] * 3
    assert outcomes(tape, "hang") == [[("hang", "fired")]] * 3


def test_answers_of_the_proxy_itself_go_through_the_faults_on_connections(tape: Path) -> None:
    both = ("status: {code: 503}", "reset: {at: {after_bytes: 10}}")
    assert outcomes(tape, *both) == [[("reset", "fired"), ("status", "fired")]] * 3
    slowed = outcomes(tape, "status: {code: 503}", "bandwidth: {bytes_per_s: 1000}")
    assert slowed == [[("bandwidth", "fired"), ("status", "fired")]] * 3
    # An answer that is too short is never reset, and the recorded one is not taken in its place.
    far = f"reset: {{at: {{after_bytes: {len(ANSWER) - 1}}}}}"
    assert outcomes(tape, far) == [[("reset", "fired")]] * 3
    assert [dict(line)["reset"] for line in outcomes(tape, "empty_body", far)] != ["fired"] * 3


def test_without_faults_no_decision_is_listed(tape: Path) -> None:
    with TapeReader.open(tape) as reader:
        told = list(lines(rehearse(reader, Profile(name="calm"), 1)))
    assert len(told) == 4
    assert told[0] == "s 1  POST https://api.openai.com/v1/chat/completions (llm)"
    assert told[-1] == "0 fault decisions on 3 recorded exchanges would have fired"


def test_the_command_needs_no_command(tape: Path) -> None:
    arguments = ["exec", "--dry-run", str(tape), "--fault", "status: {code: 503, max_times: 1}"]
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 0, result.output
    assert "    fired        status, call 1 matches: answered 503\n" in result.stdout
    assert "    skipped      status, fired 1 of at most 1 time\n" in result.stdout
    assert result.stdout.endswith("1 fault decision on 3 recorded exchanges would have fired\n")


def test_a_tape_that_is_not_there(tmp_path: Path) -> None:
    result = CliRunner().invoke(main, ["exec", "--dry-run", str(tmp_path / "no.tape")])
    assert result.exit_code == 2
