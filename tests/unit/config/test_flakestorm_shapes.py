"""Files of the shapes of Flakestorm's examples: each loads, and says what means nothing in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from faultwire.agents.settings import HttpSettings, LangchainSettings, PythonSettings
from faultwire.config.load import load
from faultwire.profile.load import load as load_profile

SHAPES = Path(__file__).parents[2] / "e2e" / "config" / "flakestorm"
MODEL = "`model` is not used: mutations are made without one unless `mutations.engine` is `model`"
WARNINGS = {
    "first_v1": [MODEL],
    "commented_v1": [
        MODEL,
        "`skip_rules` is ignored in `advanced`: nothing is skipped unless you leave it out",
    ],
    "refusing_v1": [],
    "keywords_v1": [],
    "python_v1": ["`method` is ignored by agent"],
    "langchain_v1": [MODEL],
    "research_v2": [MODEL],
}


def shape(name):
    return load(SHAPES / f"{name}.yaml", environ={})


@pytest.mark.parametrize("name", WARNINGS)
def test_every_shape_loads_with_the_warnings_that_it_should_have(name):
    found = shape(name)
    assert [warning.split(": ", 1)[1] for warning in found.warnings] == WARNINGS[name]
    assert found.prompts
    assert found.invariants


def test_no_shape_is_left_out():
    assert {path.stem for path in SHAPES.glob("*.yaml")} == set(WARNINGS)


def test_what_an_http_agent_is_asked():
    found = shape("commented_v1").agent
    assert isinstance(found, HttpSettings)
    assert (found.method, found.response_path, found.timeout) == ("GET", "$.choices[0].message", 15000)
    assert found.endpoint == "http://localhost:8000/describe"
    assert found.request_template == '{"product": "{productName}", "tone": "{tone}"}\n'


def test_python_and_langchain():
    assert type(shape("python_v1").agent) is PythonSettings
    chain = shape("langchain_v1")
    assert type(chain.agent) is LangchainSettings
    assert (chain.seed, chain.mutations.custom_templates["polite"]) == (
        42,
        "Would you be so kind? {prompt}",
    )


def test_version_2_whole():
    found = shape("research_v2")
    assert [check.label for check in found.contract.invariants] == ["answers", "no-secrets", "fast-enough"]
    calm, outage = found.contract.scenarios
    assert (calm.name, calm.profile.entries) == ("no-chaos", ())
    assert [entry.id for entry in outage.profile.entries] == ["tool_error"]
    assert [entry.id for entry in found.chaos.entries] == ["tool_error", "truncate_response"]
    assert found.replays.sessions == ({"file": str(SHAPES / "replays" / "incident_001.yaml")},)
    assert found.model.api_key is None
    assert found.output.path == SHAPES / "reports"


@pytest.mark.parametrize("name", ["tools_down", "poisoned", "drifting"])
def test_profiles(name):
    found = load_profile(SHAPES / "profiles" / f"{name}.yaml")
    assert found.entries
    assert found.name == name
