"""`faultwire audit` with real processes: a planted source of chance in an agent on the openai SDK."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.bench import audit_agents
from tests.e2e.agents import environments
from tests.e2e.agents.harness import base_environment, faultwire

LIMIT_S = 900
AGENT = """import os, random, sys, threading, time, uuid
sys.path.insert(0, SITE)
from openai import OpenAI

client = OpenAI(max_retries=0)


def ask(text):
    asked = [{"role": "user", "content": text}]
    return client.chat.completions.create(model="gpt-4o-mini", messages=asked).choices[0].message.content


ask("Where to start?")
"""
PLANTS = {
    "clock": "ask(f'It is {time.time()}')",
    "words of the clock": "ask(random.Random(time.time()).choice(['rivers', 'lakes', 'hills', 'seas'] * 9))",
    "random": "ask(f'pick {random.choice([str(n) * 9 for n in range(9)])} {uuid.uuid4()}')",
    "order": """
got = []
def one(text):
    time.sleep(random.random() * 0.05)
    ask(text)
    got.append(text)
threads = [threading.Thread(target=one, args=(text,)) for text in ("rivers", "lakes", "hills")]
for thread in threads: thread.start()
for thread in threads: thread.join()
ask('Sum up: ' + '; '.join(got))
""",
    "environment": """
count = len(open("log").read()) if os.path.exists("log") else 0
open("log", "a").write("x")
ask(f"You were called {count} times")
""",
    "process id": "ask(f'worker {os.getpid()}')",
    "load": "ask('load: ' + open('/proc/loadavg').read())",
    "same": "ask('Go on')",
}
CAUSES = {"words of the clock": "clock", "process id": "unknown", "load": "unknown", "same": None}
PLAIN = """import json, urllib.request
for word in {"rivers", "lakes", "hills", "seas", "woods", "moors"}:
    body = json.dumps({"model": "gpt-4o-mini", "messages": [{"role": "user", "content": word}]}).encode()
    head = {"content-type": "application/json", "authorization": "Bearer sk-test-key-of-nobody"}
    urllib.request.urlopen(urllib.request.Request("https://api.openai.com/v1/chat/completions", body, head))
"""


def agent(work: Path, more: str) -> tuple[str, str]:
    """Write an agent on the openai SDK; its command. The SDKs' own launcher would keep the preload away."""
    site = environments.python("openai-3").parent / "site"
    (work / "agent.py").write_text(AGENT.replace("SITE", repr(str(site))) + more)
    return sys.executable, "agent.py"


