"""Real child interpreters; no network."""

import os
import select
import sys
from contextlib import contextmanager

import pytest

from faultwire.agents._api import Asked
from faultwire.agents._process import Processes
from faultwire.agents.python import PythonAgent, call_function
from faultwire.errors import AgentError

ENV = {"PATH": os.environ["PATH"]}
CODE = """
import asyncio, http.client, os, subprocess, sys, threading
print("printed while imported")
def plain(prompt):
    print("printed")
    return f"{prompt} of {os.environ.get('WHO')} in {os.path.basename(os.getcwd())}"
async def slow(prompt): await asyncio.sleep(0); return prompt[::-1]
class Bot:
    def __init__(self): self.n = 0
    def invoke(self, prompt): self.n += 1; return f"{self.n}: {prompt}"
def fails(prompt): raise ValueError(f"no {prompt}")
def nothing(prompt): pass
def leaves(prompt): sys.exit(5)
def vanishes(prompt): os._exit(0)
def reads(prompt): return repr(sys.stdin.read())
def long(prompt): return "x" * 5000
def hangs(prompt):
    child = subprocess.Popen([sys.executable, "-c", "import threading; threading.Event().wait()"])
    print(child.pid, flush=True); threading.Event().wait()
def reset(): open("reset", "a").write("r")
def stuck(): raise RuntimeError("it is stuck")
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "user_agent.py").write_text(CODE)
    return tmp_path


def agent(folder, name, **more):
    return PythonAgent(f"user_agent:{name}", sys.executable, folder, **more)


def test_it_is_called_in_its_own_interpreter_and_folder(folder):
    result = agent(folder, "plain", env={"WHO": "me"}).invoke(Asked(('say "hi"\n',)), ENV)
    assert result.answer == f'say "hi"\n of me in {folder.name}'
    assert (result.exit_code, result.timed_out) == (0, False)
    assert result.stderr == "printed while imported\nprinted"  # what it prints is no answer, and is kept
    assert "user_agent" not in sys.modules


def test_every_shape_of_it(folder):
    assert agent(folder, "slow").invoke(Asked(("abc",)), ENV).answer == "cba"
    assert agent(folder, "Bot").invoke(Asked(("a", "b")), ENV).answer == "2: b"
    assert agent(folder, "reads").invoke(Asked(("a",)), ENV).answer == "''"  # our orders are not its stdin


def test_what_goes_wrong_in_it_is_its_result(folder):
    failed = agent(folder, "fails").invoke(Asked(("x",)), ENV)
    assert (failed.answer, failed.exit_code) == ("", 1)
    assert "ValueError: no x" in failed.stderr
    nothing = agent(folder, "nothing").invoke(Asked(("x",)), ENV)
    assert (nothing.answer, nothing.exit_code) == ("", 1)
    assert "faultwire: no answer: it returned None, expected an answer" in nothing.stderr
    assert agent(folder, "leaves").invoke(Asked(("x",)), ENV).exit_code == 5
    vanished = agent(folder, "vanishes").invoke(Asked(("x",)), ENV)
    assert (vanished.answer, vanished.exit_code) == ("", 1)
    assert "Python exited before the agent answered" in vanished.stderr
    assert agent(folder, "long", kept=1000).invoke(Asked(("x",)), ENV).exit_code == 1


def test_a_timeout_kills_all_that_it_started(folder):
    result = agent(folder, "hangs", timeout_s=1.5).invoke(Asked(("x",)), ENV)
    assert (result.timed_out, result.exit_code, result.answer) == (True, -9, "")
    assert gone(int(result.stderr.splitlines()[-1]))


def gone(pid):
    """Does the process end? Its descriptor becomes readable when it does."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    with os.fdopen(handle):
        return bool(select.select([handle], [], [], 30)[0])


@pytest.mark.parametrize(
    ("endpoint", "why"),
    [
        ("user_agent:nobody", "found no `nobody` in `user_agent`"),
        ("no_such_agent:x", "found no module `no_such_agent`, expected it in"),
    ],
)
def test_what_is_not_there_ends_the_run(folder, endpoint, why):
    with pytest.raises(AgentError, match=why) as error:
        PythonAgent(endpoint, sys.executable, folder).invoke(Asked(("x",)), ENV)
    assert error.value.exit_code == 2


def test_an_interpreter_that_is_not_there(folder):
    with pytest.raises(AgentError, match="the agent `no-such-python` did not start"):
        PythonAgent("a:b", "no-such-python", folder).invoke(Asked(("x",)), ENV)


def test_a_function_that_makes_it_forget(folder):
    processes = Processes()
    call_function("user_agent:reset", sys.executable, ENV, folder, 30, processes)
    assert (folder / "reset").read_text() == "r"
    for name, why in (
        ("stuck", "raised: `RuntimeError: it is stuck`"),
        ("nobody", "found no `nobody`"),
    ):
        with pytest.raises(AgentError, match=why) as error:
            call_function(f"user_agent:{name}", sys.executable, ENV, folder, 30, processes)
        assert error.value.code == "agent.reset"


def test_its_label_and_abilities():
    agent = PythonAgent("a:b", langchain=True)
    assert (agent.label, agent.network, agent.concurrent, agent.resets) == (
        "langchain a:b",
        False,
        True,
        False,
    )


def test_its_interpreter_is_watched(folder):
    heard = []

    @contextmanager
    def watch(pid):
        os.kill(pid, 0)
        heard.append("begin")
        yield
        heard.append("end")

    assert agent(folder, "slow").invoke(Asked(("abc",), watch=watch), ENV).answer == "cba"
    assert heard == ["begin", "end"]
