"""What `faultwire tape list -l` and `tape show` state about tokens and cost."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from faultwire.cli import main
from faultwire.events import Exchange, Request, Response
from faultwire.tape.record.writer import TapeWriter
from faultwire.wire.transcript.prices import builtin

JSON = (("content-type", "application/json"),)
DAY = builtin().as_of
USAGE = {
    "input_tokens": 1000,
    "output_tokens": 500,
    "input_tokens_details": {"cached_tokens": 800},
    "output_tokens_details": {"reasoning_tokens": 300},
}
COST = "0.006500"  # gpt-4o: 200 at 2.5, 800 at 1.25, 500 at 10 dollars for a million tokens
TEXT = [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "391"}]}]


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    folder = tmp_path / "shop"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def run(*args: str) -> Result:
    return CliRunner().invoke(main, list(args))


def answer(status: str, **changes: Any) -> dict[str, Any]:
    done = status == "completed"
    made = {"id": "resp_1", "status": status, "model": "gpt-4o", "output": TEXT if done else []}
    return {**made, "usage": USAGE if done else None, **changes}


def record(name: str, *exchanges: tuple[str, dict[str, Any]]) -> None:
    """A tape: for each exchange the method, and the answer."""
    path = Path(".faultwire/tapes") / f"{name}.tape"
    writer = TapeWriter.create(path, origin=f"shop/{name}", settings={}, key=b"k" * 32)
    writer.open_session("s", profile="calm", profile_digest="d", seed=7)
    for number, (method, said) in enumerate(exchanges, 1):
        body = None if method == "GET" else b'{"model":"gpt-4o","input":"17 times 23?","background":true}'
        at = "/v1/responses/resp_1" if method == "GET" else "/v1/responses"
        request = Request(method, "https", "api.openai.com", 443, at, JSON, body)
        recording = writer.record(
            Exchange("s", number, request, "llm", provider="openai", protocol="openai_responses")
        )
        recording.request(request)
        recording.upstream_head(Response(200, "OK", JSON))
        recording.upstream_chunk(json.dumps(said).encode())
        recording.end("complete", None, ())
    writer.close_session("s")
    writer.close()


def cost() -> str:
    (listed,) = json.loads(run("tape", "list", "-l", "--format", "json").stdout)
    return str(listed["cost"])


def test_a_fetched_answer_is_shown_and_paid_once() -> None:
    record("t", ("POST", answer("queued")), *[("GET", answer("completed"))] * 3)
    assert cost() == f"${COST} (prices of {DAY})"
    first = run("tape", "show", "t", "--exchange", "1").stdout
    assert "finished with queued" in first
    assert "cost unknown" in first
    assert "ended early" not in first
    fetched = run("tape", "show", "t", "--exchange", "2").stdout
    assert "assistant  391" in fetched
    assert f"$0.0065 at prices of {DAY}" in fetched
    assert "1000 tokens in (800 cached), 500 out (300 reasoning)" in fetched


def test_an_answer_that_was_never_fetched_has_no_known_cost() -> None:
    record("t", ("POST", answer("queued")), ("GET", answer("in_progress")))
    assert cost() == "unknown"


def test_what_is_not_priced_stands_beside_what_is() -> None:
    record("t", ("POST", answer("completed")), ("POST", answer("completed", model="somebodys-own")))
    assert cost() == f"${COST} (prices of {DAY}) + 1 unknown"


def test_a_sum_names_the_dates_of_both_tables(tmp_path: Path) -> None:
    record("t", ("POST", answer("completed")), ("POST", answer("completed", model="somebodys-own")))
    table = tmp_path / "table.yaml"
    table.write_text(
        "as_of: 2020-01-02\nmodels: {openai: {somebodys-own: {input: 1, output: 1, cache_read: 1}}}\n"
    )
    assert run("prices", "update", str(table), "--force").exit_code == 0
    assert cost() == f"$0.008000 (prices of 2020-01-02 and {DAY})"
    shown = run("tape", "show", "t", "--exchange", "2").stdout
    assert "at prices of 2020-01-02" in shown


def test_an_import_keeps_every_part_of_the_usage(tmp_path: Path) -> None:
    request = {
        "method": "POST",
        "url": "https://api.openai.com/v1/responses",
        "httpVersion": "HTTP/1.1",
        "headers": [],
        "postData": {"mimeType": "application/json", "text": '{"model":"gpt-4o","input":"17 times 23?"}'},
    }
    content = {"mimeType": "application/json", "text": json.dumps(answer("completed"))}
    response = {
        "status": 200, "statusText": "OK", "httpVersion": "HTTP/1.1", "headers": [
            {"name": "content-type", "value": "application/json"}
        ], "content": content,
    }  # fmt: skip
    entry = {"startedDateTime": "2026-01-01T00:00:00Z", "time": 5, "request": request, "response": response}
    log = {"version": "1.2", "creator": {"name": "x", "version": "1"}, "entries": [entry]}
    (tmp_path / "run.har").write_text(json.dumps({"log": log}))
    done = run("tape", "import", str(tmp_path / "run.har"), "-o", ".faultwire/tapes/t.tape")
    assert done.exit_code == 0, done.output
    assert cost() == f"${COST} (prices of {DAY})"
    assert (
        "1000 tokens in (800 cached), 500 out (300 reasoning)"
        in run("tape", "show", "t", "--exchange", "1").stdout
    )
    assert run("tape", "export", "t", "--to", "otlp", "-o", "t.json").exit_code == 0
    spans = Path("t.json").read_text()
    for name, count in (
        ("gen_ai.usage.input_tokens", 1000),
        ("gen_ai.usage.cache_read.input_tokens", 800),
        ("gen_ai.usage.reasoning.output_tokens", 300),
    ):
        assert json.dumps({"key": name, "value": {"intValue": str(count)}}, separators=(",", ":")) in spans
    assert "gen_ai.usage.cache_creation" not in spans, "what was not counted is not said to be 0"
    assert f'{{"stringValue":"{DAY}"}}' in spans
