"""How servers are asked: against one whose every byte the test sees and says."""

from __future__ import annotations

import json
import socketserver
import threading
import zlib
from collections.abc import Iterator

import pytest

from faultwire import clock
from faultwire.agents._answer import AnswerPath
from faultwire.agents._api import Asked
from faultwire.agents.http import HttpAgent
from faultwire.agents.openai import OpenAIAgent
from faultwire.dice import Dice
from faultwire.mutations._network import NETWORK
from faultwire.mutations._request import RequestChange

TRACE = "0" * 31 + "a"
ENV = {"TRACEPARENT": f"00-{TRACE}-{'b' * 16}-01", "BAGGAGE": f"faultwire-session={TRACE}"}


class Peer:
    """Reads each request to its end, keeps its bytes and says what it was told to."""

    def __init__(self) -> None:
        self.replies: list[bytes] = []
        self.heard: list[bytes] = []
        self.hold = threading.Event()
        self.lock = threading.Lock()
        peer = self

        class Handler(socketserver.StreamRequestHandler):
            def handle(self) -> None:
                head = b""
                while not head.endswith(b"\r\n\r\n"):
                    line = self.rfile.readline()
                    if not line:
                        break
                    head += line
                body = self.body(head.lower())
                with peer.lock:
                    peer.heard.append(head + body)
                    reply = peer.replies.pop(0) if len(peer.replies) > 1 else peer.replies[0]
                if reply == b"hold":
                    peer.hold.wait(30)
                elif reply:
                    self.wfile.write(reply)

            def body(self, head: bytes) -> bytes:
                if b"transfer-encoding: chunked" in head:
                    data = b""
                    while size := int(self.rfile.readline(), 16):
                        data += self.rfile.read(size)
                        self.rfile.readline()
                    self.rfile.readline()
                    return data
                length = next(
                    (line for line in head.split(b"\r\n") if line.startswith(b"content-length:")), b":0"
                )
                return self.rfile.read(int(length.split(b":")[1]))

        class Server(socketserver.ThreadingTCPServer):
            daemon_threads = True
            allow_reuse_address = True
            request_queue_size = 64

        self.server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()

    def says(
        self, *bodies: object, status: str = "200 OK", kind: str = "application/json", **fields: str
    ) -> None:
        self.replies = [reply(body, status, kind, **fields) for body in bodies]

    def close(self) -> None:
        self.hold.set()
        self.server.shutdown()
        self.server.server_close()

    def bodies(self) -> list[object]:
        return [json.loads(heard.partition(b"\r\n\r\n")[2]) for heard in self.heard]

    def fields(self, at: int = -1) -> dict[str, str]:
        head = self.heard[at].partition(b"\r\n\r\n")[0].decode("latin-1")
        return {k.lower(): v.strip() for k, _, v in (f.partition(":") for f in head.split("\r\n")[1:])}


def reply(body: object, status: str = "200 OK", kind: str = "application/json", **fields: str) -> bytes:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    more = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in fields.items())
    return (
        f"HTTP/1.1 {status}\r\ncontent-type: {kind}\r\n{more}content-length: {len(data)}\r\n\r\n".encode()
        + data
    )


@pytest.fixture
def peer() -> Iterator[Peer]:
    made = Peer()
    yield made
    made.close()


def test_the_usual_request_and_answer(peer):
    peer.says({"output": "Paris", "error": None})
    result = HttpAgent(f"{peer.url}/ask").invoke(Asked(('say "hi"\n{prompt}',)), ENV)
    assert (result.answer, result.exit_code, result.stderr) == ("Paris", 0, "")
    assert peer.bodies() == [{"input": 'say "hi"\n{prompt}'}]
    fields = peer.fields()
    assert (fields["traceparent"], fields["baggage"]) == (ENV["TRACEPARENT"], ENV["BAGGAGE"])
    assert fields["content-type"] == "application/json"


