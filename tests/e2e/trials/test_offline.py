"""All commands that run an agent again and again, in a network namespace without a route: the mock answers,
or a tape.

The namespace is one of a user namespace, so that no rights are needed. It has its own loopback interface,
over which agent and proxy talk, and nothing else.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.e2e.agents.harness import base_environment

LIMIT_S = 900
ALONE = ("unshare", "--map-root-user", "--net", "sh", "-c", 'ip link set lo up && exec "$@"', "sh")
ROUTED = (*ALONE[:-2], 'ip link set lo up && ip route add 192.0.2.0/24 dev lo && exec "$@"', "sh")
REACH = """import errno, socket
for family, address in ((socket.AF_INET, "192.0.2.1"), (socket.AF_INET6, "2001:db8::1")):
    try:
        socket.socket(family, socket.SOCK_DGRAM).connect((address, 443))
        print("a route")
    except OSError as error:
        print(errno.errorcode[error.errno])
"""
AGENT = """import json, sys, urllib.request
whole = []
for number in (1, 2):
    asked = {"model": "gpt-4o-mini", "messages": [{"role": "user", "content": f"Step {number}?"}]}
    head = {"authorization": "Bearer sk-none", "content-type": "application/json"}
    url = "https://api.openai.com/v1/chat/completions"
    call = urllib.request.Request(url, json.dumps(asked).encode(), head)
    try:
        whole.append(json.loads(urllib.request.urlopen(call, timeout=120).read())["choices"][0] is not None)
    except (OSError, ValueError):
        whole.append(False)
print(whole)
sys.exit(not whole[1])
"""
COMMAND = ("--", sys.executable, "-S", "agent.py")
FAULT = ("--fault", "malformed_body: {}")


def alone(work: Path, *words: str, within: tuple[str, ...] = ALONE) -> subprocess.CompletedProcess[str]:
    """Run something in a namespace of its own."""
    environment = base_environment()
    environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{environment['PATH']}"
    return subprocess.run(
        [*within, *words], cwd=work, env=environment, capture_output=True, text=True, check=False,
        timeout=LIMIT_S,
    )  # fmt: skip


def faultwire(work: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return alone(work, str(Path(sys.executable).with_name("faultwire")), *words)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an agent, the tape of a run that failed, and that of a calm one."""
    work = tmp_path_factory.mktemp("offline")
    if not all(map(shutil.which, ("ip", "unshare"))) or alone(work, "true").returncode:
        pytest.skip("needs `ip`, and a system that lets a user make namespaces")
    (work / "agent.py").write_text(AGENT)
    failed = faultwire(work, "exec", "-q", "--mock", *FAULT, "--record", "failed", *COMMAND)
    calm = faultwire(work, "exec", "-q", "--mock", "--record", "calm", *COMMAND)
    assert (failed.returncode, calm.returncode) == (1, 0), failed.stderr + calm.stderr
    return work


@pytest.fixture
def work(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "work"))


@pytest.mark.nightly
def test_the_namespace_has_no_route_and_the_question_can_find_one(made: Path) -> None:
    lost = alone(made, sys.executable, "-S", "-c", REACH).stdout.split("\n")
    assert lost[:2] == ["ENETUNREACH", "ENETUNREACH"]
    assert alone(made, "ip", "route").stdout == ""
    found = alone(made, sys.executable, "-S", "-c", REACH, within=ROUTED).stdout.split("\n")
    assert found[0] == "a route"


@pytest.mark.nightly
def test_an_agent_that_nobody_answers_gets_no_answer_there(work: Path) -> None:
    """The control of those below: without the mock and without a tape the same agent fails."""
    done = faultwire(work, "exec", "-q", *COMMAND)
    assert done.returncode == 1, done.stderr


@pytest.mark.nightly
@pytest.mark.timeout(LIMIT_S)
@pytest.mark.parametrize("answers", [(), ("--mock",)], ids=["tape", "mock"])
def test_shrink_and_the_folder_that_it_makes(answers: tuple[str, ...], work: Path) -> None:
    done = faultwire(work, "shrink", "failed", *answers, *FAULT, "-o", "repro", *COMMAND)
    assert done.returncode == 0, done.stderr
    assert "1 of 2 decisions is needed" in done.stdout
    shown = alone(work, "sh", "repro/run.sh")
    assert (shown.returncode, "fails as recorded" in shown.stdout) == (1, True), shown.stderr


@pytest.mark.nightly
@pytest.mark.timeout(LIMIT_S)
@pytest.mark.parametrize(
    "how", [("--calm", "calm"), FAULT, ("--mock", *FAULT)], ids=["two tapes", "tape", "mock"]
)
def test_blame(how: tuple[str, ...], work: Path) -> None:
    done = faultwire(work, "blame", "failed", *how, "--no-fields", "--format", "json", *COMMAND)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert [found["parts"][at]["exchange"] for at in found["blamed"]] == [2]


@pytest.mark.nightly
@pytest.mark.timeout(LIMIT_S)
@pytest.mark.parametrize("answers", [("--replay", "calm"), ("--mock",)], ids=["tape", "mock"])
def test_explore(answers: tuple[str, ...], work: Path) -> None:
    done = faultwire(work, "explore", *answers, "--format", "json", *FAULT, *COMMAND)
    assert done.returncode == 1, done.stderr
    found = json.loads(done.stdout)
    assert len(found["failures"]) == 1


@pytest.mark.nightly
@pytest.mark.timeout(LIMIT_S)
@pytest.mark.parametrize("draws", [False, True], ids=["same", "random"])
def test_audit(draws: bool, work: Path) -> None:
    text = AGENT.replace("Step {number}?", "Step {number} {os.urandom(4).hex()}?") if draws else AGENT
    (work / "agent.py").write_text(text.replace("import json", "import json, os"))
    done = faultwire(work, "audit", "--mock", "--format", "json", "--", sys.executable, "agent.py")
    assert json.loads(done.stdout)["cause"] == ("random" if draws else None), done.stderr
    assert done.returncode == int(draws)


@pytest.mark.nightly
@pytest.mark.timeout(2 * LIMIT_S)
def test_validate(work: Path) -> None:
    done = faultwire(work, "validate", "--mock", "--cases", "1", "--no-shrink", "--format", "json", *COMMAND)
    assert done.returncode == 0, done.stderr
    kinds = {one["kind"]: one for one in json.loads(done.stdout)["kinds"]}
    assert kinds["single"]["cause_first"] == 1
    assert kinds["none"]["false_blame"] == 0
    assert os.listdir(work / ".faultwire" / "trials" / "runs") == []
