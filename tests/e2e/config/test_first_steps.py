"""What a stranger types first, in an empty folder, with no key and no network: `init`, `verify`, `run`."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest


@pytest.fixture
def started(tmp_path: Path, faultwire) -> Path:
    done = faultwire("init")
    assert done.returncode == 0, done.stderr
    return tmp_path


def test_everything_runs_as_it_was_written(started, faultwire):
    verified = faultwire("verify")
    assert verified.returncode == 0, verified.stdout + verified.stderr
    assert "traffic        https://api.openai.com:443: 1 llm" in verified.stdout
    ran = faultwire("run", "-q")
    assert (ran.returncode, ran.stdout) == (0, "1.0000\n"), ran.stderr
    contract = faultwire("contract", "run")
    assert contract.returncode == 0, contract.stdout
    assert re.search(r"short-outage +status +×2", contract.stdout)


@pytest.mark.nightly
def test_it_runs_from_another_folder_too(started, tmp_path_factory, faultwire):
    (started / "sub").mkdir()
    for name in ("faultwire.yaml", "agent.py"):
        (started / name).rename(started / "sub" / name)
    done = faultwire("verify", "-c", "sub/faultwire.yaml")
    assert done.returncode == 0, done.stdout + done.stderr


def edit(folder: Path, old: str, new: str, name: str = "faultwire.yaml") -> None:
    path = folder / name
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


@pytest.mark.nightly
def test_verify_states_that_the_agent_fails(started, faultwire):
    edit(started, "def main():", "def main():\n    sys.exit('out of order')", "agent.py")
    edit(started, "    sys.exit(", "    ask('hi')\n    sys.exit(", "agent.py")
    done = faultwire("verify", "--format", "json")
    assert done.returncode == 1, done.stdout + done.stderr
    (agent,) = (one for one in json.loads(done.stdout) if one["subject"] == "agent")
    assert agent["state"] == "fail"
    assert (
        agent["text"]
        == "asked `p1` it exited with 1 without an answer; the last line of its stderr is `out of order`"
    )


def test_verify_states_that_nothing_arrives(started, faultwire):
    edit(started, "    for attempt", "    print('Paris')\n    return\n    for attempt", "agent.py")
    done = faultwire("verify")
    assert done.returncode == 3, done.stdout + done.stderr
    assert "FAIL  traffic" in done.stdout
    assert "sent no traffic through the proxy" in done.stdout


@pytest.mark.nightly
def test_verify_states_that_the_agent_does_not_start(started, faultwire):
    edit(started, '["python3", "agent.py"', '["no-such-program", "agent.py"')
    done = faultwire("verify")
    assert done.returncode == 2, done.stdout + done.stderr
    assert "no-such-program" in done.stderr
    assert "Traceback" not in done.stderr


def test_verify_lists_every_mistake_of_the_file_and_starts_nothing(started, faultwire):
    edit(started, "mock: true", "moc: true")
    edit(started, "profile: rate_limits", "profile: rate_limit")
    done = faultwire("verify")
    assert (done.returncode, done.stdout) == (2, "")
    assert "faultwire.yaml:" in done.stderr
    assert "did you mean `mock`?" in done.stderr
    assert "did you mean `rate_limits`?" in done.stderr
    assert not list((started / ".faultwire").glob("runs/*"))


@pytest.mark.nightly
def test_verify_states_that_the_model_cannot_be_reached(started, faultwire, port):
    edit(started, "mutations:\n", "mutations:\n  engine: model\n")
    with (started / "faultwire.yaml").open("a") as file:
        file.write(
            f"model: {{provider: openai, name: m, base_url: 'http://127.0.0.1:{port}/v1', "
            "api_key: '${K}'}\n"
        )
    (started / ".env").write_text("K=a-key-of-the-test\n")
    done = faultwire("verify")
    assert done.returncode == 3, done.stdout + done.stderr
    assert "FAIL  model" in done.stdout
    assert "a-key-of-the-test" not in done.stdout + done.stderr


@pytest.mark.nightly
def test_a_key_from_dotenv_reaches_the_agent(started, faultwire):
    edit(
        started,
        '  # env: {OPENAI_API_KEY: "${OPENAI_API_KEY}"}  #',
        '  env: {OPENAI_API_KEY: "${MY_KEY}"}  #',
    )
    (started / ".env").write_text("MY_KEY=from-dotenv\n")
    edit(
        started,
        "            print(ask(sys.argv[1]))",
        "            print(ask(sys.argv[1]), os.environ['OPENAI_API_KEY'][:4])",
        "agent.py",
    )
    done = faultwire("verify")
    assert done.returncode == 0, done.stdout + done.stderr
    (started / ".env").unlink()
    done = faultwire("verify")
    assert done.returncode == 2
    assert "found no variable `MY_KEY`" in done.stderr


@pytest.mark.nightly
def test_verify_reaches_run(started, faultwire):
    done = faultwire("run", "--verify-only")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("ok    configuration  faultwire.yaml: 2 golden prompts")