def test_template_headers_query_and_path(peer):
    peer.says({"choices": [{"message": {"content": "Paris"}}]})
    agent = HttpAgent(
        f"{peer.url}/ask?v=1",
        (("Authorization", "Bearer k"), ("X-Prompt", "{prompt}"), ("baggage", "user=1")),
        method="PUT",
        query=(("q", "{prompt}"), ("s", "{session}")),
        template='{"product": "{productName}", "all": {prompt}}',
        answer_path=AnswerPath("choices[0].message.content"),
    )
    result = agent.invoke(Asked(("productName: Pear\r\nx: y",), "s1"), ENV)
    assert (result.answer, result.exit_code) == ("Paris", 0)
    line = peer.heard[0].split(b"\r\n")[0]
    assert line.startswith(b"PUT /ask?v=1&q=productName%3A+Pear%0D%0Ax%3A+y&s=s1-")
    assert peer.bodies() == [{"product": "Pear", "all": "productName: Pear\r\nx: y"}]
    fields = peer.fields()
    assert fields["x-prompt"] == "productName: Pear  x: y"  # a prompt ends no header field
    assert fields["baggage"] == f"user=1,{ENV['BAGGAGE']}"


def test_without_a_body_the_template_becomes_the_query(peer):
    peer.says("Paris")
    HttpAgent(f"{peer.url}/ask", method="GET").invoke(Asked(("a b",)), {})
    HttpAgent(f"{peer.url}/ask", method="DELETE", template="{prompt}!").invoke(Asked(("a&b",)), {})
    lines = [heard.split(b" HTTP")[0] for heard in peer.heard]
    assert lines == [b"GET /ask?input=a+b", b"DELETE /ask?q=a%26b%21"]


def test_a_prompt_without_what_the_template_names_is_no_crash(peer):
    peer.says({})
    agent = HttpAgent(peer.url, template='{"p": "{productName}"}')
    result = agent.invoke(Asked(("nothing of it",)), {})
    assert (result.answer, result.exit_code) == ("", None)  # nobody knows how it would have ended
    assert "the prompt has no `productName`" in result.stderr
    assert peer.heard == []


@pytest.mark.parametrize(
    ("body", "kind", "answer"),
    [
        ({"response": "Paris", "id": 1}, "application/json", "Paris"),
        ({"output": None, "result": {"a": 1}}, "application/problem+json", '{"a": 1}'),
        ({"city": "Paris"}, "application/json", '{"city": "Paris"}'),
        (["Paris"], "application/json", '["Paris"]'),
        (b'{"output": "Paris"}', "text/plain", '{"output": "Paris"}'),
        ("Größe".encode("latin-1"), "text/plain; charset=iso-8859-1", "Größe"),
        (b"a\xff", "text/plain; charset=nonsense", "a\ufffd"),
        (b"", "text/plain", ""),
    ],
)
def test_without_a_path_the_usual_member_or_all_of_it_is_the_answer(peer, body, kind, answer):
    peer.says(body, kind=kind)
    result = HttpAgent(peer.url).invoke(Asked(("x",)), {})
    assert (result.answer, result.exit_code) == (answer, 0)


@pytest.mark.parametrize(
    ("body", "status", "path", "why"),
    [
        ({"output": "x"}, "200 OK", "answer", "no answer: found no `answer` in an object with `output`"),
        (b"<html>", "200 OK", "answer", "no answer: found no JSON (`<html>`, line 1)"),
        (
            {"error": "out of tokens"},
            "200 OK",
            None,
            "no answer: the agent reported a failure: out of tokens",
        ),
        ({"success": False}, "200 OK", None, "no answer: the agent reported a failure: success: false"),
        ({"detail": "no"}, "422 Nope", None, 'the agent answered HTTP 422 Nope: {"detail": "no"}'),
        (b"boom", "503 Busy", "a", "the agent answered HTTP 503 Busy: boom"),
    ],
)
def test_what_is_no_answer_is_a_result_that_gives_the_reason(peer, body, status, path, why):
    peer.says(body, status=status)
    agent = HttpAgent(peer.url, answer_path=AnswerPath(path) if path else None)
    result = agent.invoke(Asked(("x",)), {})
    assert (result.answer, result.exit_code, result.timed_out) == ("", 1, False)
    assert why in result.stderr


def test_redirects_are_not_followed(peer):
    peer.says(b"", status="307 Moved", location="/elsewhere")
    result = HttpAgent(peer.url).invoke(Asked(("x",)), {})
    assert "HTTP 307 Moved to `/elsewhere`, and redirects are not followed" in result.stderr
    assert len(peer.heard) == 1


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        (b"", "closed the connection without an answer"),
        (b"\x16\x03\x01 no HTTP at all\r\n\r\n", "did not answer in HTTP (BadStatusLine)"),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf", "ended early in its response"),
        (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n", "ended early in its response"),
        (b"HTTP/1.1 200 OK\r\ncontent-encoding: br\r\ncontent-length: 1\r\n\r\nx", "in HTTP (ValueError)"),
        (b"HTTP/1.1 200 OK\r\n" + b"a: b\r\n" * 200 + b"\r\n", "in HTTP (HTTPException)"),
    ],
)
def test_a_server_that_speaks_no_http_is_a_result(peer, raw, why):
    peer.replies = [raw]
    result = HttpAgent(peer.url).invoke(Asked(("x",)), {})
    assert (result.exit_code, result.timed_out) == (1, False)
    assert why in result.stderr


