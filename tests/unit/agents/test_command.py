import json
import os
import select
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest

from faultwire.agents._answer import AnswerPath
from faultwire.agents._api import Asked
from faultwire.agents.command import CommandAgent, session_word
from faultwire.errors import AgentError, ConfigError

ENV = {"PATH": os.environ["PATH"]}


def python(code, *arguments, **settings):
    return CommandAgent((sys.executable, "-c", code, *arguments), **settings)


def test_the_prompt_goes_where_the_placeholder_stands():
    agent = python("import sys; print(sys.argv[1:])", "--ask", "q={prompt}", "{prompt}")
    result = agent.invoke(Asked(('what\'s "up"; $(id)\n{prompt}',)), ENV)
    assert (
        result.answer
        == repr(["--ask", 'q=what\'s "up"; $(id)\n{prompt}', 'what\'s "up"; $(id)\n{prompt}']) + "\n"
    )
    assert (result.exit_code, result.timed_out) == (0, False)


def test_the_prompt_goes_to_stdin():
    agent = python("import sys; sys.stdout.write(sys.stdin.read()[::-1])", "{prompt}", stdin=True)
    assert agent.invoke(Asked(("äbc\0\n",)), ENV).answer == "\n\0cbä"


def test_an_agent_that_does_not_read_its_prompt_is_no_error():
    assert python("print('x')", stdin=True).invoke(Asked(("y" * 1_000_000,)), ENV).answer == "x\n"


def test_without_stdin_an_agent_reads_nothing():
    assert (
        python("import sys; print(repr(sys.stdin.read()))", "{prompt}").invoke(Asked(("x",)), ENV).answer
        == "''\n"
    )


def test_exit_code_stderr_and_environment_are_kept():
    agent = python("import os, sys; print(os.environ['MARK']); sys.exit('it broke')", "{prompt}")
    result = agent.invoke(Asked(("x",)), ENV | {"MARK": "m1"})
    assert (result.answer, result.stderr, result.exit_code) == ("m1\n", "it broke\n", 1)


def test_a_signal_is_a_negative_exit_code():
    assert (
        python("import os; os.kill(os.getpid(), 11)", "{prompt}").invoke(Asked(("x",)), ENV).exit_code == -11
    )


def test_a_timeout_kills_the_whole_process_group():
    code = (
        "import subprocess, sys, threading\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import threading; threading.Event().wait()'])\n"
        "print(child.pid, flush=True)\n"
        "threading.Event().wait()\n"
    )
    result = python(code, "{prompt}", timeout_s=1.5).invoke(Asked(("x",)), ENV)
    assert (result.timed_out, result.exit_code) == (True, -9)
    assert gone(int(result.answer))


def test_what_an_agent_leaves_behind_goes_with_it():
    code = (
        "import subprocess, sys\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import threading; threading.Event().wait()'])\n"
        "print(child.pid)\n"
    )
    result = python(code, "{prompt}").invoke(Asked(("x",)), ENV)
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
    result = agent.invoke(Asked(("x",)), ENV)
    assert result.answer == "x" * 1000 + "\n[49999000 more bytes were not kept]"
    assert result.stderr == "y" * 1000 + "\n[2000 more bytes were not kept]"


def test_bytes_that_are_no_text_do_not_break_it():
    agent = python("import sys; sys.stdout.buffer.write(b'a\\xff\\xfeb')", "{prompt}")
    assert agent.invoke(Asked(("x",)), ENV).answer == "a\ufffd\ufffdb"


def test_stop_ends_what_runs_and_what_comes_later(tmp_path):
    up = tmp_path / "up"
    os.mkfifo(up)
    code = "import os, threading; open(os.environ['UP'], 'w').write('x'); threading.Event().wait()"
    agent = python(code, "{prompt}", timeout_s=60, env={"UP": str(up)})
    with ThreadPoolExecutor(2) as pool:
        running = [pool.submit(agent.invoke, Asked(("x",)), ENV) for _ in range(2)]
        heard = ""
        while len(heard) < 2:
            heard += up.read_text()  # waits for an agent to write
        agent.stop()
        results = [future.result(timeout=30) for future in running]
    assert [(r.exit_code, r.timed_out) for r in results] == [(-9, False)] * 2
    assert agent.invoke(Asked(("x",)), ENV).exit_code == -9


def test_variables_are_set_on_top_of_the_sessions_or_taken_out():
    agent = python(
        "import os; print(sorted(k for k in os.environ if k in 'ABC'))", "{prompt}", env={"A": "1", "B": None}
    )
    assert agent.invoke(Asked(("x",)), ENV | {"B": "2", "C": "3"}).answer == "['A', 'C']\n"


def test_a_program_that_is_not_there():
    with pytest.raises(AgentError) as error:
        CommandAgent(("no-such-agent-program", "{prompt}")).invoke(Asked(("x",)), ENV)
    assert error.value.message == "the agent `no-such-agent-program` did not start: No such file or directory"
    assert error.value.exit_code == 2


@pytest.mark.parametrize(
    ("prompt", "why"),
    [("a\0b", "found a NUL character in a prompt"), ("x" * 200_000, "too long for an argument")],
)
def test_a_prompt_that_no_argument_can_carry_says_nothing_of_the_agent(prompt, why):
    result = python("print('never')", "{prompt}").invoke(Asked((prompt,)), ENV)
    assert (result.answer, result.exit_code, result.timed_out) == ("", None, False)
    assert why in result.stderr
    assert "use `{prompt_file}`" in result.stderr


READ = "import sys; print(open(sys.argv[1]).read()[-5:])"


