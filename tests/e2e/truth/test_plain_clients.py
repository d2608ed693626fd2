"""Sentences of `exec` on plain HTTP clients: each beside a run that is nearly the same, of which it is false.

An SDK sends what its authors thought of. Here the requests are written out, so that the case in which a
sentence is false differs from the one in which it is true in one header, one member or one request alone.
"""

from __future__ import annotations

import http.server
import json
import shlex
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import compiled
import environments
import harness
import pytest

HERE = Path(__file__).parent
CHAT, MESSAGES = "https://api.openai.com/v1/chat/completions", "https://api.anthropic.com/v1/messages"
JSON = {"content-type": "application/json"}
QUESTION = "Name some rivers."
FIRST = "trigger: {first: 1}"
Request = dict[str, Any]


def request(url: str, body: dict[str, Any], **headers: str) -> Request:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return {"url": url, "headers": JSON | named, "body": json.dumps(body)}


def chat(text: str = QUESTION, *, url: str = CHAT, key: str = "sk-one", **more: Any) -> Request:
    body = {"model": "gpt-4o-mini", "messages": [{"role": "user", "content": text}], **more}
    return request(url, body, authorization=f"Bearer {key}")


def talk(url: str, *messages: dict[str, Any], **more: Any) -> Request:
    body = {"model": "gpt-4o-mini", "messages": messages, **more}
    return request(url, body, authorization="Bearer sk-one")


def claude(**headers: str) -> Request:
    body = {
        "model": "claude-sonnet-4-5",
        "max_tokens": 99,
        "messages": [{"role": "user", "content": QUESTION}],
    }
    return request(MESSAGES, body, x_api_key="sk-ant-one", anthropic_version="2023-06-01", **headers)


def command(client: str, groups: list[list[Request]], code: int) -> list[str]:
    """The program of one client that sends these."""
    told = json.dumps(groups)
    if client == "node":
        return ["node", str(HERE / "sending.mjs"), told, str(code)]
    if client == "go":
        return [*compiled.go("go_openai", HERE / "sending.go"), told, str(code)]
    if client == "curl":
        return ["sh", "-c", "\n".join([*map(_curls, groups), f"exit {code}"])]
    environment = {"httpx": "openai-2", "aiohttp": "aiohttp-3"}[client]
    return [str(environments.python(environment)), str(HERE / "sending.py"), client, told, str(code)]


def _curls(group: list[Request]) -> str:
    lines = []
    for one in group:
        fields = [part for item in one["headers"].items() for part in ("-H", ": ".join(item))]
        lines.append(
            shlex.join([harness.curl(), "-sS", "-o", "/dev/null", *fields, "-d", one["body"], one["url"]])
        )
    return " & ".join(lines) + (" & wait" if len(lines) > 1 else "")


Answer = tuple[int, dict[str, Any]]


@contextmanager
def serving(*answers: Answer) -> Iterator[str]:
    """A server on this machine with these answers in turn, and then the last one; its URL."""
    given = iter(answers)
    last = answers[-1]

    class Server(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("content-length") or 0))
            status, document = next(given, last)
            body = json.dumps(document).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_arguments: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://localhost:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()


def said(message: dict[str, Any], reason: str = "stop") -> Answer:
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": reason}
    return 200, {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}


REFUSED: Answer = (400, {"error": {"message": "Unknown parameter: 'messages[0].name'."}})
LATE = f"{{timeout_after_commit: {{}}, on: {{host: localhost}}, {FIRST}}}"
DOWN, WRONG = f"{{status: {{code: 503}}, {FIRST}}}", f"{{status: {{code: 400}}, {FIRST}}}"
LIMITED = f"{{rate_limit: {{retry_after_s: 30}}, {FIRST}}}"
EARLY = f"{{early_end: {{after_events: 4}}, {FIRST}}}"
DOWN_THERE = "{status: {code: 503}, on: {host: localhost}}"
POISONED = f"{{memory_poisoning: {{}}, {FIRST}}}"
INPUT = "{ let rivers = 3; }"
ASKED, ANSWERED = {"role": "user", "content": QUESTION}, {"role": "assistant", "content": "The Danube."}
MORE = {"role": "user", "content": "And more?"}


OPERATIONS = (
    "DescribeEndpoints", "DescribeLimits", "ListBackups", "ListContributorInsights", "ListExports",
    "ListGlobalTables", "ListImports", "ListTables",
)  # fmt: skip


def order(url: str, *, key: str | None = None, **headers: str) -> Request:
    named = {} if key is None else {"idempotency_key": key}
    return request(f"{url}/orders", {"item": "tea", **named}, **headers)


def of_aws(url: str, operation: str) -> Request:
    return request(f"{url}/", {}, x_amz_target=f"DynamoDB_20120810.{operation}")


def called(kind: str, key: str, given: str = INPUT) -> tuple[dict[str, Any], dict[str, Any]]:
    call = {"id": "call_1", "type": kind, kind: {"name": "run", key: given}}
    return {"content": None, "tool_calls": [call]}, {"role": "tool", "tool_call_id": "call_1", "content": "3"}


FUNCTION, CUSTOM = called("function", "arguments"), called("custom", "input")
CALLED = called("function", "arguments", '{"rivers": 3}')