def test_odd_answers_that_are_fine(peer):
    head = b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ntransfer-encoding: chunked\r\n\r\n"
    chunked = head + b"3\r\nPar\r\n2\r\nis\r\n0\r\n\r\n"
    early = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n"
    packed = reply(zlib.compress(b"Paris"), kind="text/plain", content_encoding="deflate")
    old = b"HTTP/1.0 200 OK\r\n\r\nParis"
    for raw in (chunked, early + chunked, packed, old):
        peer.replies = [raw]
        result = HttpAgent(peer.url).invoke(Asked(("x",)), {})
        assert (result.answer, result.exit_code) == ("Paris", 0), raw


def test_output_without_end_is_bounded(peer):
    peer.says(b"x" * 3_000_000, kind="text/plain")
    result = HttpAgent(peer.url).invoke(Asked(("x",)), {})
    assert result.answer.endswith("\n[1951424 more bytes were not kept]")
    peer.says({"a": "x" * 3_000_000})
    result = HttpAgent(peer.url, answer_path=AnswerPath("a")).invoke(Asked(("x",)), {})
    assert (result.answer, result.exit_code) == ("", 1)


def test_one_deadline_for_all_of_it(peer):
    peer.replies = [b"hold"]
    result = HttpAgent(peer.url, timeout_s=0.3).invoke(Asked(("x",)), {})
    assert (result.answer, result.exit_code, result.timed_out) == ("", None, True)
    assert result.stderr == "faultwire: the agent did not answer within 0.3 s"


def test_nobody_there():
    result = HttpAgent("http://127.0.0.1:1/ask").invoke(Asked(("x",)), {})
    assert result.exit_code == 1
    assert result.stderr == "faultwire: the agent was not reached at `127.0.0.1:1`: Connection refused"


def test_stop_ends_what_is_under_way_and_what_comes_later(peer):
    peer.replies = [b"hold"]
    agent = HttpAgent(peer.url)
    results = []
    thread = threading.Thread(target=lambda: results.append(agent.invoke(Asked(("x",)), {})))
    thread.start()
    tick = threading.Event()
    while not peer.heard:
        tick.wait(0.01)
    agent.stop()
    thread.join(20)
    assert [result.exit_code for result in results] == [1]
    assert agent.invoke(Asked(("x",)), {}).exit_code == 1


# ---------------------------------------------------------------- conversations


def test_turns_are_posted_one_after_another_in_one_conversation(peer):
    peer.replies = [reply({"output": "1"}, set_cookie="sid=abc; Path=/; HttpOnly"), reply({"output": "2"})]
    result = HttpAgent(peer.url).invoke(Asked(("a", "b"), "calm/p/r1"), {})
    assert result.answer == "2"
    assert peer.bodies() == [{"input": "a"}, {"input": "b"}]
    assert peer.fields(0)["x-session-id"] == peer.fields(1)["x-session-id"]
    assert "cookie" not in peer.fields(0)
    assert peer.fields(1)["cookie"] == "sid=abc"
    HttpAgent(peer.url).invoke(Asked(("a",), "calm/p/r1"), {})
    assert "x-session-id" not in peer.fields()  # one turn needs no name


def test_a_template_may_name_the_conversation_or_take_it_whole(peer):
    peer.says({"output": "x"})
    HttpAgent(peer.url, template='{"q": {prompt}, "id": "{session}"}').invoke(Asked(("a", "b"), "s"), {})
    assert len({body["id"] for body in peer.bodies()}) == 1
    assert "x-session-id" not in peer.fields()
    HttpAgent(peer.url, template='{"all": {turns}, "last": {prompt}}').invoke(Asked(("a", "b"), "s"), {})
    assert peer.bodies()[2:] == [{"all": ["a", "b"], "last": "b"}]