def audit(work: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    library = next(environments.python("libfaketime-3").parent.rglob("libfaketime.so.1"))
    return subprocess.run(
        [*faultwire(), "audit", "--mock", "--format", "json", *arguments], cwd=work, timeout=LIMIT_S,
        env=base_environment() | {"FAULTWIRE_LIBFAKETIME": str(library)}, capture_output=True, text=True,
        check=False,
    )  # fmt: skip


@pytest.mark.nightly
def test_the_order_of_a_set_is_the_programs_chance(tmp_path: Path) -> None:
    """Calls one after the other in another order: no race, and Python's hashes explain it."""
    (tmp_path / "agent.py").write_text(PLAIN)
    done = audit(tmp_path, "--", sys.executable, "-S", "agent.py")
    assert done.returncode == 1, done.stderr
    found = json.loads(done.stdout)
    assert (found["cause"], found["word"]) == ("random", "flaky")
    assert {"condition": "fixed hashes", "result": "agree"}.items() <= found["tried"][-1].items()
    assert not list((tmp_path / ".faultwire" / "runs").glob("*")), "an audit leaves no runs"


@pytest.mark.nightly
@pytest.mark.timeout(LIMIT_S)
@pytest.mark.parametrize("plant", PLANTS)
def test_a_planted_cause_in_an_agent_on_the_openai_sdk(plant: str, tmp_path: Path) -> None:
    done = audit(tmp_path, "--", *agent(tmp_path, PLANTS[plant]))
    found = json.loads(done.stdout)
    assert found["cause"] == CAUSES.get(plant, plant), (found, done.stderr)
    assert done.returncode == int(found["cause"] is not None)
    if found["first"] and plant != "order":
        assert (found["first"]["call"], found["first"]["field"]) == (2, "$.messages[0].content")


@pytest.mark.nightly
@pytest.mark.timeout(LIMIT_S)
def test_what_has_changed_since_a_run_of_before(tmp_path: Path) -> None:
    command = ("--", *agent(tmp_path, "ask('Be brief, ' + open('style').read())"))
    (tmp_path / "style").write_text("and kind")
    environment = base_environment()
    subprocess.run(
        [*faultwire(), "exec", "-q", "--mock", *command], cwd=tmp_path, env=environment, check=True,
        capture_output=True,
    )  # fmt: skip
    same = audit(tmp_path, "--against", "last", *command)
    assert (same.returncode, json.loads(same.stdout)["cause"]) == (0, None)
    (tmp_path / "style").write_text("and cruel")
    other = json.loads(audit(tmp_path, "--against", "last", *command).stdout)
    assert (other["cause"], other["word"]) == ("environment", "changed")
    agent(tmp_path, "ask('Be long')")
    code = json.loads(audit(tmp_path, "--against", "last", *command).stdout)
    assert (code["cause"], code["first"]["call"]) == ("code", 2)


@pytest.mark.nightly
@pytest.mark.timeout(LIMIT_S)
def test_chance_that_cannot_be_fixed_is_not_called_chance(tmp_path: Path) -> None:
    """The same agent, in an interpreter that takes no preload: the audit names what is missing."""
    agent(tmp_path, PLANTS["random"])
    done = audit(tmp_path, "--", sys.executable, "-I", "agent.py")
    found = json.loads(done.stdout)
    assert found["cause"] == "unknown", done.stderr
    assert [one for one in found["missing"] if one.startswith("fixed chance: no program of the command")]


KINDS = {(one.cause, one.language): one for one in reversed(audit_agents.PLANTS)}


@pytest.mark.nightly
@pytest.mark.timeout(2 * LIMIT_S)
@pytest.mark.parametrize("plant", KINDS.values(), ids=lambda plant: f"{plant.cause} {plant.language}")
def test_a_planted_cause_of_each_kind_in_python_and_in_node(
    plant: audit_agents.Plant, tmp_path: Path
) -> None:
    """A short form of the benchmark on real processes: the first agent of each kind."""
    library = next(environments.python("libfaketime-3").parent.rglob("libfaketime.so.1"))
    environment = base_environment() | {"FAULTWIRE_LIBFAKETIME": str(library)}
    with audit_agents.served() as url:
        found = audit_agents.audited(plant, tmp_path, url, environment)
    assert found["cause"] == plant.cause, found


@pytest.mark.nightly
@pytest.mark.timeout(LIMIT_S)
def test_runs_of_an_audit_share_an_engine(tmp_path: Path) -> None:
    """Seen by an agent that looks for the engines below `.faultwire` while it runs."""
    (tmp_path / "agent.py").write_text(
        PLAIN
        + "import glob\nopen('seen', 'a').write(f'{sorted(glob.glob(\".faultwire/trials/runs/*\"))}\\n')"
    )
    done = audit(tmp_path, "--", sys.executable, "agent.py")
    assert json.loads(done.stdout)["cause"] == "random", done.stderr
    seen = [line for line in (tmp_path / "seen").read_text().splitlines() if line != "[]"]
    assert len(seen) >= 5
    assert len(set(seen)) == 1


def test_a_command_without_traffic_proves_nothing(tmp_path: Path) -> None:
    done = audit(tmp_path, "--", sys.executable, "-S", "-c", "pass")
    assert (done.returncode, "sent no traffic" in done.stderr) == (3, True)
    assert audit(tmp_path).returncode == 2
    assert os.listdir(tmp_path) in ([], [".faultwire"])


@pytest.mark.cold
@pytest.mark.parametrize("way", ["audit", "validate"])
def test_ctrl_c_keeps_what_was_learned(way: str, tmp_path: Path) -> None:
    """Each of both commands prints what its runs so far say, and exits with 130."""
    (tmp_path / "agent.py").write_text(
        PLAIN if way == "audit" else PLAIN.replace("{", "[", 1).replace("}:", "]:")
    )
    with subprocess.Popen(
        [*faultwire(), way, "--mock", "--", sys.executable, "-S", "agent.py"], cwd=tmp_path,
        env=base_environment() | {"PYTHONHASHSEED": "random"}, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stderr is not None
        for line in process.stderr:
            if line.startswith("run 4 ") or "plants among" in line:
                break
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=LIMIT_S)
    assert process.returncode == 130, stderr
    if way == "audit":
        assert stdout.startswith("audit: interrupted after "), stdout
    else:
        assert "0 of 4 plants searched for" in stderr
        assert "planted" in stdout