class Case(NamedTuple):
    """A sentence, a client, and what it sends where the sentence is true, and where it is false."""

    words: str
    client: str
    true: Callable[[str], list[list[Request]]]
    false: Callable[[str], list[list[Request]]]
    faults: tuple[str, ...] = ()
    answers: tuple[Answer, ...] = ((200, {}),)
    answers_where_false: tuple[Answer, ...] | None = None
    code: int = 0
    faults_where_false: tuple[str, ...] | None = None


CASES = {
    "key in the body": Case(
        "sent the same POST again without the same idempotency key", "curl",
        lambda url: [[order(url)], [order(url)]],
        lambda url: [[order(url, key="a1")], [order(url, key="a1")]],
        (LATE,),
    ),
    "key of another name": Case(
        "sent the same POST again without the same idempotency key", "httpx",
        lambda url: [[order(url, paypal_request_id="a1")], [order(url, paypal_request_id="a2")]],
        lambda url: [[order(url, paypal_request_id="a1")], [order(url, paypal_request_id="a1")]],
        (LATE,),
    ),
    "mended by a header": Case(
        "was sent again after status 400", "go",
        lambda _: [[claude()], [claude()]],
        lambda _: [[claude()], [claude(anthropic_beta="context-1m-2025-08-07")]],
        (WRONG,),
    ),
    "another key's limit": Case(
        "exchange 2 came before that time had passed", "go",
        lambda _: [[chat()], [chat()]],
        lambda _: [[chat()], [chat(key="sk-two")]],
        (LIMITED,),
    ),
    "other operations": Case(
        "8 attempts of one call to localhost", "curl",
        lambda url: [[of_aws(url, "ListTables")]] * 8,
        lambda url: [[of_aws(url, one)] for one in OPERATIONS],
        (DOWN_THERE,),
    ),
    "by a change that lasts": Case(
        "answered 400, which no fault made", "httpx",
        lambda url: _poisoned(url),
        lambda url: _poisoned(url),
        (), (said({"content": "The Danube."}), REFUSED),
        faults_where_false=(POISONED,),
    ),
    "by an answer that a fault broke": Case(
        "answered 400, which no fault made", "curl",
        lambda url: _used(url, CALLED),
        lambda url: _used(url, CALLED),
        (), (said(CALLED[0], "tool_calls"), REFUSED),
        faults_where_false=(f"{{malformed_tool_arguments: {{}}, {FIRST}}}",),
    ),
    "asked twice at once": Case(
        "was not retried, and the command exited 0", "aiohttp",
        lambda _: [[chat(stream=True)]],
        lambda _: [[chat(stream=True), chat(stream=True)]],
        (EARLY,),
    ),
    "asked elsewhere": Case(
        "without its closing event", "node",
        lambda _: [[chat(stream=True)]],
        lambda _: [[chat(stream=True)], [claude()]],
        (EARLY,),
    ),
    "answered elsewhere": Case(
        "the command exited with 3 after #1", "node",
        lambda _: [[chat()]],
        lambda _: [[chat()], [claude()]],
        (DOWN,), code=3,
    ),
    "answered by a local model": Case(
        "no call of a model succeeded after it", "httpx",
        lambda url: [[chat()]],
        lambda url: [[chat()], [talk(f"{url}/v1/chat/completions", ASKED)]],
        (DOWN,), (said({"content": "The Danube."}),),
    ),
    "input of a custom tool": Case(
        "are no JSON", "curl",
        lambda url: _used(url, FUNCTION),
        lambda url: _used(url, CUSTOM),
        (), (said(FUNCTION[0], "tool_calls"), said({"content": "Three."})),
        (said(CUSTOM[0], "tool_calls"), said({"content": "Three."})),
    ),
}  # fmt: skip


def _poisoned(url: str) -> list[list[Request]]:
    there = f"{url}/v1/chat/completions"
    return [[talk(there, ASKED)], [talk(there, ASKED, ANSWERED, MORE)]]


def _used(url: str, call: tuple[dict[str, Any], dict[str, Any]]) -> list[list[Request]]:
    made, result = call
    kind = made["tool_calls"][0]["type"]
    there, offered = f"{url}/v1/chat/completions", [{"type": kind, kind: {"name": "run"}}]
    again = talk(there, ASKED, {"role": "assistant", **made}, result, tools=offered)
    return [[talk(there, ASKED, tools=offered)], [again]]


def printed(case: Case, work: Path, *, true: bool) -> str:
    answers = case.answers if true or case.answers_where_false is None else case.answers_where_false
    faults = case.faults if true or case.faults_where_false is None else case.faults_where_false
    options = [part for fault in faults for part in ("--fault", fault)]
    with serving(*answers) as url:
        program = command(case.client, (case.true if true else case.false)(url), case.code)
        done = harness.execute(
            work, program, "--mock", "--mock-except", "localhost", "--allow-host", "localhost", *options
        )
    assert done.code == case.code, done.stderr
    assert len(done.exchanges) == sum(map(len, (case.true if true else case.false)(url))), done.stderr
    return done.stderr


@pytest.mark.by_day("key in the body", "input of a custom tool")
@pytest.mark.parametrize("name", CASES)
def test_it_is_said_where_it_is_true_and_not_where_it_is_false(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    assert case.words in printed(case, tmp_path, true=True)
    assert case.words not in printed(case, tmp_path, true=False)