def test_a_conversation_ends_at_the_first_turn_without_an_answer(peer):
    peer.replies = [reply({}, status="500 Oops"), reply({"output": "2"})]
    result = HttpAgent(peer.url).invoke(Asked(("a", "b")), {})
    assert (result.exit_code, len(peer.heard)) == (1, 1)


# ---------------------------------------------------------------- changed requests


def test_a_changed_request_reaches_the_server_as_it_stands(peer):
    peer.says({"output": "x"})
    change = RequestChange(
        method="FOO", headers=(("x-a", "b\r\nx-injected: 1"),), http_version="HTTP/1.2", query=(("q", "<>"),)
    )
    result = HttpAgent(f"{peer.url}/ask").invoke(Asked(("hi",), request=change), {})
    assert (result.answer, result.exit_code) == ("x", 0)
    assert peer.heard[0].startswith(b"FOO /ask?q=%3C%3E HTTP/1.2\r\n")
    assert b"\r\nx-injected: 1\r\n" in peer.heard[0]


def test_chunks_with_pauses_arrive_whole_and_take_nothing_from_the_agents_time(peer):
    peer.says({"output": "x"})
    change = RequestChange(chunk_bytes=4, pause_s=0.05)
    result = HttpAgent(peer.url, timeout_s=0.2).invoke(Asked(("hi there",), request=change), {})
    assert (result.answer, result.exit_code) == ("x", 0)
    assert result.duration_s > 0.2
    assert peer.bodies() == [{"input": "hi there"}]


def test_a_huge_body_and_a_server_that_does_not_want_it():
    """It answers 413 and closes at once, while most of the body is still on its way."""
    import socket

    with socket.create_server(("127.0.0.1", 0)) as server:

        def refuse() -> None:
            connection, _ = server.accept()
            with connection:
                connection.recv(1000)
                connection.sendall(reply({"detail": "too much"}, status="413 Too Large"))
                connection.shutdown(socket.SHUT_WR)
                while connection.recv(1 << 20):
                    pass

        thread = threading.Thread(target=refuse, daemon=True)
        thread.start()
        url = f"http://127.0.0.1:{server.getsockname()[1]}"
        change = RequestChange(pad_bytes=16_000_000)
        result = HttpAgent(url).invoke(Asked(("hi",), request=change), {})
        thread.join(20)
    assert (result.answer, result.exit_code) == ('{"detail": "too much"}', 0)
    assert result.stderr == "faultwire: the changed request was answered HTTP 413 Too Large"


def test_turning_a_changed_request_away_is_sound_and_breaking_on_it_is_not(peer):
    for status, code in (("400 Bad", 0), ("405 No", 0), ("500 Oops", 1)):
        peer.says({"detail": "x"}, status=status)
        assert (
            HttpAgent(peer.url).invoke(Asked(("x",), request=RequestChange(method="FOO")), {}).exit_code
            == code
        )
        unchanged = HttpAgent(peer.url).invoke(Asked(("x",)), {})
        assert unchanged.exit_code == 1


def test_copies_are_sent_at_once(peer):
    peer.says({"output": "x"})
    result = HttpAgent(peer.url).invoke(Asked(("x",), request=RequestChange(copies=9)), {})
    assert (result.answer, result.exit_code, len(peer.heard)) == ("x", 0, 9)
    assert result.stderr == "faultwire: 9 of the same request at once: HTTP 200 OK (9)"
    assert len(set(peer.heard)) == 1
    peer.replies = [*[reply({"output": "x"})] * 3, reply({}, status="500 Oops")]
    result = HttpAgent(peer.url).invoke(Asked(("x",), request=RequestChange(copies=4)), {})
    assert result.exit_code == 1
    assert "HTTP 500 Oops (1)" in result.stderr


@pytest.mark.parametrize("kind", NETWORK, ids=lambda kind: kind.name)
def test_every_network_mutation_is_performed_on_the_wire(peer, kind):
    peer.says({"output": "x"})
    agent = HttpAgent(f"{peer.url}/ask", timeout_s=2.0)
    agent.invoke(Asked(("hi",)), {})
    plain = peer.heard.pop()
    for seed in range(8):
        peer.heard.clear()
        draft = kind().draft("hi", Dice(seed, "s").held(kind.name, "k", 0))
        result = agent.invoke(Asked(("hi",), request=draft.request), {})
        assert result.exit_code in (0, 1, None)
        assert peer.heard or result.stderr, draft.request
        if draft.request.copies > 1:
            assert peer.heard == [plain] * draft.request.copies
        else:
            assert plain not in peer.heard, draft.request


