"""`faultwire.config.scenarios`: the columns of a contract, and the global chaos."""

from __future__ import annotations

import pytest

from faultwire.config import scenarios as reader
from faultwire.config.reading import Reading
from faultwire.contract.cells import Invocation, Prompt
from faultwire.mitm.settings import SessionSettings
from faultwire.profile.find import builtin
from faultwire.profile.load import load
from faultwire.profile.model import ToolSite


@pytest.fixture
def scenarios(config):
    def made(text, more=""):
        contract = f"contract: {{invariants: [completes], chaos_matrix: {text}}}\n{more}"
        return config(contract).contract.scenarios

    return made


@pytest.fixture
def wrong(refused):
    return lambda text: refused(f"contract: {{invariants: [completes], chaos_matrix: {text}}}")


def test_a_scenario_without_faults_has_no_entries(scenarios):
    (calm,) = scenarios("[{name: calm, description: as it is}]")
    assert (calm.name, calm.profile.name, calm.profile.entries) == ("calm", "calm", ())


def test_a_profile_by_name_is_the_file_itself(scenarios):
    (found,) = scenarios("[{name: outage, profile: api_outage}]")
    assert found.profile == load(builtin() / "api_outage.yaml")


def test_a_profile_by_path_starts_from_the_files_folder(scenarios, tmp_path):
    (tmp_path / "own.yaml").write_text("faults: [{latency: {ms: 1}}]")
    (tmp_path / "profiles").mkdir()
    (tmp_path / "profiles" / "mine.yaml").write_text("faults: [{latency: {ms: 2}}]")
    one, two = scenarios("[{name: a, profile: own.yaml}, {name: b, profile: mine}]")
    assert [s.profile.entries[0].fault.ms for s in (one, two)] == [1, 2]


def test_profiles_and_faults_of_both_shapes_add_up(scenarios):
    (found,) = scenarios(
        "[{name: all, profile: [rate_limits, slow_streams], faults: [{latency: {ms: 1}}, rate_limit], "
        "tool_faults: [{tool: search, mode: error}], llm_faults: [{mode: empty}], "
        "context_attacks: {memory_poisoning: {payload: x}}}]"
    )
    ids = [entry.id for entry in found.profile.entries]
    assert ids[:2] == ["limited_once", "limited_again"]
    assert {"tool_error", "empty_response", "memory_poisoning", "latency"} <= set(ids)
    assert len(ids) == len(set(ids))
    assert found.profile.digest


def test_the_same_faults_have_the_same_digest_whatever_they_are_called(scenarios):
    fault = "faults: [{latency: {ms: %d}}]"
    one, two, three = scenarios(
        f"[{{name: a, {fault % 1}}}, {{name: b, {fault % 1}}}, {{name: c, {fault % 2}}}]"
    )
    assert one.profile.digest.strip("0")
    assert one.profile.digest != three.profile.digest
    assert two.profile.name == "b"


def test_tool_sites_reach_every_scenario(scenarios):
    more = "tools: {search: {url: 'http://localhost:5001/*'}, refund: {}, other: }"
    calm, outage, named = scenarios(
        "[{name: calm}, {name: x, faults: [{status: {code: 503}, on: {tool: search}}]}, "
        "{name: y, profile: api_outage}]",
        more,
    )
    for scenario in (calm, outage, named):
        assert scenario.profile.tools == {"search": ToolSite(url="http://localhost:5001/*")}
    assert named.profile.name == "api_outage"
    assert len(named.profile.entries) == 3


def test_the_global_chaos_never_leaks(config):
    text = (
        "chaos: {tool_faults: [{tool: '*', mode: error}], llm_faults: [{mode: rate_limit, after_calls: 2}]}\n"
        "contract: {invariants: [completes], chaos_matrix: [{name: calm}]}"
    )
    found = config(text)
    assert [entry.id for entry in found.chaos.entries] == ["tool_error", "rate_limit"]
    assert found.contract.scenarios[0].profile.entries == ()


def test_chaos_without_faults_is_reported(config, warned):
    for text in ("chaos: {}", "chaos: {tool_faults: []}", "chaos: {faults: []}"):
        assert config(text).chaos is None
        assert warned(text) == ["faultwire.yaml:3:1: `chaos` has no faults"]
    assert config("chaos:").chaos is None


def test_chaos_in_our_shape_and_by_name(config):
    assert config("chaos: {faults: [{latency: {ms: 5}}]}").chaos.entries[0].fault.ms == 5
    assert config("chaos: {profile: api_outage}").chaos.name == "api_outage"


