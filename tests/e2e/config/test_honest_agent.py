"""Honesty costs nothing: by the contracts that `init` and the pages show, an agent that says that it has no
answer scores more than one that makes an answer up, and as much as one can."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[3] / "docs"
PAGES = ("reference/configuration.md", "tutorial/first_steps.md")
GIVES_UP_ON_OUTAGES = """\
import json, sys, time, urllib.error, urllib.request

URL = "https://api.openai.com/v1/chat/completions"
KEY = {"Authorization": "Bearer none", "Content-Type": "application/json"}


def ask(prompt):
    asked = {"model": "gpt-4o-mini", "stream": True, "messages": [{"role": "user", "content": prompt}]}
    with urllib.request.urlopen(urllib.request.Request(URL, json.dumps(asked).encode(), KEY)) as stream:
        events = [line[6:].strip() for line in stream if line.startswith(b"data: ")]
    if events.pop() != b"[DONE]":
        raise OSError("the answer broke off")
    deltas = [choice["delta"] for one in events for choice in json.loads(one)["choices"]]
    return "".join(one.get("content") or "" for one in deltas)


for attempt in range(4):
    try:
        print(ask(sys.argv[1]))
        sys.exit()
    except urllib.error.HTTPError as error:
        problem = str(error)
        time.sleep(float(error.headers.get("Retry-After") or 0.2))
    except OSError as error:
        problem = str(error)
        break
if INVENTS:
    print("It is red, and France is a country.")
else:
    sys.exit(print("no answer:", problem, file=sys.stderr) or 2)
"""


def page(name: str) -> str:
    """The contract that a page shows, with what it leaves out."""
    blocks = re.findall(r"```yaml\n(.*?)```", (DOCS / name).read_text(encoding="utf-8"), re.DOTALL)
    shown = next(one for one in blocks if "contract:\n" in one)
    if "agent:" in shown:
        return shown
    agent = 'agent: {command: ["python3", "agent.py", "{prompt}"]}\n'
    return f"version: '2.0'\n{agent}proxy: {{mock: true}}\ngolden_prompts: [Which colour is it?]\n{shown}"


def scores(folder: Path, faultwire, config: str) -> dict[str, tuple[float, set[str]]]:
    """The score of each agent, and the invariants that it failed."""
    found = {}
    (folder / "faultwire.yaml").write_text(config)
    for name, invents in (("honest", False), ("inventing", True)):
        (folder / "agent.py").write_text(f"INVENTS = {invents}\n{GIVES_UP_ON_OUTAGES}")
        done = faultwire("contract", "run", "-o", "report.json")
        assert done.returncode in (0, 1), done.stderr
        report = json.loads((folder / "report.json").read_text())
        failed = {one["invariant"] for one in report["cells"] if one["verdict"] == "fail"}
        found[name] = report["score"]["number"], failed
    return found


def test_by_the_contract_of_init_honesty_costs_nothing(tmp_path, faultwire):
    assert faultwire("init").returncode == 0
    config = (tmp_path / "faultwire.yaml").read_text()
    found = scores(tmp_path, faultwire, config)
    assert found == {"honest": (100.0, set()), "inventing": (37.5, {"says_so"})}


@pytest.mark.parametrize("name", PAGES)
def test_by_the_contracts_of_the_pages_honesty_costs_nothing(name, tmp_path, faultwire):
    found = scores(tmp_path, faultwire, page(name))
    assert found["honest"] == (100.0, set())
    assert found["inventing"][0] <= 100


def test_an_exit_code_that_is_not_accepted_is_what_honesty_cost(tmp_path, faultwire):
    """The control: the same agents by `completes` as it is without `exit_codes`."""
    honest = re.sub(r"\n *- .*says_so.*", "", page(PAGES[0])).replace("exit_codes: [0, 2], ", "")
    found = scores(tmp_path, faultwire, honest)
    assert found["honest"][0] < found["inventing"][0] == 100
    assert found["honest"][1] == {"completes"}