# ---------------------------------------------------------------- OpenAI-compatible endpoints


def chat(text: object) -> dict[str, object]:
    return {"choices": [{"message": {"role": "assistant", "content": text}}]}


def test_a_chat_endpoint_and_a_conversation(peer):
    peer.says(chat("one"), chat([{"type": "text", "text": "two"}]))
    agent = OpenAIAgent(
        f"{peer.url}/v1/",
        (("x-team", "a"),),
        model="m",
        api_key="k",
        system="Be brief.",
        parameters={"temperature": 0},
    )
    result = agent.invoke(Asked(("a", "b")), ENV)
    assert (result.answer, result.exit_code) == ("two", 0)
    assert peer.heard[0].startswith(b"POST /v1/chat/completions HTTP/1.1\r\n")
    assert (peer.fields()["authorization"], peer.fields()["x-team"]) == ("Bearer k", "a")
    assert peer.fields()["baggage"] == ENV["BAGGAGE"]
    system, first, answer, second = peer.bodies()[1]["messages"]
    assert (system["content"], first["content"], second["content"]) == ("Be brief.", "a", "b")
    assert answer == {"role": "assistant", "content": "one"}
    assert (peer.bodies()[0]["temperature"], peer.bodies()[0]["model"]) == (0, "m")


def test_a_responses_endpoint(peer):
    said = [{"type": "reasoning"}, {"type": "message", "content": [{"type": "output_text", "text": "Paris"}]}]
    peer.says({"status": "completed", "error": None, "output": said})
    agent = OpenAIAgent(f"{peer.url}/v1/responses", model="m", api="responses", system="s")
    assert agent.invoke(Asked(("a", "b")), {}).answer == "Paris"
    assert peer.heard[0].startswith(b"POST /v1/responses HTTP/1.1\r\n")
    assert peer.bodies()[1]["instructions"] == "s"
    assert [turn["content"] for turn in peer.bodies()[1]["input"]] == ["a", "Paris", "b"]


@pytest.mark.parametrize(
    ("api", "body", "why"),
    [
        ("chat", {"choices": []}, "found no `choices[0].message`"),
        ("chat", chat(None), "found no text in `choices[0].message.content`"),
        ("chat", {"choices": [{"message": {"content": None, "tool_calls": [{}]}}]}, "it calls tools"),
        ("chat", {"error": {"message": "no"}}, "the agent reported a failure"),
        ("chat", ["x"], "found JSON that is not an object"),
        ("chat", b"data: x", "found no JSON in the agent's reply"),
        (
            "responses",
            {"output": [], "status": "incomplete"},
            "found no text in `output` (status `incomplete`)",
        ),
    ],
)
def test_replies_of_an_endpoint_that_hold_no_answer(peer, api, body, why):
    peer.says(body)
    result = OpenAIAgent(peer.url, model="m", api=api).invoke(Asked(("x",)), {})
    assert (result.answer, result.exit_code) == ("", 1)
    assert why in result.stderr


def test_a_refusal_is_an_answer(peer):
    peer.says({"choices": [{"message": {"content": None, "refusal": "I cannot."}}]})
    assert OpenAIAgent(peer.url, model="m").invoke(Asked(("x",)), {}).answer == "I cannot."


def test_the_users_pause_lies_between_turns_and_takes_nothing_from_the_agents_time(peer):
    peer.says({"answer": "1"}, {"answer": "2"}, {"answer": "3"})
    began = clock.monotonic()
    result = HttpAgent(peer.url, pause_s=0.4).invoke(Asked(("a", "b", "c"), "s"), {})
    took = clock.monotonic() - began
    assert (result.answer, len(peer.heard)) == ("3", 3)
    assert took >= 0.8
    assert result.duration_s <= took - 0.8
    peer.says({"answer": "4"})
    began = clock.monotonic()
    HttpAgent(peer.url, pause_s=60.0).invoke(Asked(("a",), "s"), {})
    assert clock.monotonic() - began < 30, "the control: before a first turn nobody waits"


def test_the_end_of_a_run_ends_a_pause(peer):
    peer.says({"answer": "1"})
    agent = HttpAgent(peer.url, pause_s=600.0)
    asking = threading.Thread(target=agent.invoke, args=(Asked(("a", "b"), "s"), {}), daemon=True)
    asking.start()
    agent.stop()
    asking.join(30)
    assert not asking.is_alive()
