"""The kits for pipelines: the action, and the scripts in docs/howto/ci.md, run as a runner runs them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import redirect
import yaml
from driving import LIMIT_S, environment

pytestmark = pytest.mark.nightly

ROOT = Path(__file__).parents[3]
ACTION = ROOT / ".github" / "actions" / "faultwire"
DOCS = (ROOT / "docs" / "howto" / "ci.md").read_text()
AGENT = """
import json, sys, urllib.request
body = {"model": "m", "messages": [{"role": "user", "content": sys.argv[2]}]}
request = urllib.request.Request(
    "http://api.openai.com/v1/chat/completions",
    json.dumps(body).encode(),
    {"content-type": "application/json", "authorization": "Bearer sk-nobody"},
)
try:
    with urllib.request.urlopen(request) as answer:
        print(json.loads(answer.read())["choices"][0]["message"]["content"])
except OSError:
    print("" if sys.argv[1] == "careless" else "The model could not be reached.")
"""
CONFIG = """
version: "2.0"
agent: {type: command, command: [%s, -I, -S, agent.py, %s, "{prompt}"]}
proxy: {mock: true}
golden_prompts: ["Say tea."]
invariants: [{id: answers, type: output_not_empty, severity: critical}]
mutations: {count: 2, types: [noise]}
contract:
  name: talk
  invariants: [{id: answers_always, type: output_not_empty, severity: critical}]
  chaos_matrix:
    - {name: calm}
    - {name: down, faults: [{status: {code: 503}}]}
advanced: {concurrency: 2, seed: 42}
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project with a space"
    folder.mkdir()
    (folder / "agent.py").write_text(AGENT)
    write(folder, "careful")
    return folder


def write(folder: Path, manners: str) -> None:
    (folder / "faultwire.yaml").write_text(CONFIG % (sys.executable, manners))


def shell(command: list[str], folder: Path, **env: str) -> subprocess.CompletedProcess[str]:
    """As a runner does: the interpreter of the tests is the `python3` of the machine."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        command, cwd=folder, env=environment(PATH=path, **env), capture_output=True, text=True,
        timeout=LIMIT_S, check=False,
    )  # fmt: skip


class Action:
    """The action's script with a runner's variables."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.summary = folder.parent / "summary.md"
        self.said = folder.parent / "output"

    def run(self, about: Mapping[str, str] | None = None, **inputs: str) -> subprocess.CompletedProcess[str]:
        given = {f"INPUT_{name.upper()}": value for name, value in {"version": "installed", **inputs}.items()}
        return shell(
            ["bash", str(ACTION / "run.sh")],
            self.folder,
            GITHUB_STEP_SUMMARY=str(self.summary),
            GITHUB_OUTPUT=str(self.said),
            RUNNER_TEMP=str(self.folder.parent),
            **given,
            **(about or {}),
        )

    @property
    def outputs(self) -> dict[str, str]:
        return dict(line.split("=", 1) for line in self.said.read_text().splitlines())


@pytest.fixture
def action(project: Path) -> Action:
    return Action(project)


def cases(folder: Path) -> dict[str, int]:
    """How many test cases the JUnit files of the runs have, and how many of them failed."""
    found = {"tests": 0, "failures": 0}
    for path in folder.glob(".faultwire/runs/*/*.xml"):
        for case in ElementTree.parse(path).getroot().iter("testcase"):
            found["tests"] += 1
            found["failures"] += case.find("failure") is not None
    return found


def test_the_action_writes_summary_outputs_and_junit(action: Action) -> None:
    done = action.run(min_score="0.9")
    assert done.returncode == 0, done.stdout + done.stderr
    outputs = action.outputs
    assert outputs["exit-code"] == "0"
    folder = action.folder / outputs["folder"]
    assert (action.folder / outputs["html"]).is_file()
    assert list(action.folder.glob(outputs["junit"])), "the pattern finds files"
    summary = action.summary.read_text()
    assert summary.startswith((folder / "report.md").read_text())
    assert (folder / "contract.md").read_text() in summary, "and every phase"
    found = cases(action.folder)
    assert found["tests"] >= 4
    assert found["failures"] == 0


def test_a_failing_agent_fails_the_job_and_still_has_its_summary(action: Action) -> None:
    write(action.folder, "careless")
    done = action.run()
    assert done.returncode == 1, done.stdout + done.stderr
    assert action.outputs["exit-code"] == "1"
    assert "answers_always" in action.summary.read_text()
    assert cases(action.folder)["failures"] > 0


