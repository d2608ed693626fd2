"""A protocol of somebody else's package, installed with pip: one class brings all that faultwire has of one.

Recognition, views, stream, edits, errors, the mock's dialect, hosts, base URL, key and rows of documentation,
each shown through the commands that users have.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

PACK = Path(__file__).parent / "protocol_pack"
AGENT = """
import json, os, sys, urllib.error, urllib.request

root = os.environ.get("PARROT_BASE_URL") or "https://api.parrot.example"
if sys.argv[1:] == ["tool"]:
    used = {"who": "parrot", "words": "", "call": {"id": "c1", "tool": "height", "arguments": {}}}
    more = [used, {"who": "tool", "id": "c1", "tool": "height", "words": "300 m"}]
else:
    more = []
talk = [{"who": "keeper", "words": "Be brief."}, {"who": "user", "words": "Tell me about rivers."}, *more]
body = json.dumps({"model": "grey-1", "stream": True, "talk": talk}).encode()
headers = {"content-type": "application/json", "x-parrot-key": os.environ["PARROT_KEY"]}
request = urllib.request.Request(root + "/v1/talk", body, headers)
try:
    with urllib.request.urlopen(request, timeout=30) as answer:
        said, over = "", None
        for line in answer:
            found = json.loads(line)
            said, over = said + found.get("words", ""), found.get("why")
        print(said.strip(), "|", over)
except urllib.error.HTTPError as error:
    print(error.code, error.headers.get("x-parrot-id", "")[:7], error.read().decode())
"""


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an environment with this faultwire, into which pip installed the package."""
    place = tmp_path_factory.mktemp("venv")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(place)], check=True)
    interpreter = place / "bin" / "python"
    told = "import sysconfig; print(sysconfig.get_path('purelib'))"
    site = subprocess.run(
        [interpreter, "-c", told], capture_output=True, text=True, check=True
    ).stdout.strip()
    ours = [path for path in {*sys.path, sysconfig.get_path("purelib")} if path and Path(path).is_dir()]
    lines = [f"import site; site.addsitedir({path!r})" for path in ours if "site-packages" in path]
    Path(site, "faultwire_here.pth").write_text("\n".join(lines) + "\n")
    copy = shutil.copytree(PACK, tmp_path_factory.mktemp("pack") / "protocol_pack")
    pip = [sys.executable, "-m", "pip", "--python", str(interpreter), "install", "--quiet", "--no-deps"]
    pip += ["--no-index", "--no-build-isolation"]
    done = subprocess.run([*pip, str(copy)], capture_output=True, text=True, check=False, timeout=280)
    assert done.returncode == 0, done.stderr
    return interpreter


@pytest.fixture(autouse=True)
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in list(os.environ):
        if name.lower().endswith("_proxy") or name.startswith(
            ("FAULTWIRE_", "PARROT_", "SSL_CERT", "PYTHON")
        ):
            monkeypatch.delenv(name)
    (tmp_path / "agent.py").write_text(AGENT)


def faultwire(python: Path | str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [str(python), "-m", "faultwire", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)


def run(python: Path, *options: str, agent: tuple[str, ...] = ()) -> str:
    """What the agent printed behind the mock."""
    done = faultwire(python, "exec", "--mock", "-q", *options, "--", sys.executable, "agent.py", *agent)
    assert done.returncode == 0, (done.stdout, done.stderr)
    return done.stdout


def exchange(python: Path) -> dict:
    done = faultwire(python, "tape", "show", "last", "--exchange", "1", "--format", "json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_mock_speaks_it_and_the_tape_shows_the_conversation(python: Path) -> None:
    assert run(python) == "I am a mock model, so I can only repeat this: Tell me about rivers. | said_all\n"
    shown = faultwire(python, "tape", "show", "last", "--exchange", "1").stdout
    for words in ("parrot", "grey-1", "Be brief.", "Tell me about rivers.", "I am a mock model", "said_all"):
        assert words in shown
    listed = faultwire(python, "tape", "show", "last").stdout
    assert "api.parrot.example" in listed


@pytest.mark.nightly
def test_a_fault_of_a_profile_fires_on_its_stream(python: Path, tmp_path: Path) -> None:
    profile = tmp_path / "parrots.yaml"
    profile.write_text("faults: [{cut_stream: {after_events: 2}, on: {provider: parrot, model: grey-*}}]\n")
    done = faultwire(
        python, "exec", "--mock", "--profile", "./parrots.yaml", "--", sys.executable, "agent.py"
    )
    assert done.stdout == "I am | None\n", done.stderr
    assert "cut_stream: stream cut after 2 events" in done.stderr
    shown = faultwire(python, "tape", "show", "last", "--exchange", "1").stdout
    assert "ended early: no closing event" in shown, shown


@pytest.mark.by_day("status")
@pytest.mark.parametrize(
    ("fault", "printed"),
    [
        ("overloaded: {}", '529 squawk_ {"trouble":{"status":529,"words":"all parrots are busy"}}\n'),
        ("status: {code: 503}", '503 squawk_ {"trouble":{"status":503,"words":"service unavailable"}}\n'),
        ("truncate_response: {max_tokens: 3}", "I am a | length\n"),
    ],
)
def test_errors_and_edits_are_its_own(python: Path, fault: str, printed: str) -> None:
    assert run(python, "--fault", fault) == printed


@pytest.mark.nightly
def test_an_error_in_its_stream_is_a_line_of_it(python: Path) -> None:
    assert run(python, "--fault", "stream_error: {after_events: 1}") == "I | None\n"
    shown = faultwire(python, "tape", "show", "last", "--exchange", "1").stdout.partition(
        "the agent received:"
    )[2]
    assert shown.split()[:4] == ["assistant", "I", "error", "overloaded"]


def test_a_tool_s_result_in_its_request_is_replaced(python: Path) -> None:
    said = run(python, "--fault", "{tool_error: {message: timed out}, on: {tool: height}}", agent=("tool",))
    assert "`height`" in said
    assert "timed out" in said
    assert "300 m" not in said
    assert "300 m" in run(python, agent=("tool",))


def test_an_agent_without_a_proxy_is_sent_by_its_base_url(python: Path) -> None:
    printed = run(python, "--capture", "base-url", "--fault", "overloaded: {}")
    assert printed.startswith("529 squawk_ ")


def test_commands_and_documentation_name_it(python: Path) -> None:
    listed = json.loads(faultwire(python, "mock", "--list", "--format", "json").stdout)
    assert {"method": "POST", "path": "…/v1/talk", "speaks": "Parrot"} in listed["endpoints"]
    assert {"api.parrot.example", "*.parrot.example"} <= {*listed["hosts"]}
    told = (
        "from faultwire import wire; from faultwire.wire.documentation import tables\n"
        "print(*tables(wire.protocols().values()).values(), sep='\\n')"
    )
    done = subprocess.run([python, "-c", told], capture_output=True, text=True, check=True)
    assert "| `parrot` | `POST …/v1/talk` | `parrot` |\n" in done.stdout
    assert "| `parrot` | conversation, calls, results, answer, usage; lines of JSON | texts" in done.stdout


def test_without_the_package_nobody_answers_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PARROT_KEY", "none")
    done = faultwire(
        sys.executable, "exec", "--mock", "--fault", "overloaded: {}", "--", sys.executable, "agent.py"
    )
    assert "trouble" not in done.stdout
    shown = faultwire(sys.executable, "tape", "show", "last", "--format", "json").stdout
    assert "parrot.example" in shown
    assert '"protocol": "parrot"' not in shown
