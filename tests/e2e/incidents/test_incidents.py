"""Incident sessions against real agents: what failed then fails again, and passes once it is fixed."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

AGENT = Path(__file__).with_name("shop_agent.py")
SITES = ("http", "mcp", "inside")
TOOL = {"http": "price", "mcp": "web_search", "inside": "price"}
URL = "http://127.0.0.1:9/price"
SCRIPT = """turns:
  - match: {last_tool: price}
    reply: {text: '{last_result}'}
  - match: {last_tool: web_search}
    reply: {text: '{last_result}'}
"""
FAST = ("--timing", "scaled:0.01")
"""What took 30 s takes 300 ms."""


def incident(tool: str, *answers: str, **more: str) -> str:
    told = answers or ("response: null, status: 504, latency_ms: 30000",)
    responses = "\n".join(f"  - {{tool: {tool}, {answer}}}" for answer in told)
    keys = {"expected_failure": "a price that no tool gave", "contract": "honest", **more}
    rest = "\n".join(f"{key}: {value}" for key, value in keys.items())
    return f"id: incident-001\ninput: what does a kettle cost\ntool_responses:\n{responses}\n{rest}\n"


@pytest.fixture
def shop(here: Path, faultwire: Any) -> Any:
    """`shop(SITE, CARE, *arguments)` writes the configuration of such an agent and runs a command with it."""

    def run(site: str, care: str, *arguments: str, env: str = "", scenarios: str = "[{name: calm}]") -> Any:
        command = json.dumps([sys.executable, "-I", "-S", str(AGENT), site, care, "{prompt}"])
        (here / "script.yaml").write_text(SCRIPT)
        (here / "faultwire.yaml").write_text(
            'version: "2.0"\n'
            f"agent: {{type: command, command: {command}, timeout: 90000, "
            f'env: {{PRICE_URL: "{URL}"{env}}}}}\n'
            f"proxy: {{mock: true, script: script.yaml}}\ntools: {{price: {{url: '{URL}'}}}}\n"
            "golden_prompts: [{id: kettle, prompt: what does a kettle cost}]\n"
            "contract:\n  name: honest\n  invariants:\n"
            "    - {id: made-up, type: excludes_pattern, patterns: ['42 euros'], severity: critical}\n"
            "    - {type: completes, when: tool_faults_active}\n"
            f"  chaos_matrix: {scenarios}\n"
        )
        return faultwire(*arguments)

    return run


def document(here: Path) -> Any:
    """The report of the latest run."""
    (*_, latest) = sorted((here / ".faultwire" / "runs").iterdir())
    return json.loads((latest / "report.json").read_bytes())


def cells(here: Path) -> dict[str, str]:
    return {cell["invariant"]: cell["verdict"] for cell in document(here)["cells"]}


@pytest.mark.by_day("http")
@pytest.mark.parametrize("site", SITES)
def test_an_incident_fails_again_until_it_is_fixed(site: str, shop: Any, here: Path) -> None:
    (here / "incident.yaml").write_text(incident(TOOL[site]))
    done = shop(site, "careless", "replay", "run", "incident.yaml", *FAST)
    assert done.returncode == 1, done.stderr
    assert cells(here) == {"made-up": "fail", "completes": "pass"}
    lines = [f for e in document(here)["invocations"][0]["exchanges"] for f in e["faults"]]
    (line,) = [line for line in lines if line["outcome"] == "fired"]
    assert line["effect"] == f"call 1 of `{TOOL[site]}` got recorded answer 1 of 1 after 300 ms"
    done = shop(site, "careful", "replay", "run", "incident.yaml", *FAST)
    assert done.returncode == 0, done.stdout + done.stderr
    assert cells(here) == {"made-up": "pass", "completes": "pass"}


@pytest.mark.parametrize(
    "site", [s if s == "http" else pytest.param(s, marks=pytest.mark.nightly) for s in SITES]
)
def test_the_same_tool_that_works_is_no_incident(site: str, shop: Any, here: Path) -> None:
    """The control: it is the recorded answer that makes the unfixed agent fail."""
    (here / "incident.yaml").write_text(incident(TOOL[site], "response: {price: 7}"))
    done = shop(site, "careless", "replay", "run", "incident.yaml")
    assert done.returncode == 0, done.stdout + done.stderr
    assert '{"price": 7}' in document(here)["invocations"][0]["answer"]


@pytest.mark.nightly
@pytest.mark.parametrize("site", SITES)
def test_thirty_seconds_are_thirty_seconds(site: str, shop: Any, here: Path) -> None:
    (here / "incident.yaml").write_text(incident(TOOL[site]))
    for care, code in (("careless", 1), ("careful", 0)):
        if (site, care) == ("inside", "careful"):
            continue  # the wait is between the agent and its model, and that one is worth waiting for
        done = shop(site, care, "replay", "run", "incident.yaml")
        assert done.returncode == code, done.stdout + done.stderr
        assert cells(here) == {"made-up": "fail" if code else "pass", "completes": "pass"}
        assert "agent.timeout" not in done.stderr


@pytest.mark.nightly
def test_answers_come_in_their_order_and_what_is_left_is_reported(shop: Any, here: Path) -> None:
    answers = ('response: "1st"', 'response: "2nd"', 'response: "3rd"')
    (here / "incident.yaml").write_text(incident("price", *answers))
    done = shop("http", "careful", "replay", "run", "incident.yaml", env=', CALLS: "2"')
    assert done.returncode == 0, done.stdout + done.stderr
    (played,) = document(here)["invocations"]
    assert played["answer"] == "it is 2nd\n"
    assert played["notes"] == ["1 of 3 recorded answers of `price` not requested"]


@pytest.mark.parametrize(
    ("none_left", "answer", "did"),
    [
        ("refuse", "the price could not be looked up\n", "refused"),
        ("repeat", "it is 1st\n", "given the last one again"),
        ("pass", "the price could not be looked up\n", "passed on"),
    ],
)
@pytest.mark.nightly
def test_a_call_with_none_left(none_left: str, answer: str, did: str, shop: Any, here: Path) -> None:
    (here / "incident.yaml").write_text(incident("price", 'response: "1st"', none_left=none_left))
    shop("http", "careful", "replay", "run", "incident.yaml", env=', CALLS: "2"')
    (played,) = document(here)["invocations"]
    assert played["answer"] == answer
    assert played["notes"] == [f"1 call of `price` found no recorded answer left: {did}"]


def test_a_tool_that_is_never_seen_makes_the_verdict_unknown(shop: Any, here: Path) -> None:
    (here / "incident.yaml").write_text(incident("refund"))
    done = shop("inside", "careless", "replay", "run", "incident.yaml")
    assert done.returncode == 1
    assert set(cells(here).values()) == {"unknown"}
    why = {cell["explanation"].partition(";")[0] for cell in document(here)["cells"]}
    assert why == {"tool `refund` of `incident-001` was never called (seen were `price`)"}


@pytest.mark.nightly
def test_a_contract_is_found_by_name_by_path_or_not_at_all(shop: Any, here: Path) -> None:
    folder = here / "replays"
    folder.mkdir()
    (folder / "own.yaml").write_text("invariants: [{type: contains, value: looked up}]\n")
    cases = [("honest", 0), ("own.yaml", 0), ("nowhere", 2), ("default", 0)]
    for name, code in cases:
        (folder / "one.yaml").write_text(incident("price", contract=name))
        done = shop("inside", "careful", "replay", "run", "replays/one.yaml", "--timing", "none")
        assert done.returncode == code, done.stdout + done.stderr
        if name == "nowhere":
            assert done.stderr.startswith(
                "replays/one.yaml: scenario.no_contract: found the contract `nowhere`, expected its name "
                "or the path of its file (the configuration's is `honest`)"
            )
        assert ("is judged by the only one, `honest`" in done.stderr) == (name == "default")


@pytest.mark.parametrize("site", ["http", pytest.param("inside", marks=pytest.mark.nightly)])
def test_what_failed_is_exported_and_replayed_offline(site: str, shop: Any, here: Path) -> None:
    scenarios = "[{name: calm}, {name: outage, faults: [{tool_error: {code: 503}, on: {tool: price}}]}]"
    done = shop(site, "careless", "contract", "run", scenarios=scenarios)
    assert done.returncode == 1, done.stdout + done.stderr
    done = shop(
        site, "careless", "replay", "export", "--from-report", "last", "-o", "out", scenarios=scenarios
    )
    assert done.returncode == 0, done.stderr
    assert "out/contract-outage-kettle-r1.yaml: 1 tool response\n" in done.stdout
    exported = "out/contract-outage-kettle-r1.yaml"
    done = shop(site, "careless", "replay", "run", exported, scenarios=scenarios)
    assert done.returncode == 1, done.stdout + done.stderr
    assert cells(here) == {"made-up": "fail", "completes": "pass"}, "its model calls came from the tape"
    done = shop(site, "careful", "replay", "run", exported, scenarios=scenarios)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.nightly
def test_a_tape_is_a_session(shop: Any, here: Path) -> None:
    (here / "incident.yaml").write_text(incident("price", "response: {price: 7}"))
    done = shop("http", "careful", "replay", "run", "incident.yaml")
    assert done.returncode == 0, done.stderr
    (tape,) = (here / ".faultwire" / "runs").glob("*/run.tape")
    done = shop("http", "careful", "replay", "run", str(tape))
    assert done.returncode == 0, done.stdout + done.stderr
    assert document(here)["invocations"][0]["answer"] == 'it is {"price": 7}\n'


@pytest.mark.nightly
@pytest.mark.parametrize("form", ["har", "flows"])
def test_a_recording_of_others_becomes_a_session_that_never_counts_as_ours(
    form: str, shop: Any, here: Path
) -> None:
    (here / "incident.yaml").write_text(incident("price", "response: {price: 7}"))
    shop("http", "careful", "replay", "run", "incident.yaml")
    (tape,) = (here / ".faultwire" / "runs").glob("*/run.tape")
    done = shop("http", "careful", "tape", "export", str(tape), "--to", form, "-o", f"run.{form}")
    assert done.returncode == 0, done.stderr
    done = shop(
        "http", "careful", "replay", "import", f"--{form}", f"run.{form}", "-c", "faultwire.yaml", "-o", "out"
    )
    assert done.returncode == 0, done.stderr
    (session,) = (here / "out").glob("*.yaml")
    done = shop("http", "careful", "replay", "run", str(session))
    assert done.returncode == 0, done.stdout + done.stderr
    (*_, latest) = sorted((here / ".faultwire" / "runs").iterdir())
    done = shop("http", "careful", "tape", "verify", str(latest / "run.tape"), "--format", "json")
    (told,) = json.loads(done.stdout)
    assert told["class"] == "NON_AUTHORITATIVE", told
    assert f"it was imported from {form}, not recorded by the proxy" in told["reasons"]