def test_flakestorms_unknown_keys_are_warnings_ours_are_errors(warned, refused):
    text = "chaos: {llm_faults: [{mode: empty, delya_ms: 3}], whatever: 1}"
    assert warned(text) == [
        "faultwire.yaml:3:36: `delya_ms` is not a key of a model fault and is ignored; "
        "did you mean `delay_ms`?",
        "faultwire.yaml:3:51: `whatever` is not a key of `chaos` and is ignored; known: context_attacks, "
        "faults, llm_faults, profile, tool_faults",
    ]
    (said,) = refused("chaos: {faults: [{latency: {ms: 1, jiter_ms: 1}}]}")
    assert "unknown_key: found key `jiter_ms`, expected a key of `latency`" in said


def test_names_may_be_anything_that_can_be_printed(scenarios):
    (found,) = scenarios("[{name: 'search is down & slow – really'}]")
    assert found.name == "search is down & slow – really"
    name = Invocation(found, Prompt("p1", "hi"), 2, "contract").id
    assert name == "contract/search-is-down---slow---really/p1/r2"
    assert SessionSettings(name=name, profile={}, seed=1)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[]", "found no scenario in the contract, expected at least one"),
        ("x", "found `x` for `chaos_matrix`, expected a list"),
        ("[x]", "found `x` for a scenario, expected a mapping"),
        ("[{profile: api_outage}]", "found a scenario without a `name`, expected one"),
        ("[{name: 3}]", "found `3` for `name`, expected text"),
        ("[{name: a}, {name: a}]", "found the scenario `a` again, expected it once (first on line 3)"),
        ("[{name: a b}, {name: a&b}]", "found the scenario `a b`, which is as good as `a&b` again"),
        (f"[{{name: {'x' * 65}}}]", "for `name`, expected at most 64 characters"),
        ('[{name: "a\\e[31m"}]', "found `a\\x1b[31m` for `name`"),
        ("[{name: a, profile: api_outag}]", "found no profile `api_outag`, expected a name or a path"),
        ("[{name: a, profile: no.yaml}]", "in the profile `no.yaml`:"),
        ('[{name: a, profile: "a/\\0"}]', "for `profile`, expected a name or a path"),
        ("[{name: a, profile: 3}]", "found `3` for `profile`, expected text"),
        ("[{name: a, faults: x}]", "found `x` for `faults`, expected a list"),
        ("[{name: a, faults: [latenc]}]", "found fault `latenc`, expected a known one"),
        (
            "[{name: a, faults: [{rate_limit: {}, trigger: {probability: 0}}]}]",
            "never_fires: found no chance above 0",
        ),
        ("[{name: a, tool_faults: [{tool: x, mode: eror}]}]", "found `eror` for `mode`, expected one of"),
        ("[{name: a, tool_faults: [{mode: error}]}]", "found no `tool`, expected a tool's name or `*`"),
        ("[{name: a, llm_faults: [{mode: empty, probability: 2}]}]", "found `2` for `trigger.probability`"),
        (
            "[{name: a, faults: [{latency: {ms: 1}, id: x}, {latency: {ms: 2}, id: x}]}]",
            "found id `x` again, expected it once",
        ),
    ],
)
def test_what_is_refused(wrong, text, said):
    (found,) = wrong(text)
    assert said in found


def test_a_bad_profile_is_reported_with_its_own_place(wrong, tmp_path):
    (tmp_path / "own.yaml").write_text("faults:\n  - latency: {ms: 1, sm: 1}\n  - latenc\n")
    said = wrong("[{name: a, profile: own.yaml}]")
    assert len(said) == 2
    assert "unknown_key: in the profile `own.yaml`: own.yaml:2:22: found key `sm`" in said[0]
    assert "unknown_fault: in the profile `own.yaml`: own.yaml:3:5: found fault `latenc`" in said[1]


def test_warnings_of_a_profile_are_passed_on(warned, tmp_path):
    (tmp_path / "own.yaml").write_text(
        "chaos: {tool_faults: [{tool: x, mode: error, match_url: 'http://h/*'}]}"
    )
    (said,) = warned("contract: {invariants: [completes], chaos_matrix: [{name: a, profile: own.yaml}]}")
    assert "in the profile `own.yaml`: own.yaml:1:" in said
    assert "`match_url` matches the tool's own address" in said


def test_no_node_is_no_scenario_and_no_chaos(tmp_path):
    reading = Reading(tmp_path / "faultwire.yaml")
    assert reader.chaos(None, {}, reading) is None
    assert len(reading) == 0
