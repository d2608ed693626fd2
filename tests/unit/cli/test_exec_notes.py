from __future__ import annotations

import signal

import pytest
from tests.unit.checks.conftest import line, talk, used
from tests.unit.report.test_cause import traces

from faultwire.cli._exec_notes import (
    LONGEST,
    about_run,
    how_it_ended,
    left_behind,
    our_ports,
    past_on_this_machine,
    shown_command,
    signal_name,
    undeclared_tools,
)
from faultwire.cli._observed import Ended
from faultwire.cli.exec import _starting
from faultwire.events import Bypass, Delivery, History
from faultwire.profile.load import inline
from faultwire.profile.model import Profile

DOWN = Delivery(503, "", (), b"{}")
TOOL = inline("tool_error: {message: down}")
MODEL = inline("status: {code: 503}")


def other(number, host="tools.test", **changes):
    return used(number, host=host, kind="other", tool=None, **changes)


def test_hosts_that_may_be_tools_are_named_where_no_fault_of_a_tool_fired():
    found = undeclared_tools(History("exec", (talk(1), other(2), other(3))), TOOL)
    assert found == [
        "of the faults of tools (`tool_error`) none fired; if `http://tools.test` is a tool, say so in a "
        'profile: `tools: {my_tool: {url: "http://tools.test/*"}}`'
    ]
    many = [other(n, host=f"h{n}.test") for n in range(6)]
    assert "`http://h3.test` and 2 more is a tool" in undeclared_tools(History("exec", tuple(many)), TOOL)[0]
    by_kind = inline("{status: {code: 503}, on: {kind: tool}}")
    assert "(`status`)" in undeclared_tools(History("exec", (other(1),)), by_kind)[0]


@pytest.mark.parametrize(
    ("exchanges", "profile"),
    [
        ((talk(1), other(2)), MODEL),
        ((talk(1), other(2)), Profile(name="none")),
        ((talk(1),), TOOL),
        ((talk(1), traces(2)), TOOL),
        ((talk(1, faults=(line("tool_error"),)), other(2)), TOOL),
        ((talk(1), used(2)), TOOL),
    ],
    ids=["models", "nothing", "no other host", "telemetry", "fired", "declared"],
)
def test_no_host_is_taken_for_a_tool(exchanges, profile):
    assert undeclared_tools(History("exec", exchanges), profile) == []


def test_servers_of_this_machine_that_were_reached_directly():
    seen = [
        Bypass("127.0.0.1", 11434, "tcp", None),
        Bypass("127.0.0.1", 11434, "tcp", None),
        Bypass("127.0.0.1", 4000, "tcp", None),
        Bypass("127.0.0.1", 443, "udp", None),
        Bypass("93.184.216.34", 443, "tcp", None),
    ]
    (found,) = past_on_this_machine(seen, [], {4000})
    assert found.startswith("connected directly to 127.0.0.1:11434 on this machine, which was not recorded")
    assert "`--reverse NAME=http://127.0.0.1:11434`" in found
    assert past_on_this_machine(seen, seen[:1], {4000}) == []
    assert past_on_this_machine(seen, [], {4000, 11434}) == []
    assert "[::1]:11434" in past_on_this_machine([Bypass("::1", 11434, "tcp", None)], [], set())[0]


def test_our_own_ports_are_known_by_what_the_command_was_given():
    given = {
        "HTTPS_PROXY": "http://user:t0k3n@127.0.0.1:33321",
        "JAVA_TOOL_OPTIONS": "-Dhttp.proxyPort=33322 -Dx=y",
        "NO_PROXY": None,
    }
    assert our_ports(given) >= {33321, 33322}
    assert 11434 not in our_ports(given)


def test_a_command_is_shown_as_it_was_typed():
    assert shown_command(["python", "agent.py", "What is it?"]) == "python agent.py 'What is it?'"
    assert shown_command(["a", "\x1b[31mred"]) == "a '\\x1b[31mred'"
    assert "\n" not in shown_command(["sh", "-c", "one\ntwo"])
    long = shown_command(["python", *("word" for _ in range(200))])
    assert len(long) <= LONGEST + 2
    assert long.endswith(" …")
    assert len(shown_command(["python", "x" * 4000])) <= LONGEST + 2


@pytest.mark.parametrize(
    "command",
    [
        ["a", "--api-key", "hunter2"],
        ["a", "--api-key=hunter2"],
        ["env", "DB_PASSWORD=hunter2", "a"],
        ["a", "-token", "hunter2", "--verbose"],
    ],
)
def test_values_that_are_named_a_secret_are_not_shown(command):
    assert "hunter2" not in shown_command(command)
    assert "…" in shown_command(command)


def test_options_that_name_no_secret_are_shown():
    assert shown_command(["a", "--city", "Paris", "--monkey-business"]) == "a --city Paris --monkey-business"


def test_all_notes_of_a_run():
    history = History("exec", (other(1), talk(2, status=503)))

    def notes(code, **changes):
        return about_run(history, TOOL, [], {}, Ended("a", code, "", 1.0, **changes))

    first, second = notes(2)
    assert "is a tool" in first
    assert second == "the command exited with 2 after #2: `api.openai.com/v1/chat/completions` answered 503"
    assert notes(0) == (first,)


def test_a_signal_that_ended_the_command_is_named_with_what_went_before():
    seen, none = History("exec", (talk(1), talk(2))), History("exec", ())

    def said(code, *stops, history=seen):
        return how_it_ended(history, code, frozenset(stops))

    assert said(-9) == ["signal 9 (SIGKILL) ended the command after #2 had begun: exit code 137"]
    assert said(-6) == ["signal 6 (SIGABRT) ended the command after #2 had begun: exit code 134"]
    assert said(-9, history=none) == ["signal 9 (SIGKILL) ended the command: exit code 137"]
    assert said(0) == said(2) == said(137) == []
    assert said(-2, 2) == ["interrupted by SIGINT after #2 had begun; the command exited with 130"]
    assert said(0, 2, 15) == [
        "interrupted by SIGINT and SIGTERM after #2 had begun; the command exited with 0"
    ]
    assert said(-2, 2, history=none) == [
        "interrupted by SIGINT before its first exchange; the command exited with 130"
    ]
    assert how_it_ended(none, 143, {15}, silent=True) == [
        "interrupted by SIGTERM before anything was sent through the proxy; the command exited with 143"
    ]
    assert how_it_ended(seen, -2, {2}, silent=True) == said(-2, 2)
    assert signal_name(signal.SIGRTMAX - 1) == "without a name"
    failed = History("exec", (talk(1, status=503),))
    told = about_run(failed, TOOL, [], {}, Ended("a", 2, "", 1.0, frozenset({2})))
    assert told == ("interrupted by SIGINT after #1 had begun; the command exited with 2",)


@pytest.mark.parametrize(
    ("begun", "quiet", "told"), [(False, False, True), (True, False, False), (False, True, False)]
)
def test_an_interruption_before_the_command_was_started_is_stated(begun, quiet, told, capsys):
    def interrupted():
        with _starting(quiet=quiet) as noted:
            noted += [True] * begun
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    words = "interrupted before the command was started; nothing was sent\n"
    assert capsys.readouterr().err == words * told


def test_processes_that_outlived_the_command():
    assert left_behind(0) == ()
    assert left_behind(1) == ("1 process that the command left behind ended with the run",)
    assert left_behind(2)[0].startswith("2 processes that")