def test_a_file_carries_what_no_argument_can(tmp_path):
    asked = Asked(("first", "x" * 200_000 + "\0last\0"))
    assert python(READ, "{prompt_file}").invoke(asked, ENV).answer == "last\0\n"
    assert python(READ, "{turns_file}").invoke(Asked(("a", "b")), ENV).answer == ', "b"]'[-5:] + "\n"


def test_a_conversation_is_a_json_list():
    asked = Asked(("one", 'two "2"'), "calm/p/r1")
    agent = python("import sys; print(sys.argv[1])", "{turns}")
    assert json.loads(agent.invoke(asked, ENV).answer) == ["one", 'two "2"']
    fed = python("import sys; print(sys.stdin.read())", stdin_turns=True)
    assert json.loads(fed.invoke(asked, ENV).answer) == ["one", 'two "2"']
    assert (agent.takes_turns, fed.takes_turns) == (True, True)
    last = python("import sys; print(sys.argv[1])", "{prompt}")
    assert not last.takes_turns
    assert last.invoke(asked, ENV).answer == 'two "2"\n'


def test_what_is_put_in_is_not_looked_at_again():
    agent = python("import sys; print(sys.argv[1:])", "{prompt}", "{session}")
    answer = agent.invoke(Asked(("{session}{prompt}",), "calm/p/r1"), ENV).answer
    assert answer.startswith("['{session}{prompt}', 'calm-p-r1-")


def test_two_invocations_never_share_a_word():
    words = {session_word(name) for name in ("a/b", "a-b", "a.b", "a b", "", "é", "..", "a/b~2", "x" * 99)}
    assert len(words) == 9
    assert all(word.isascii() and "/" not in word and not word.startswith(".") for word in words)


def test_the_answer_is_at_a_place_of_what_it_prints():
    path = AnswerPath("choices[0].text")
    agent = python("""print('{"choices": [{"text": "Paris"}]}')""", "{prompt}", answer_path=path)
    assert agent.invoke(Asked(("x",)), ENV).answer == "Paris"
    for code, why in (
        ("print('oops')", "found no JSON (`oops`, line 1)"),
        ("print('{}')", "found no `choices[0].text` in an empty object"),
        ("""print('{"choices": []}')""", "found no `choices[0].text` in an object with `choices`"),
        ("""print('{"choices": [{"text": null}]}')""", "found null at `choices[0].text`"),
    ):
        result = python(code, "{prompt}", answer_path=path).invoke(Asked(("x",)), ENV)
        assert (result.answer, result.exit_code) == ("", 1)
        assert f"faultwire: no answer: {why}" in result.stderr


def test_more_than_is_kept_is_no_json():
    agent = python("print('[' + '1,' * 5000 + '1]')", "{prompt}", answer_path=AnswerPath("$[0]"), kept=1000)
    result = agent.invoke(Asked(("x",)), ENV)
    assert (result.answer, result.exit_code) == ("", 1)
    assert "found more than 1000 bytes on stdout" in result.stderr


def test_the_answer_is_in_a_file(tmp_path):
    code = "import sys; open(sys.argv[2], 'w').write(sys.argv[1]); print('chatter')"
    agent = python(code, "{prompt}", "out-{session}.txt", answer_file="out-{session}.txt", cwd=tmp_path)
    assert agent.concurrent
    assert agent.invoke(Asked(("hi",), "calm/p/r1"), ENV).answer == "hi"
    one = python(code, "{prompt}", "out.txt", answer_file="out.txt", cwd=tmp_path)
    assert not one.concurrent  # all cells would write the same file
    assert one.invoke(Asked(("hi",)), ENV).answer == "hi"
    silent = python("", "{prompt}", answer_file="out.txt", cwd=tmp_path)
    result = silent.invoke(Asked(("x",)), ENV)  # the earlier cell's file is no answer
    assert (result.answer, result.exit_code) == ("", 1)
    assert "found no file `out.txt` (No such file or directory)" in result.stderr


def test_a_file_that_never_ends_or_is_too_long_is_no_answer(tmp_path):
    for code, why in (
        ("import os; os.mkfifo('out.txt')", "found no regular file `out.txt`"),
        ("open('out.txt', 'w').write('x' * 2000)", "found more than 1000 bytes in `out.txt`"),
        ("import os; os.mkdir('out.txt')", "found no file `out.txt` (Is a directory)"),
    ):
        for left in tmp_path.iterdir():
            left.rmdir() if left.is_dir() else left.unlink()
        agent = python(code, "{prompt}", answer_file="out.txt", cwd=tmp_path, kept=1000)
        result = agent.invoke(Asked(("x",)), ENV)
        assert result.answer == ""
        assert why in result.stderr


def test_the_label_names_program_and_script_and_no_argument():
    agent = CommandAgent(("/usr/bin/node", "--token=abc", "/srv/agent.mjs", "sk-secret", "{prompt}"))
    assert agent.label == "node agent.mjs"
    assert (agent.network, agent.resets, agent.concurrent) == (False, False, True)


def test_settings_without_a_place_for_the_prompt_are_refused():
    with pytest.raises(ConfigError, match=r"found no `\{prompt\}` in `command`"):
        CommandAgent(("agent",))
    with pytest.raises(ConfigError, match="found an empty `command`"):
        CommandAgent(())


def test_its_process_is_watched_until_what_it_left_behind_is_killed():
    alive = []

    @contextmanager
    def watch(pid):
        yield
        os.killpg(pid, 0)  # raises where nobody is left
        alive.append(pid)

    code = "import subprocess, sys; subprocess.Popen(['sleep', '60']); print('done')"
    result = python(code, "{prompt}").invoke(Asked(("x",), watch=watch), ENV)
    assert (result.answer, len(alive)) == ("done\n", 1)