class GitHub:
    """The part of GitHub's API that the action uses; `status` refuses everything."""

    def __init__(self) -> None:
        self.comments: list[dict[str, Any]] = []
        self.checks: list[dict[str, Any]] = []
        self.status = 0
        self.tokens: set[str] = set()
        github = self

        class Handler(BaseHTTPRequestHandler):
            def answer(self) -> None:
                size = int(self.headers.get("content-length", 0))
                body = json.loads(self.rfile.read(size)) if size else None
                github.tokens.add(self.headers["authorization"])
                found = github.asked(self.command, self.path.removeprefix("/repos/o/r"), body)
                data = json.dumps(found).encode()
                self.send_response(github.status or 200)
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            do_GET = do_POST = do_PATCH = answer  # noqa: N815 - the server's names

            def log_message(self, *_: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def asked(self, method: str, path: str, body: Any) -> Any:
        if self.status:
            return {}
        if path == "/check-runs":
            self.checks.append(body)
        elif method == "POST":
            assert path == "/issues/7/comments"
            self.comments.append({"id": len(self.comments), "user": {"type": "Bot"}, **body})
        elif method == "PATCH":
            self.comments[int(path.rpartition("/")[2])].update(body)
        else:
            return self.comments
        return {}


@pytest.fixture
def github() -> Iterator[GitHub]:
    made = GitHub()
    yield made
    made.server.shutdown()
    made.server.server_close()


def on_pull_request(action: Action, github: GitHub, **inputs: str) -> subprocess.CompletedProcess[str]:
    event = action.folder.parent / "event.json"
    event.write_text(json.dumps({"pull_request": {"number": 7, "head": {"sha": "c0ffee"}}}))
    about = {
        "GITHUB_API_URL": github.url, "GITHUB_REPOSITORY": "o/r", "GITHUB_SHA": "merge",
        "GITHUB_JOB": "chaos",
        "GITHUB_EVENT_PATH": str(event), "GITHUB_WORKFLOW": "agent",
    }  # fmt: skip
    return action.run(about=about, token="ghs_s3cret", **inputs)


def test_a_pull_request_has_one_comment_and_a_check_run(action: Action, github: GitHub) -> None:
    github.comments.append(
        {"id": 0, "user": {"type": "User"}, "body": "<!-- faultwire: agent / chaos -->\nmine"}
    )
    for manners, code, conclusion in (("careful", 0, "success"), ("careless", 1, "failure")):
        write(action.folder, manners)
        done = on_pull_request(action, github, comment="true", check="true")
        assert done.returncode == code, done.stdout + done.stderr
        assert len(github.comments) == 2, "somebody's words stay, and there is one of ours"
        assert (action.folder / action.outputs["folder"] / "report.md").is_file()
        assert f"faultwire ci: {'failed' if code else 'passed'}" in github.comments[1]["body"]
        check = github.checks[-1]
        assert (check["head_sha"], check["conclusion"]) == ("c0ffee", conclusion)
    assert github.comments[0]["body"].endswith("mine")
    assert github.tokens == {"Bearer ghs_s3cret"}
    kept = b"".join(path.read_bytes() for path in action.folder.rglob("*") if path.is_file())
    assert b"ghs_s3cret" not in kept, "the agent and the run never had it"


def test_a_run_that_shows_nothing_is_no_success(action: Action, github: GitHub) -> None:
    (action.folder / "faultwire.yaml").write_text("version: x")
    done = on_pull_request(action, github, comment="true", check="true")
    assert done.returncode == 2
    assert github.checks[-1]["conclusion"] == "failure"
    assert "the configuration is wrong" in github.comments[-1]["body"]


def test_a_token_that_may_not_write_changes_nothing_but_what_is_printed(
    action: Action, github: GitHub
) -> None:
    github.status = 403
    done = on_pull_request(action, github, comment="true", check="true")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "the comment was refused with status 403" in done.stdout
    assert "the check run was refused with status 403" in done.stdout
    assert "ghs_s3cret" not in done.stdout + done.stderr


def test_nothing_is_written_that_was_not_asked_for(action: Action, github: GitHub) -> None:
    assert on_pull_request(action, github).returncode == 0
    assert (github.comments, github.checks, github.tokens) == ([], [], set())


def test_what_an_agent_wrote_calls_nobody(tmp_path: Path) -> None:
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); import publish; print(publish.quiet(sys.stdin.read()))"
    )
    text = "@octo/team see #12 <!-- faultwire: x --> a@b.example"
    done = subprocess.run(
        [sys.executable, "-c", code, str(ACTION)], input=text, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "@\u2060octo/team see #\u206012 &lt;!-- faultwire: x --> a@\u2060b.example"
    long = subprocess.run(
        [sys.executable, "-c", code, str(ACTION)],
        input="line\n" * 20_000,
        capture_output=True,
        text=True,
        check=True,
    )
    assert len(long.stdout) < 65_535
    assert "the rest is in the job's summary" in long.stdout


def test_profiles_of_the_action_are_asked_instead_of_the_phases(action: Action) -> None:
    done = action.run(profile="stream_chaos, rate_limits")
    assert "rate_limits" in action.summary.read_text(), done.stderr
    names = [path.name for path in (action.folder / action.outputs["folder"]).glob("*.xml")]
    assert names == ["junit.xml"], "one command, one report"


@pytest.mark.parametrize("name", ["profile", "config", "min_score", "version"])
def test_an_input_is_no_code(name: str, action: Action) -> None:
    done = action.run(**{name: '"; touch pwned; $(touch pwned) `touch pwned` #'})
    assert done.returncode == 2, done.stdout + done.stderr
    assert not list(action.folder.parent.rglob("pwned"))


def test_a_wrong_configuration_is_2_and_an_older_run_is_not_taken_for_its_result(action: Action) -> None:
    old = action.folder / ".faultwire" / "runs" / "20200101T000000Z-00000000"
    old.mkdir(parents=True)
    (old / "report.md").write_text("# old")
    assert action.run(config="missing.yaml").returncode == 2
    assert action.outputs == {"exit-code": "2"}
    assert not action.summary.exists()


def test_the_action_installs_a_version_into_an_environment_of_its_own(action: Action) -> None:
    redirect.wheel(action.folder.parent)
    done = shell(
        ["bash", str(ACTION / "run.sh")],
        action.folder,
        INPUT_VERSION=redirect.VERSION,
        RUNNER_TEMP=str(action.folder.parent),
        PIP_NO_INDEX="1",
        PIP_FIND_LINKS=str(action.folder.parent),
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert list(action.folder.parent.glob("faultwire-*/bin/faultwire"))
    assert "exit-code=0" in done.stdout


def test_the_action_s_description_states_what_its_script_reads() -> None:
    told = yaml.safe_load((ACTION / "action.yml").read_text())
    assert list(told["inputs"]) == ["config", "profile", "min-score", "version", "comment", "check", "token"]
    (step,) = told["runs"]["steps"]
    script = (ACTION / "run.sh").read_text()
    assert "${{" not in step["run"], "an input in the text of a command would be code"
    for name in told["inputs"]:
        variable = f"INPUT_{name.upper().replace('-', '_')}"
        assert step["env"][variable] == f"${{{{ inputs.{name} }}}}"
        assert variable in script
        assert f"`{name}`" in DOCS
    for name in told["outputs"]:
        assert re.search(rf"output {name} ", script), name


# ---------------------------------------------------------------- the scripts in the docs


def snippet(language: str, file: str) -> str:
    found = re.findall(rf"```{language}\n(?:#|//) {re.escape(file)}\n(.*?)```", DOCS, re.DOTALL)
    assert len(found) == 1, file
    return found[0]


def gitlab() -> tuple[str, dict[str, str], str]:
    job = yaml.safe_load(snippet("yaml", ".gitlab-ci.yml"))["agent-chaos"]
    return "\n".join(job["script"]), job["variables"], job["artifacts"]["reports"]["junit"]


def jenkins() -> tuple[str, dict[str, str], str]:
    text = snippet("groovy", "Jenkinsfile")
    (script,) = re.findall(r"sh '''\n(.*?)'''", text, re.DOTALL)
    (junit,) = re.findall(r"junit '([^']+)'", text)
    return script, dict(re.findall(r"(\w+) = '([^']+)'", text)), junit


@pytest.mark.parametrize("kit", [gitlab, jenkins], ids=["gitlab", "jenkins"])
@pytest.mark.parametrize(("manners", "code"), [("careful", 0), ("careless", 1)])
def test_the_script_in_the_docs_runs(kit, manners: str, code: int, project: Path) -> None:
    script, variables, junit = kit()
    assert variables == {"FAULTWIRE_PACKAGE": "faultwire==0.1.0"}
    write(project, manners)
    package = str(redirect.wheel(project.parent))
    done = shell(["bash", "-ec", script], project, FAULTWIRE_PACKAGE=package, PIP_NO_INDEX="1")
    assert done.returncode == code, done.stdout + done.stderr
    assert (project / ".faultwire-venv" / "bin" / "faultwire").exists()
    assert list(project.glob(junit)), "the test viewer finds the report"
    assert (cases(project)["failures"] > 0) is (code == 1)


def test_the_workflow_in_the_docs_uses_the_action_as_it_is() -> None:
    steps = yaml.safe_load(snippet("yaml", ".github/workflows/agent.yml"))["jobs"]["chaos"]["steps"]
    (step,) = [s for s in steps if "faultwire" in s.get("uses", "")]
    assert step["uses"].split("@")[0].endswith(str(ACTION.relative_to(ROOT)))
    told = yaml.safe_load((ACTION / "action.yml").read_text())
    assert set(step["with"]) <= set(told["inputs"])
