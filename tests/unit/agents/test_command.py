import os
import select
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from faultwire.agents.command import CommandAgent
from faultwire.errors import AgentError, ConfigError

ENV = {"PATH": os.environ["PATH"]}


def python(code, *arguments, **settings):
    return CommandAgent((sys.executable, "-c", code, *arguments), **settings)


def test_the_prompt_goes_where_the_placeholder_stands():
    agent = python("import sys; print(sys.argv[1:])", "--ask", "q={prompt}", "{prompt}")
    result = agent.invoke('what\'s "up"; $(id)\n{prompt}', ENV)
    assert (
        result.answer
        == repr(["--ask", 'q=what\'s "up"; $(id)\n{prompt}', 'what\'s "up"; $(id)\n{prompt}']) + "\n"
    )
    assert (result.exit_code, result.timed_out) == (0, False)


def test_the_prompt_goes_to_stdin():
    agent = python("import sys; sys.stdout.write(sys.stdin.read()[::-1])", "{prompt}", stdin=True)
    assert agent.invoke("äbc\0\n", ENV).answer == "\n\0cbä"


def test_an_agent_that_does_not_read_its_prompt_is_no_error():
    assert python("print('x')", stdin=True).invoke("y" * 1_000_000, ENV).answer == "x\n"


def test_without_stdin_an_agent_reads_nothing():
    assert python("import sys; print(repr(sys.stdin.read()))", "{prompt}").invoke("x", ENV).answer == "''\n"


def test_exit_code_stderr_and_environment_are_kept():
    agent = python("import os, sys; print(os.environ['MARK']); sys.exit('it broke')", "{prompt}")
    result = agent.invoke("x", ENV | {"MARK": "m1"})
    assert (result.answer, result.stderr, result.exit_code) == ("m1\n", "it broke\n", 1)


def test_a_signal_is_a_negative_exit_code():
    assert python("import os; os.kill(os.getpid(), 11)", "{prompt}").invoke("x", ENV).exit_code == -11


def test_a_timeout_kills_the_whole_process_group():
    code = (
        "import subprocess, sys, threading\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import threading; threading.Event().wait()'])\n"
        "print(child.pid, flush=True)\n"
        "threading.Event().wait()\n"
    )
    result = python(code, "{prompt}", timeout_s=1.5).invoke("x", ENV)
    assert (result.timed_out, result.exit_code) == (True, -9)
    assert gone(int(result.answer))


def test_what_an_agent_leaves_behind_goes_with_it():
    code = (
        "import subprocess, sys\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import threading; threading.Event().wait()'])\n"
        "print(child.pid)\n"
    )
    result = python(code, "{prompt}").invoke("x", ENV)
    assert (result.timed_out, result.exit_code) == (False, 0)
    assert gone(int(result.answer))


def gone(pid):
    """Does the process end? Its descriptor becomes readable when it does."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([handle], [], [], 30)[0])
    finally:
        os.close(handle)


def test_output_without_end_is_bounded():
    agent = python(
        "import sys; sys.stdout.write('x' * 50_000_000); sys.stderr.write('y' * 3000)", "{prompt}", kept=1000
    )
    result = agent.invoke("x", ENV)
    assert result.answer == "x" * 1000 + "\n[49999000 more bytes were not kept]"
    assert result.stderr == "y" * 1000 + "\n[2000 more bytes were not kept]"


def test_bytes_that_are_no_text_do_not_break_it():
    agent = python("import sys; sys.stdout.buffer.write(b'a\\xff\\xfeb')", "{prompt}")
    assert agent.invoke("x", ENV).answer == "a\ufffd\ufffdb"


def test_stop_ends_what_runs_and_what_comes_later(tmp_path):
    up = tmp_path / "up"
    os.mkfifo(up)
    code = "import os, threading; open(os.environ['UP'], 'w').write('x'); threading.Event().wait()"
    agent = python(code, "{prompt}", timeout_s=60, env={"UP": str(up)})
    with ThreadPoolExecutor(2) as pool:
        running = [pool.submit(agent.invoke, "x", ENV) for _ in range(2)]
        heard = ""
        while len(heard) < 2:
            heard += up.read_text()  # waits for an agent to write
        agent.stop()
        results = [future.result(timeout=30) for future in running]
    assert [(r.exit_code, r.timed_out) for r in results] == [(-9, False)] * 2
    assert agent.invoke("x", ENV).exit_code == -9


def test_variables_are_set_on_top_of_the_sessions_or_taken_out():
    agent = python(
        "import os; print(sorted(k for k in os.environ if k in 'ABC'))", "{prompt}", env={"A": "1", "B": None}
    )
    assert agent.invoke("x", ENV | {"B": "2", "C": "3"}).answer == "['A', 'C']\n"


def test_a_program_that_is_not_there():
    with pytest.raises(AgentError) as error:
        CommandAgent(("no-such-agent-program", "{prompt}")).invoke("x", ENV)
    assert error.value.message == "the agent `no-such-agent-program` did not start: No such file or directory"
    assert error.value.exit_code == 2


def test_a_prompt_that_no_argument_can_carry():
    with pytest.raises(AgentError, match="found a NUL character"):
        python("", "{prompt}").invoke("a\0b", ENV)


def test_settings_without_a_place_for_the_prompt_are_refused():
    with pytest.raises(ConfigError, match=r"found no `\{prompt\}` in `command`"):
        CommandAgent(("agent",))
    with pytest.raises(ConfigError, match="found an empty `command`"):
        CommandAgent(())
