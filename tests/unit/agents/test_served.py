from contextlib import contextmanager

import pytest

from faultwire.agents._api import Asked
from faultwire.agents._dial import Dialler, HttpReply, NoReply
from faultwire.agents._process import Processes
from faultwire.agents._reset import NO_RESET, Resetting, failed, quotable
from faultwire.agents._served import CallResult, Served, failed_call, refused, text_of, trace
from faultwire.errors import AgentError

ENV = {"TRACEPARENT": "00-a-b-01", "BAGGAGE": "user=1,faultwire-session=a"}


def reply(body=b"", status=200, reason="OK", **fields):
    return HttpReply(
        status, reason, tuple((name.replace("_", "-"), value) for name, value in fields.items()), body
    )


def test_the_trace_context_goes_with_the_users_own_fields():
    assert trace((), ENV) == (("traceparent", "00-a-b-01"), ("baggage", "user=1,faultwire-session=a"))
    theirs = (("Baggage", "tenant=2"), ("tracestate", "x=1"), ("traceparent", "mine"), ("x", "y"))
    assert trace(theirs, ENV) == (
        ("Baggage", "tenant=2,faultwire-session=a"),
        ("traceparent", "00-a-b-01"),
        ("x", "y"),
    )
    assert trace(theirs, {}) == theirs


@pytest.mark.parametrize(
    ("kind", "body", "text"),
    [
        ("text/plain", "é".encode(), "é"),
        ("text/plain; charset=latin-1", b"\xe9", "é"),
        ('text/html; charset="utf-16"', "é".encode("utf-16"), "é"),
        ("text/plain; charset=rot13", b"abc", "abc"),
        ("text/plain; charset=zip", b"abc", "abc"),
        ("text/plain; charset=utf-8; charset=x", b"abc", "abc"),
        ("", b"\xff", "\ufffd"),
    ],
)
def test_a_body_as_text(kind, body, text):
    assert text_of(reply(body, content_type=kind)) == text


def test_what_was_not_kept_is_reported():
    assert text_of(HttpReply(200, "OK", (), b"ab", 7)) == "ab\n[7 more bytes were not kept]"


def test_failing_answers_in_words():
    said = refused(reply(b"  no\n\nroom " + b"x" * 900, 503, "Busy"))
    assert (said.answer, said.code, said.well) == ("", 1, False)
    assert said.why.startswith("faultwire: the agent answered HTTP 503 Busy: no room xxx")
    assert len(said.why) < 400
    assert refused(reply(b"", 418, "")).why == "faultwire: the agent answered HTTP 418"
    late = failed_call(NoReply("did not answer within 3 s", timed_out=True))
    assert (late.code, late.timed_out, late.replied) == (None, True, False)
    gone = failed_call(NoReply("closed the connection"))
    assert (gone.code, gone.timed_out) == (1, False)


def test_only_one_that_propagates_and_is_not_reset_runs_at_once():
    class Agent(Served):
        def call(self, asked, headers):
            raise AssertionError

        def read(self, reply):
            raise AssertionError

    assert Agent("http://h").concurrent is False
    assert Agent("http://h", propagates=True).concurrent is True
    assert Agent("http://h", propagates=True, resetting=Resetting(lambda dialler: None)).concurrent is False
    assert Agent("https://u:p@h:8443/a/b?key=k#f").label == "https://h:8443/a/b"


def test_every_part_of_a_reset_is_done():
    done = []
    both = Resetting(lambda dialler: done.append("call"), function=lambda processes: done.append("function"))
    both.reset(Processes(), Dialler())
    assert done == ["call", "function"]
    assert (NO_RESET.any, Resetting(command=("x",)).any) == (False, True)
    with pytest.raises(AgentError, match="the agent `no-such-reset` did not start"):
        Resetting(command=("no-such-reset",)).reset(Processes(), Dialler())
    error = failed("`x` ended with 1", "first\nlast line\n\n")
    assert error.message == "the agent was not reset: `x` ended with 1: `last line`"
    assert (error.code, error.exit_code) == ("agent.reset", 2)
    assert failed("x", "\x1b[2Jgone").message == r"the agent was not reset: x: `\x1b[2Jgone`"


KEY = "sk-ant-api03-" + "Zq7" * 31 + "AA"


@pytest.mark.parametrize("padding", [0, 120, 180, 190, 250])
def test_errors_quote_no_key_and_no_half_of_one(padding):
    words = "x" * padding + " " + KEY + " " + "y" * padding
    said = (failed("it", words).message, refused(reply(words.encode(), status=500)).why)
    for text in (*said, quotable(words, 200), quotable(words, 200, last=True)):
        assert "Zq7Zq7" not in text


def test_what_is_no_secret_is_quoted_as_it_is():
    assert quotable("abcdef", 4) == "abcd"
    assert quotable("abcdef", 4, last=True) == "cdef"
    assert quotable("", 4) == ""


def test_the_server_is_watched_while_it_is_asked():
    reply = []

    @contextmanager
    def watch(pid):
        reply.append(("begin", pid))
        yield
        reply.append(("end", pid))

    class Agent(Served):
        def call(self, asked, headers):
            reply.append("asked")
            return CallResult("yes")

        def read(self, reply):
            raise AssertionError

    class Started:
        pid = 77

        def ready(self):
            reply.append("ready")

        def news(self, *, failed):
            return ""

    asked = Asked(("x",), watch=watch)
    assert Agent("http://h", server=Started()).invoke(asked, {}).answer == "yes"
    assert reply == ["ready", ("begin", 77), "asked", ("end", 77)]
    reply.clear()
    assert Agent("http://h").invoke(asked, {}).answer == "yes"  # one that somebody else started
    assert reply == ["asked"]
