"""Classes of crashes, and which are one."""

from __future__ import annotations

import pytest

from faultwire.events import AgentResult
from faultwire.fuzz.crash import crash_of, printed

PYTHON = """before
Traceback (most recent call last):
  File "/home/me/agent.py", line 9, in <module>
    main()
  File "/home/me/agent.py", line {line}, in {name}
    return order["total"] * 2
  File "/usr/lib/python3.12/json/decoder.py", line {inner}, in raw_decode
    raise error
{error}: '{message}'
"""
NODE = """/srv/app/agent.js:12
TypeError: Cannot read properties of null (reading 'toFixed')
    at charge (/srv/app/agent.js:12:18)
    at Object.<anonymous> (file:///srv/app/agent.js:20:3)
    at emit (/srv/app/node_modules/x/index.js:5:1)
    at node:internal/main:1:1

Node.js v20.20.2
"""
GO = """panic: runtime error: index out of range [1] with length 1

goroutine 1 [running]:
main.charge(...)
\t/src/agent.go:14 +0x1d
main.main()
\t/src/agent.go:7 +0x1
exit status 2
"""
RUST = "thread 'main' panicked at src/main.rs:4:10:\ncalled `Option::unwrap()` on a `None` value\n"
JAVA = """Exception in thread "main" java.lang.NullPointerException: no
\tat shop.Agent.charge(Agent.java:31)
\tat shop.Agent.main(Agent.java:8)
"""


def python(line=12, name="charge", inner=355, error="KeyError", message="total"):
    return PYTHON.format(line=line, name=name, inner=inner, error=error, message=message)


def crash(code=1, stderr="", shape=("a", "b"), *, timed_out=False):
    return crash_of(AgentResult("", code, 1.0, stderr, timed_out), shape, limit_s=5)


def test_each_class_is_named_for_what_was_seen():
    assert crash(0, python()) is None, "a traceback alone is none"
    assert crash(-11).title == "ended by SIGSEGV"
    assert crash(-9, timed_out=True).title == "not over after 5 s"
    assert crash(1, python()).title == "KeyError at agent.py:12 charge"
    assert crash(7).title == "exited 7"
    given = (crash(-11), crash(-9, timed_out=True), crash(1, python()), crash(7))
    assert [one.kind for one in given] == ["signal", "hang", "exception", "exit"]


@pytest.mark.parametrize(
    "other",
    [
        {"line": 13},
        {"name": "refund"},
        {"error": "TypeError"},
    ],
)
def test_another_place_or_exception_is_another_crash(other):
    assert crash(1, python()).key != crash(1, python(**other)).key


@pytest.mark.parametrize("same", [{"message": "count"}, {"inner": 353}])
def test_other_words_and_another_place_in_a_library_are_the_same_crash(same):
    assert crash(1, python()).key == crash(1, python(**same)).key


def test_without_a_stack_the_last_calls_distinguish_crashes():
    assert crash(7, shape=("a", "b")).key != crash(7, shape=("a", "c")).key
    assert crash(7, shape=("a", "b")).key != crash(8, shape=("a", "b")).key
    assert crash(7, shape=("x", "a", "b", "c")).key == crash(7, shape=("y", "a", "b", "c")).key
    assert crash(1, python(), ("a",)).key == crash(1, python(), ("b",)).key, "a stack says more than calls"


@pytest.mark.parametrize(
    ("text", "error", "first"),
    [
        (NODE, "TypeError", "agent.js:12 charge"),
        (GO, "panic", "agent.go:14"),
        (RUST, "panic", "main.rs:4"),
        (JAVA, "java.lang.NullPointerException", "Agent.java:31 shop.Agent.charge"),
    ],
)
def test_stacks_of_other_languages(text, error, first):
    found = printed(text)
    assert (found.error, found.frames[0]) == (error, first)


def test_words_that_only_look_like_one_are_no_stack():
    assert printed("the last call: Traceback was empty\nError: no order 7\n") is None


def test_of_two_tracebacks_the_last_counts():
    assert (
        printed(python(error="KeyError") + "\nDuring handling …\n\n" + python(error="OSError")).error
        == "OSError"
    )


def test_a_function_that_calls_itself_counts_once():
    again = '  File "/a/b.py", line 3, in walk\n    walk()\n' * 90
    text = f"Traceback (most recent call last):\n{again}RecursionError: deep\n"
    assert printed(text).frames == ("b.py:3 walk",)
